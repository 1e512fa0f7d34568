"""The events of all runs of this process on their way into the store: one statement at a time for all of them.

Nobody gets an event before it is kept, so that whoever comes back finds all that was seen. A log that is too long, or
that the store did not take for long, is given up: those who follow it here go on, and the run itself does not notice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from proxy.shell.stores.logs import MOST_LOG_BYTES
from proxy.shell.stores.protocol import Key, Live, LogClosed, LogRow, StoreDown

PAUSE_SECONDS: Final = 0.1
URGENT_BYTES: Final = 64 << 10
RETRY_SECONDS: Final = 0.5
MOST_ROWS: Final = 100
"""In one statement: more cost an engine several times as much each."""
DRAIN_SECONDS: Final = 5.0
"""The longest wait of the end of a run for the last of its events."""


class LogListener(Protocol):
    def appended(self, key: Key, first: int, events: Sequence[bytes], *, ended: bool = False) -> None:
        """These are kept, and may be shown."""


class RunLog:
    """Of one run."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.next = 0
        """The number of the first event that is not kept."""
        self.waiting: list[bytes] = []
        self.weight = 0
        """Of what waits."""
        self.gone = False
        """Nothing of it is kept any more, or ever will be."""
        self.over = False
        """Somebody else has sealed or ended it."""
        self.drained = asyncio.Event()
        self.drained.set()

    def took(self, count: int) -> None:
        self.weight -= sum(map(len, self.waiting[:count]))
        del self.waiting[:count]
        self.next += count
        if not self.waiting:
            self.drained.set()

    def ends(self) -> None:
        """It takes no more."""
        self.over = True
        self.waiting.clear()
        self.drained.set()


class LogWriter:
    def __init__(
        self,
        live: Live,
        listener: LogListener,
        over: Callable[[Key], None],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """`over`: hears whose log takes no more, because somebody else has ended its run."""
        self._live = live
        self._listener = listener
        self._over = over
        self._sleep = sleep
        self._dirty: dict[Key, RunLog] = {}
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()

    def write(self, log: RunLog, events: Sequence[bytes]) -> None:
        if log.over or not events:
            return
        log.waiting += events
        log.weight += sum(map(len, events))
        log.drained.clear()
        if log.weight > MOST_LOG_BYTES:
            log.gone = True
        self._dirty[log.key] = log
        self._wake.set()
        if log.weight >= URGENT_BYTES:
            self._urgent.set()

    async def drain(self, log: RunLog) -> None:
        """Waits until all is kept, or never will be."""
        if not log.waiting:
            return
        self._urgent.set()
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await log.drained.wait()
        except TimeoutError:
            log.gone = True
            self._pass_on(log, list(log.waiting))

    async def run(self) -> None:
        """For ever; no error ends it."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._urgent.clear()
            while self._dirty:
                await self._flush()
            try:
                async with asyncio.timeout(PAUSE_SECONDS):
                    await self._urgent.wait()
            except TimeoutError:
                pass

    async def _flush(self) -> None:
        logs = [self._dirty.pop(key) for key in list(self._dirty)[:MOST_ROWS]]
        rows = {log.key: LogRow(log.key, log.next, list(log.waiting)) for log in logs if log.waiting}
        kept = [row for log in logs if not log.gone and (row := rows.get(log.key)) is not None]
        try:
            refused = await self._live.append(kept) if kept else {}
        except StoreDown:
            for log in logs:
                self._dirty.setdefault(log.key, log)
            await self._sleep(RETRY_SECONDS)
            return
        for log in logs:
            if (row := rows.get(log.key)) is None or log.next != row.first:
                continue
            refusal = refused.get(log.key)
            if refusal is LogClosed.OVER:
                log.ends()
                self._over(log.key)
                continue
            log.gone |= refusal is LogClosed.GONE
            self._pass_on(log, row.events)

    def _pass_on(self, log: RunLog, events: Sequence[bytes]) -> None:
        first = log.next
        log.took(len(events))
        self._listener.appended(log.key, first, events)
