"""What follows from a list that requests share is found once; from any other list, each time."""

from itertools import count

from proxy.core.caches.consequences import Shared, found_of


def test_what_follows_from_shared_values_is_found_once_for_each_question() -> None:
    values, number = Shared(["a"]), count()
    assert [found_of(values, what, lambda: next(number)) for what in ("x", "y", "x")] == [0, 1, 0]


def test_what_follows_from_other_values_is_found_each_time() -> None:
    number = count()
    assert [found_of(["a"], "x", lambda: next(number)) for _ in range(2)] == [0, 1]


def test_shared_values_are_those_of_any_list() -> None:
    assert Shared("ab") == ["a", "b"]
