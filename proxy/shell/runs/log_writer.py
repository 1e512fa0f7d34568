"""The events of all runs of this process on their way into the store: one statement at a time for all of them.

Nobody gets an event before it is kept, so that whoever comes back finds all that was seen. A log that is too long, or
that the store did not take for long, is given up: those who follow it here go on, and the run itself does not notice.
The store is told as soon as it hears, or somebody would take a part of the log for all of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from proxy.shell.stores.logs import MOST_LOG_BYTES
from proxy.shell.stores.protocol import Key, Live, LogClosed, LogRow, StoreDown

PAUSE_SECONDS: Final = 0.1
URGENT_BYTES: Final = 64 << 10
RETRY_SECONDS: Final = 0.5
MOST_FAILURES: Final = 10
"""Failures in a row, some seconds of them. After these, those who follow a run here no longer wait for the store."""
MOST_ROWS: Final = 100
"""Rows in one statement. More cost an engine several times as much each."""
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
        self.is_partly_kept = False
        """It was given up, and the store has not heard of that yet."""
        self.over = False
        """Somebody else has shut or ended it."""
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
        self._given_up: dict[Key, RunLog] = {}
        """Of these the store must hear."""
        self._failures = 0
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()

    def write(self, log: RunLog, events: Sequence[bytes]) -> None:
        if log.over or not events:
            return
        log.waiting += events
        log.weight += sum(map(len, events))
        log.drained.clear()
        if log.weight > MOST_LOG_BYTES:
            self._give_up(log)
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
            self._give_up(log)
            self._pass_on(log)

    async def run(self) -> None:
        """For ever; no error ends it."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._urgent.clear()
            while self._dirty or self._given_up:
                await self._flush()
            try:
                async with asyncio.timeout(PAUSE_SECONDS):
                    await self._urgent.wait()
            except TimeoutError:
                pass

    async def _flush(self) -> None:
        logs = [self._dirty.pop(key) for key in list(self._dirty)[:MOST_ROWS]]
        for log in logs:
            if log.gone:
                self._pass_on(log)
        rows = {log.key: LogRow(log.key, log.next, list(log.waiting)) for log in logs if log.waiting}
        given_up = list(self._given_up.values())[:MOST_ROWS]
        try:
            refused = await self._append([*rows.values(), *map(_beyond, given_up)])
        except StoreDown:
            self._failures += 1
            for log in logs:
                if self._failures >= MOST_FAILURES and not log.gone:
                    self._give_up(log)
                    self._pass_on(log)
                self._dirty.setdefault(log.key, log)
            await self._sleep(RETRY_SECONDS)
            return
        self._failures = 0
        for log in given_up:
            log.is_partly_kept = False
            del self._given_up[log.key]
        for log in logs:
            if (row := rows.get(log.key)) is not None and log.next == row.first:
                self._took(log, row, refused.get(log.key))

    async def _append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        return await self._live.append(rows) if rows else {}

    def _took(self, log: RunLog, row: LogRow, closed: LogClosed | None) -> None:
        if closed is LogClosed.OVER:
            log.ends()
            self._over(log.key)
            return
        log.gone |= closed is LogClosed.GONE
        self._pass_on(log, len(row.events))

    def _give_up(self, log: RunLog) -> None:
        log.gone = log.is_partly_kept = True
        self._given_up[log.key] = log
        self._wake.set()

    def _pass_on(self, log: RunLog, count: int | None = None) -> None:
        first, events = log.next, log.waiting[:count]
        if events:
            log.took(len(events))
            self._listener.appended(log.key, first, events)


def _beyond(log: RunLog) -> LogRow:
    """An event that cannot come next: where it is appended, the log is gone."""
    return LogRow(log.key, log.next + len(log.waiting) + 1, [b"null"])
