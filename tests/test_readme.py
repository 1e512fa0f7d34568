"""The README is documentation of the code, so the code checks it."""

import importlib.machinery
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from proxy.config import BINDINGS

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def generator() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("readme_script", str(ROOT / "scripts" / "readme"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("readme_script", loader))
    loader.exec_module(module)
    return module


def test_the_parts_made_from_the_code_are_current(readme: str) -> None:
    """Settings, the machine's diagram and Codex's lines come from the code: run scripts/readme after changing one."""
    assert generator().render(readme) == readme


def test_no_row_of_a_table_goes_over_its_line() -> None:
    """Descriptions of two lines would end it there."""
    rows = generator().settings().splitlines()
    assert [row for row in rows if not (row.startswith("|") and row.endswith("|"))] == []


def test_every_option_and_variable_is_told(readme: str) -> None:
    names = [name for binding in BINDINGS for name in (binding.option, binding.variable) if name]
    assert [name for name in [*names, "PROXY_CONFIG"] if f"`{name}" not in readme] == []


def test_every_place_in_the_tree_that_is_named_exists(readme: str) -> None:
    named = re.findall(r"`((?:core|shell|proxy|scripts)/[\w/.]+)`", readme)
    roots = (ROOT, ROOT / "proxy")
    assert named
    assert [
        name
        for name in named
        if not any((root / name).exists() or (root / f"{name}.py").exists() for root in roots)
    ] == []
