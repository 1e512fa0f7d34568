"""How a worker says that it lives, and when it may find that others are dead.

A worker that has not beaten for 45 s is dead, for whoever looks. Right after an outage of the store, nobody has: so
nobody buries others unless its own beats went well for the last 45 s, without a gap. That holds for its first 45 s,
too. Nor does anybody count fewer living workers than before as long as it may not bury those who are missing.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from proxy.shell.stores.protocol import Records
from proxy.shell.stores.terms import LEASE_SECONDS

BUSY_SECONDS: Final = 5.0
IDLE_SECONDS: Final = 15.0
"""The pause between beats while the worker owns nothing. It beats all the same: otherwise it would not notice an
outage, and could bury those who live."""
RETRY_SECONDS: Final = (0.5, 1.0, 2.0, 5.0)
GAP_SECONDS: Final = 20.0


class Patience:
    """Whether a worker may bury others."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._since: float | None = None
        self._last = 0.0

    def heard(self) -> None:
        """The store has written a beat."""
        now = self._steady()
        if self._since is None or now - self._last > GAP_SECONDS:
            self._since = now
        self._last = now

    def may_bury(self) -> bool:
        now = self._steady()
        return (
            self._since is not None and now - self._last <= GAP_SECONDS and now - self._since >= LEASE_SECONDS
        )


class Beats:
    """`failed`: hears of the first failure of each outage. `owns`: has the worker begun anything that is not over?"""

    def __init__(
        self,
        records: Records,
        worker: str,
        patience: Patience,
        owns: Callable[[], bool],
        failed: Callable[[Exception], None],
        sleep: Callable[[float], Awaitable[None]],
        living: int = 1,
    ) -> None:
        """`living`: how many workers it assumes until it knows better."""
        self._records = records
        self._worker = worker
        self._patience = patience
        self._owns = owns
        self._failed = failed
        self._sleep = sleep
        self.living = living
        """How many workers there are, as far as is known."""

    async def run(self) -> None:
        """Runs for ever. No error ends it: a worker that stopped beating would be buried while it works."""
        failures = 0
        while True:
            try:
                heard = await self._records.beat(self._worker)
            except Exception as failure:
                if failures == 0:
                    self._failed(failure)
                await self._sleep(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
                failures += 1
            else:
                failures = 0
                self._patience.heard()
                self.living = max(1, heard) if self._patience.may_bury() else max(self.living, heard)
                await self._sleep(BUSY_SECONDS if self._owns() else IDLE_SECONDS)

    async def leave(self) -> None:
        """The end of a worker, in order. Its lease is over at once."""
        await self._records.leave(self._worker)
