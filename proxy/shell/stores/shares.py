"""Decides who loses something when all together keep too much: whoever has most, so that nobody who has less loses
any."""

from collections.abc import Iterable


def fair_level(weights: Iterable[int], most: int) -> int:
    """How much each may have, so that together they have `most`: whoever has less leaves the rest to the others. It is
    never less than an equal part."""
    left, ordered = most, sorted(weights)
    for place, weight in enumerate(ordered):
        level = left // (len(ordered) - place)
        if weight > level:
            return level
        left -= weight
    return most
