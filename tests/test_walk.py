"""`scripts/walk` traces a request through a running proxy, so what it tells cannot be out of date."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 60
STEP = re.compile(r"^\d+\. \*\*(.+?)\*\*(?: \(.+? modules\))?(?:: (.*))?\.$", re.MULTILINE)


@pytest.fixture(scope="module")
def walk() -> str:
    script = [sys.executable, str(ROOT / "scripts" / "walk")]
    return subprocess.run(script, capture_output=True, text=True, check=True, timeout=SECONDS).stdout


def steps(walk: str) -> dict[str, list[str]]:
    """The modules that each step enters first; of the steady one all."""
    unwrapped = re.sub(r"\n +", " ", walk)
    return {step: re.findall(r"`([\w/]+)`", modules) for step, modules in STEP.findall(unwrapped)}


def test_every_step_is_there_in_its_order(walk: str) -> None:
    """A step begins where a function is called: one that was renamed would be missing."""
    source = (ROOT / "scripts" / "walk").read_text(encoding="utf-8")
    arriving, marks, pieces = 1, 6, 9
    assert len(steps(walk)) == arriving + marks + pieces
    positions = [source.index(f'"{step}"') for step in steps(walk)]
    assert positions[1:7] == sorted(positions[1:7])


def test_every_module_on_the_way_exists(walk: str) -> None:
    passed = [module for modules in steps(walk).values() for module in modules]
    assert [module for module in passed if not (ROOT / "proxy" / f"{module}.py").is_file()] == []
    assert {"shell/engine", "core/stream/assembler", "core/sse"} <= set(passed)


def test_the_way_in_the_architecture_is_the_one_that_is_taken(walk: str) -> None:
    """Where it is not: `.venv/bin/python scripts/walk --write`."""
    text = (ROOT / "proxy" / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- walk -->\n(.*?)<!-- /walk -->", text, re.DOTALL)
    assert found
    told, taken = steps(found[1]), steps(walk)
    assert list(told) == list(taken)
    assert {step: set(modules) for step, modules in told.items()} == {
        step: set(modules) for step, modules in taken.items()
    }
