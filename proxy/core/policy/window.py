"""Two counts over the last seconds. Its memory is bounded, however many things are counted."""

from collections import deque

SLICES = 10
"""The window forgets in steps of a tenth."""


class Window:
    __slots__ = ("_slice_seconds", "_slices")

    def __init__(self, seconds: float) -> None:
        self._slice_seconds = seconds / SLICES
        self._slices: deque[list[int]] = deque(maxlen=SLICES)  # [slice number, first count, second count]

    def add(self, now: float, first: int, second: int) -> None:
        current = int(now / self._slice_seconds)
        if not self._slices or self._slices[-1][0] != current:
            self._slices.append([current, 0, 0])
        self._slices[-1][1] += first
        self._slices[-1][2] += second

    def totals(self, now: float) -> tuple[int, int]:
        oldest = int(now / self._slice_seconds) - SLICES
        first = second = 0
        for number, some, others in self._slices:
            if number > oldest:
                first += some
                second += others
        return first, second
