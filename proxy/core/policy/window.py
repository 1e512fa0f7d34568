"""Two counts over the last seconds, in bounded memory, however many things are counted."""

from collections import deque

SLICES = 10
"""The window forgets in steps of a tenth."""
BEFORE = -1
"""The number of no slice."""


class Window:
    __slots__ = ("_latest", "_slice_seconds", "_slices")

    def __init__(self, seconds: float) -> None:
        self._slice_seconds = seconds / SLICES
        self._slices: deque[list[int]] = deque(maxlen=SLICES)  # [slice number, first count, second count]
        self._latest = [BEFORE, 0, 0]

    def add(self, now: float, first: int, second: int) -> None:
        number = int(now / self._slice_seconds)
        latest = self._latest
        if latest[0] != number:
            latest = self._latest = [number, 0, 0]
            self._slices.append(latest)
        latest[1] += first
        latest[2] += second

    def totals(self, now: float) -> tuple[int, int]:
        oldest = int(now / self._slice_seconds) - SLICES
        first = second = 0
        for number, some, others in self._slices:
            if number > oldest:
                first += some
                second += others
        return first, second
