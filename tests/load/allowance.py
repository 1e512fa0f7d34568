"""Whether a limit was held, by what came through: nothing here knows how the proxy counts.

A limit of N a minute is a bucket of N that fills evenly. So in any time at all, however it is cut, no more may come
through than N and what flows in meanwhile. The highest excess over what flowed in is that bucket's deepest level: one
number, which covers every minute that could be looked at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MINUTE = 60.0
Arrival = tuple[float, int]
"""When, in seconds, and how many units."""


def deepest(arrivals: Iterable[Arrival], limit: int) -> tuple[float, float]:
    """The most that was ever taken beyond what had flowed in, and when that was."""
    level, last, worst, when = 0.0, 0.0, 0.0, 0.0
    for at, units in arrivals:
        level = max(0.0, level - (at - last) * limit / MINUTE) + units
        last = at
        if level > worst:
            worst, when = level, at
    return worst, when


@dataclass(frozen=True)
class Minute:
    began: float
    units: int


def minutes(arrivals: Sequence[Arrival], began: float, ended: float, length: float = MINUTE) -> list[Minute]:
    """All whole ones."""
    whole = int((ended - began) // length)
    counts = [0] * whole
    for at, units in arrivals:
        if 0 <= (number := int((at - began) // length)) < whole:
            counts[number] += units
    return [Minute(began + number * length, count) for number, count in enumerate(counts)]
