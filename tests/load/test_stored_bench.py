"""The benchmark of what is kept: that it runs, is answered well, and tells a ratio and a time for each row."""

import re

import pytest

from tests.load.bench import Figures
from tests.load.stored_bench import PLACES, Engine, Reading, Row, measured


@pytest.mark.parametrize(
    ("engine", "last"), [("sqlite", "a turn behind 20 others"), ("postgresql", "what is left of a limit")]
)
def test_a_round_ends_in_a_table(engine: str, last: str) -> None:
    told: list[str] = []
    lines = measured(Engine(engine, {"short": 1.25}, turns=20), 1, told.append).splitlines()
    assert re.fullmatch(r" *short request.*  \d\.\d{3} +1\.25 +0", lines[1])
    assert sum("resumed behind" in line for line in lines) == len(PLACES)
    assert any("a turn behind 20 others" in line for line in lines)
    assert last in lines[-1]
    assert told[-1] == ""


def test_rounds_are_compared_side_by_side() -> None:
    """One that was disturbed does not spoil the ratio."""
    row = Row("any", 1.25, Figures(cpu=[1.0, 9.0, 1.0]), Figures(cpu=[1.2, 10.8, 5.0]))
    assert row.ratio == pytest.approx(1.2)
    assert "1.200" in row.line()
    assert "5.0 ms, at best 1.0" in Reading("any", 20.0, [1.0, 5.0, 9.0], [1.0]).line()
