"""Settles the dead and deletes what has expired, once a minute and a little at a time.

It rests ten times as long as it works: a million expired rows must not hold up one save.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, Protocol

from proxy.shell.stores.log_ends import close_log
from proxy.shell.stores.protocol import Key, Live, Records, RecordUnreadable, StoreDown

ROUND_SECONDS: Final = 60.0
AT_ONCE: Final = 50
REST: Final = 10.0
"""Times the work."""


class SweepWatcher(Protocol):
    async def settled(self, keys: Sequence[Key]) -> None:
        """These have ended because their workers are dead."""

    def swept(self, kind: str, count: int) -> None:
        """`kind`: expired, early, live."""

    def failed(self, failure: Exception) -> None: ...


class Sweeper:
    def __init__(
        self,
        records: Records,
        live: Live,
        watcher: SweepWatcher,
        steady: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._records = records
        self._live = live
        self._watcher = watcher
        self._steady = steady
        self._sleep = sleep

    async def run(self) -> None:
        """For ever; an error ends one round."""
        while True:
            await self._sleep(ROUND_SECONDS)
            try:
                await self.once()
            except Exception as failure:
                self._watcher.failed(failure)

    async def once(self) -> None:
        """Until nothing is left to do."""
        for work in (self._settle, self._sweep, self._sweep_live):
            await self._repeat(work)

    async def _repeat(self, work: Callable[[], Awaitable[int]]) -> None:
        done = AT_ONCE
        while done >= AT_ONCE:
            began = self._steady()
            done = await work()
            await self._sleep(REST * (self._steady() - began))

    async def _settle(self) -> int:
        keys = await self._records.settle(AT_ONCE)
        for key in keys:
            with suppress(RecordUnreadable):  # then nobody can say how its log ends
                record = await self._records.get(*key)
                if record is not None and record.streamed:
                    with suppress(StoreDown):  # then whoever wants to follow it closes it
                        await close_log(self._live, key, record)
        if keys:
            await self._watcher.settled(keys)
        return len(keys)

    async def _sweep(self) -> int:
        swept = await self._records.sweep(AT_ONCE)
        self._watcher.swept("expired", swept.expired)
        self._watcher.swept("early", swept.early)
        return max(swept)

    async def _sweep_live(self) -> int:
        count = await self._live.sweep(AT_ONCE)
        self._watcher.swept("live", count)
        return count
