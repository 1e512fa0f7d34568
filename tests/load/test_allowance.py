"""The judge of limits, before it judges anybody."""

import pytest

from tests.load.allowance import Minute, deepest, minutes


def evenly(count: int, seconds: float, began: float = 0.0) -> list[tuple[float, int]]:
    return [(began + number * seconds / count, 1) for number in range(count)]


def test_a_bucket_that_is_emptied_and_then_used_as_it_fills_is_as_deep_as_the_limit() -> None:
    assert 59.0 <= deepest([(0.0, 60), *evenly(600, 600.0, began=1.0)], 60) <= 61.0


def test_who_waits_may_have_it_all_at_once_again() -> None:
    assert deepest([(0.0, 60), (60.0, 60)], 60) == pytest.approx(60)
    assert deepest([], 60) == 0


@pytest.mark.parametrize("second", [30.0, 59.0])
def test_too_much_is_seen_wherever_the_minute_begins(second: float) -> None:
    """Each minute by the clock has 60 or fewer; one that begins between two has more."""
    assert deepest([(59.0 - second / 2, 60), (59.0 + second / 2, 60)], 60) == pytest.approx(120 - second)


def test_one_in_a_hundred_too_many_adds_up() -> None:
    assert deepest([(0.0, 600), *evenly(6060, 600.0)], 600) == pytest.approx(660, abs=2)


def test_only_whole_minutes_are_counted() -> None:
    arrivals = [(99.0, 1), (100.0, 2), (159.9, 3), (160.0, 4), (230.0, 5)]
    assert minutes(arrivals, 100.0, 230.0) == [Minute(100.0, 5), Minute(160.0, 4)]
