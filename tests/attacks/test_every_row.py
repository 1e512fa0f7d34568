"""Every finding of the attacks, and everything that real clients and servers tripped over, is named by a test."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ATTACKS = [f"attack-{number:02}" for number in range(1, 31)]
CLIENTS, SERVERS, WORDS = range(1, 11), range(20, 37), range(40, 48)
ROWS = [f"v{number:02}" for number in (*CLIENTS, *SERVERS, *WORDS)]
ID = re.compile(r"attack[-_]\d\d(?!\d)|(?<![a-z0-9])v\d\d(?!\d)")


def cited() -> Iterator[str]:
    for module in TESTS.rglob("test_*.*"):
        if module.suffix in (".py", ".mjs") and module.name != Path(__file__).name:
            yield from ID.findall(module.read_text(encoding="utf-8").lower())


@pytest.mark.parametrize("ids", [ATTACKS, ROWS], ids=["attacks", "rows"])
def test_every_row_is_cited(ids: list[str]) -> None:
    assert sorted({*ids} - {found.replace("_", "-") for found in cited()}) == []
