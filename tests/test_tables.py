"""Tables of cases: all rows are run, all that fail are told by name, and each can be run alone."""

from collections.abc import Callable

import pytest

from tests.support.tables import EACH_ROW, table


def evens(seen: list[int]) -> Callable[..., None]:
    @table("number", [0, 1, 2, 3], ids=["zero", "one", "two", "three"])
    def is_even(number: int) -> None:
        seen.append(number)
        assert number % 2 == 0

    return is_even


def test_all_rows_run_and_those_that_fail_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EACH_ROW, raising=False)
    seen: list[int] = []
    with pytest.raises(ExceptionGroup, match="2 of 4 rows") as caught:
        evens(seen)()
    assert seen == [0, 1, 2, 3]
    assert [failure.__notes__ for failure in caught.value.exceptions] == [["row: one"], ["row: three"]]


def test_each_row_can_be_a_test_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EACH_ROW, "1")
    (mark,) = evens([]).pytestmark  # type: ignore[attr-defined]
    names, rows = mark.args
    assert (mark.name, names) == ("parametrize", ["number"])
    assert [(row.id, row.values) for row in rows] == [
        ("zero", (0,)),
        ("one", (1,)),
        ("two", (2,)),
        ("three", (3,)),
    ]
