"""Every finding of the attacks, and everything that real clients and servers tripped over, is named by a test."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import numbered

TESTS = Path(__file__).parents[1]
DEFINED = list(numbered.rows(Path(__file__).with_name("README.md")))
ATTACKS = [row for row in DEFINED if row.startswith("attack")]
ROWS = [row.lower() for row in DEFINED if row.startswith("V")]
ID = re.compile(r"attack[-_]\d\d(?!\d)|(?<![a-z0-9])v\d\d(?!\d)")


def cited() -> Iterator[str]:
    for module in TESTS.rglob("test_*.*"):
        if module.suffix in (".py", ".mjs") and module.name != Path(__file__).name:
            yield from ID.findall(module.read_text(encoding="utf-8").lower())


@pytest.mark.parametrize("ids", [ATTACKS, ROWS], ids=["attacks", "rows"])
def test_every_row_is_cited(ids: list[str]) -> None:
    assert sorted({*ids} - {found.replace("_", "-") for found in cited()}) == []


def test_the_tables_have_every_row() -> None:
    clients, servers, words = range(1, 11), range(20, 37), range(40, 48)
    assert [f"attack-{number:02}" for number in range(1, 31)] == ATTACKS
    assert [f"v{number:02}" for number in (*clients, *servers, *words)] == ROWS
