"""The server's time, by which all processes go that share it: their own clocks may differ by minutes.

It is measured with each step that changes something, and estimated in between. A server's clock may jump, too: leases
would be over that nobody let end. A process that sees it jump buries nobody for the length of a lease.
"""

from collections.abc import Callable
from typing import Final

from proxy.shell.stores.terms import LEASE_SECONDS, Clock

JUMP_SECONDS: Final = 1.0


class ServerClock:
    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._ahead: float | None = None
        """How far the server's time is ahead of ours."""
        self._calm_from = float("-inf")

    @property
    def clock(self) -> Clock:
        """A server has one clock for both."""
        return Clock(date=self.now, steady=self.now)

    def now(self) -> float:
        return self._steady() + (self._ahead or 0.0)

    def begun(self) -> float:
        """Our time, before the server is asked."""
        return self._steady()

    def measured(self, time: float, begun: float) -> None:
        """What the server said between `begun` and now."""
        least, most = time - self._steady(), time - begun
        before = self._ahead
        self._ahead = least if before is None else min(max(before, least), most)
        if before is not None and abs(self._ahead - before) > JUMP_SECONDS:
            self._calm_from = self._steady() + LEASE_SECONDS

    def is_calm(self) -> bool:
        return self._steady() >= self._calm_from
