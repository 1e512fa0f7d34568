"""Ids and dates once more: those that an exchange was given, in their order, and then others that are easily known."""

from collections.abc import Iterator, Sequence
from itertools import count

DATE = 1_700_000_000.0
"""When nothing else is known."""


class Supply:
    def __init__(self, digits: Sequence[str], dates: Sequence[float]) -> None:
        self._digits = iter(digits)
        self._dates = iter(dates)
        self._more: Iterator[int] = count(1)
        self._last = DATE

    def digits(self, size: int) -> str:
        """Returns random bytes in hexadecimal digits: first those that were recorded, then others."""
        drawn = next(self._digits, None)
        return f"{next(self._more):0{2 * size}x}" if drawn is None else drawn[: 2 * size]

    def date(self) -> float:
        """After the last of them, time stands still."""
        self._last = next(self._dates, self._last)
        return self._last
