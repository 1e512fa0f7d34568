"""Ends waits that last too long. One timer serves all of them, because hardly any wait does: a timer for each would
cost more than most of the work that follows the wait.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Protocol

NEVER = math.inf


class Timed(Protocol):
    def check(self, now: float) -> float:
        """Gives up what is due by now. Returns when to check again, by the clock of the loop."""


class Deadlines:
    def __init__(self) -> None:
        loop = asyncio.get_running_loop()  # asked once, because each time is a call of the system
        self.now: Callable[[], float] = loop.time
        """The clock by which things are due."""
        self._loop = loop
        self._waiting: set[Timed] = set()
        self._next = NEVER
        self._timer: asyncio.TimerHandle | None = None

    def add(self, waiting: Timed, due: float) -> None:
        """Checks it from now on. Nothing is to be done before `due`."""
        self._waiting.add(waiting)
        if due < self._next:
            self._check_at(due)

    def remove(self, waiting: Timed) -> None:
        self._waiting.discard(waiting)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _check_at(self, due: float) -> None:
        self.close()
        self._next = due
        self._timer = self._loop.call_at(due, self._check_all)

    def _check_all(self) -> None:
        self._next = NEVER
        now = self.now()
        due = min([each.check(now) for each in list(self._waiting)], default=NEVER)
        if due < self._next:
            self._check_at(due)
