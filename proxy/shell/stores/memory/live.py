"""What may vanish, in the memory of one process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from proxy.core.jsontext import tight
from proxy.shell.stores.logs import KEPT_SECONDS, MOST_LOG_BYTES, REFUSALS, LogState
from proxy.shell.stores.memory.meters import MemoryMeters
from proxy.shell.stores.memory.queues import MemoryQueues
from proxy.shell.stores.protocol import (
    Cursor,
    Granted,
    Key,
    LogClosed,
    LogExcerpt,
    LogRow,
    Ticket,
    Wait,
    Want,
)
from proxy.shell.stores.terms import Clock

MOST_BYTES: Final = 64 << 20
"""Bytes of all logs and memos together. Beyond them go the oldest memos of whoever has the most, and then the logs that
were changed the longest ago, ended or not."""


@dataclass(slots=True)
class _Log:
    touched: float
    events: list[bytes] = field(default_factory=list)
    state: LogState = LogState.OPEN
    weight: int = 0


@dataclass(slots=True)
class _Memos:
    """The memos of one tenant, the oldest first, each with the time at which it ends."""

    kept: dict[str, tuple[bytes, float]] = field(default_factory=dict)
    bytes: int = 0


class MemoryLive:
    def __init__(
        self, clock: Clock, most_log_bytes: int = MOST_LOG_BYTES, most_bytes: int = MOST_BYTES
    ) -> None:
        self._clock = clock
        self._most_log_bytes = most_log_bytes
        self._most_bytes = most_bytes
        self._logs: dict[Key, _Log] = {}
        self._memos: dict[str, _Memos] = {}
        """By tenant."""
        self._bytes = 0
        self._meters = MemoryMeters(clock)
        self._queues = MemoryQueues(clock)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        refused = {}
        for row in rows:
            log = self._log(row.key)
            if log.state is LogState.OPEN:
                self._extend(log, row)
            if log.state in REFUSALS:
                refused[row.key] = REFUSALS[log.state]
        self._make_room()
        return refused

    def _log(self, key: Key) -> _Log:
        return self._logs.setdefault(key, _Log(self._clock.date()))

    def _extend(self, log: _Log, row: LogRow) -> None:
        new = row.events[max(0, len(log.events) - row.first) :]
        weight = sum(map(len, new))
        if row.first > len(log.events) or log.weight + weight > self._most_log_bytes:
            self._lose(log)
        elif new:
            log.events += map(tight, new)
            self._weigh(log, weight)
        log.touched = self._clock.date()

    def _weigh(self, log: _Log, more: int) -> None:
        log.weight += more
        self._bytes += more

    def _lose(self, log: _Log) -> None:
        self._weigh(log, -log.weight)
        log.events = []
        log.state = LogState.GONE

    async def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Mapping[Cursor, LogExcerpt | None]:
        share = max(1, most_bytes // max(1, len(wanted)))
        return {cursor: self._replay(cursor, share) for cursor in wanted}

    def _replay(self, cursor: Cursor, share: int) -> LogExcerpt | None:
        log = self._logs.get(cursor.key)
        if log is None or log.state is LogState.GONE or self._has_expired(log):
            return None
        events: list[bytes] = []
        for event in log.events[cursor.next :]:
            if share <= 0:
                return LogExcerpt(events, ended=False)
            events.append(event)
            share -= len(event)
        return LogExcerpt(events, ended=log.state is LogState.ENDED)

    def _has_expired(self, log: _Log) -> bool:
        return log.touched + KEPT_SECONDS[log.state] <= self._clock.date()

    async def shut(self, key: Key) -> int:
        log = self._log(key)
        if log.state is LogState.OPEN:
            log.state = LogState.SHUT
            log.touched = self._clock.date()
        return len(log.events) - 1

    async def end(self, key: Key, number: int, event: bytes) -> None:
        log = self._log(key)
        if log.state not in (LogState.OPEN, LogState.SHUT):
            return
        log.touched = self._clock.date()
        if number != len(log.events):
            self._lose(log)
        else:
            log.events.append(event)
            self._weigh(log, len(event))
            log.state = LogState.ENDED

    async def drop(self, key: Key) -> None:
        if (log := self._logs.pop(key, None)) is not None:
            self._bytes -= log.weight

    async def remember(self, tenant: str, memos: Mapping[str, bytes], seconds: float) -> None:
        until = self._clock.date() + seconds
        for key, data in memos.items():
            self._forget(tenant, key)
            its = self._memos.setdefault(tenant, _Memos())
            its.kept[key] = tight(data), until
            its.bytes += len(data)
            self._bytes += len(data)
        self._make_room()

    async def recall(self, tenant: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        now = self._clock.date()
        its = self._memos.get(tenant, _Memos()).kept
        return {key: its[key][0] for key in keys if key in its and its[key][1] > now}

    def _forget(self, tenant: str, key: str) -> None:
        its = self._memos.get(tenant)
        if its is not None and (memo := its.kept.pop(key, None)) is not None:
            its.bytes -= len(memo[0])
            self._bytes -= len(memo[0])
            if not its.kept:
                del self._memos[tenant]

    async def sweep(self, most: int) -> int:
        now = self._clock.date()
        logs = [key for key, log in self._logs.items() if self._has_expired(log)][:most]
        for key in logs:
            await self.drop(key)
        memos = [
            (tenant, key)
            for tenant, its in self._memos.items()
            for key, (_, until) in its.kept.items()
            if until <= now
        ][: most - len(logs)]
        for name in memos:
            self._forget(*name)
        swept = len(logs) + len(memos)
        swept += self._meters.sweep(most - swept)
        return swept + self._queues.sweep(most - swept)

    async def take(self, tenant: str, wants: Sequence[Want]) -> Granted | Wait:
        return self._meters.take(tenant, wants)

    async def charge(self, tenant: str, wants: Sequence[Want]) -> None:
        self._meters.charge(tenant, wants)

    async def enter(self, worker: str, tickets: Sequence[Ticket]) -> Mapping[Ticket, int]:
        return self._queues.enter(worker, tickets)

    async def ranks(self, worker: str) -> Mapping[Ticket, int]:
        return self._queues.ranks(worker)

    async def leave(self, tickets: Sequence[Ticket]) -> None:
        self._queues.leave(tickets)

    def _make_room(self) -> None:
        """Whoever reads what is gone hears so: logs and memos may vanish at any time."""
        while self._bytes > self._most_bytes and self._memos:
            tenant = max(self._memos, key=lambda tenant: self._memos[tenant].bytes)
            self._forget(tenant, next(iter(self._memos[tenant].kept)))
        for log in sorted(self._logs.values(), key=lambda log: log.touched):
            if self._bytes <= self._most_bytes:
                break
            self._lose(log)
