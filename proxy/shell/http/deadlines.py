"""Wakes those that wait too long. One timer of the loop serves them all, because nearly nobody does: one for each wait
would cost more than most of what is done with what was waited for.
"""

import asyncio
import math
from typing import Protocol

NEVER = math.inf


class Waiting(Protocol):
    def check(self, now: float) -> float:
        """Gives up what is due by now. When to look again, by the loop's clock."""


class Deadlines:
    def __init__(self) -> None:
        self._waiting: set[Waiting] = set()
        self._next = NEVER
        self._timer: asyncio.TimerHandle | None = None

    def add(self, waiting: Waiting, due: float) -> None:
        """From now on; there is nothing to do before it is `due`."""
        self._waiting.add(waiting)
        if due < self._next:
            self._check_at(due)

    def remove(self, waiting: Waiting) -> None:
        self._waiting.discard(waiting)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _check_at(self, due: float) -> None:
        self.close()
        self._next = due
        self._timer = asyncio.get_running_loop().call_at(due, self._check_all)

    def _check_all(self) -> None:
        self._next = NEVER
        now = asyncio.get_running_loop().time()
        due = min([each.check(now) for each in list(self._waiting)], default=NEVER)
        if due < self._next:
            self._check_at(due)
