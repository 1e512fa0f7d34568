"""Whether a limit was held, by what came through: nothing here knows how the proxy counts.

A limit of N a minute is a bucket of N that fills evenly. So in any time at all, however it is cut, no more may come
through than N and what flows in meanwhile. The highest excess over what flowed in is that bucket's deepest level: one
number, which covers every minute that could be looked at.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MINUTE = 60.0
Arrival = tuple[float, int]
"""When, in seconds, and how many units."""


def levels(arrivals: Iterable[Arrival], limit: int) -> Iterator[tuple[float, float]]:
    """When, and how much was taken then beyond what had flowed in: what is missing in the bucket."""
    level, last = 0.0, 0.0
    for at, units in arrivals:
        level = max(0.0, level - (at - last) * limit / MINUTE) + units
        last = at
        yield at, level


def deepest(arrivals: Iterable[Arrival], limit: int) -> float:
    return max((level for _, level in levels(arrivals, limit)), default=0.0)


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
