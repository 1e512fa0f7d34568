"""How much each may have: an equal part at least, and what others leave of theirs."""

import pytest

from proxy.shell.stores.shares import fair_level

LEVELS = {
    "one": ([10], 6, 6),
    "two who have the same": ([10, 10], 16, 8),
    "one who has less than its part": ([2, 10], 8, 6),
    "a thousand who have nearly nothing": ([1] * 1000 + [500, 9000], 2000, 500),
    "room for all": ([1, 2], 8, 8),
    "room for nothing": ([1, 2], 0, 0),
    "less than nothing": ([1, 2], -5, -3),
    "nobody": ([], 8, 8),
}


@pytest.mark.parametrize(("weights", "most", "level"), LEVELS.values(), ids=LEVELS)
def test_who_has_more_than_the_level_has_it_at_the_cost_of_others(
    weights: list[int], most: int, level: int
) -> None:
    assert fair_level(weights, most) == level
    if 0 <= most < sum(weights):
        assert most - len(weights) < sum(min(weight, level) for weight in weights) <= most
