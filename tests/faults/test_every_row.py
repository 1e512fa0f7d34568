"""Every fault and every threat is named by a test that meets it over real sockets."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import numbered

TESTS = Path(__file__).parents[1]
OVER_SOCKETS = ("faults/test_*.py", "shell/test_*.py", "clients/test_*.py", "codex/test_*.py")
ROWS = list(numbered.rows(Path(__file__).with_name("README.md")))
FAULTS = [row for row in ROWS if row.startswith("F")]
THREATS = [row for row in ROWS if row.startswith("S")]
ID = re.compile(r"(?<![A-Za-z0-9])([FSfs][0-9]{2})(?![0-9])")


def cited() -> Iterator[str]:
    for pattern in OVER_SOCKETS:
        for module in TESTS.glob(pattern):
            if module.name != Path(__file__).name:
                yield from (found.upper() for found in ID.findall(module.read_text(encoding="utf-8")))


@pytest.mark.parametrize("ids", [FAULTS, THREATS], ids=["faults", "threats"])
def test_every_row_is_cited(ids: list[str]) -> None:
    assert sorted({*ids} - {*cited()}) == []


def test_the_table_has_every_row() -> None:
    assert [f"F{number:02}" for number in range(1, 82)] == FAULTS
    assert sorted(THREATS) == [f"S{number:02}" for number in range(1, 37)]
