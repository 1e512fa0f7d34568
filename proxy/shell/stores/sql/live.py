"""What may vanish, in an engine that speaks SQL. Each method is one step, which the engine's carrier carries out."""

from collections.abc import Mapping, Sequence
from functools import partial

from proxy.shell.stores.logs import MOST_LOG_BYTES
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
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql.carrier import EVERYTHING, Carrier, Hold, whole
from proxy.shell.stores.sql.limit_steps import MeterSteps, QueueSteps
from proxy.shell.stores.sql.live_steps import MOST_MEMO_BYTES, LiveSteps
from proxy.shell.stores.sql.records import FORGOTTEN_ROWS
from proxy.shell.stores.sql.step import Step
from proxy.shell.stores.terms import Clock


class SqlLive:
    def __init__(
        self,
        carrier: Carrier,
        clock: Clock,
        most_log_bytes: int = MOST_LOG_BYTES,
        most_memo_bytes: int = MOST_MEMO_BYTES,
        seals: Seals = NO_SEALS,
    ) -> None:
        self._carrier = carrier
        self._steps = LiveSteps(clock, most_log_bytes, most_memo_bytes, seals)
        self._meters = MeterSteps(clock)
        self._queues = QueueSteps(clock)

    async def open(self) -> None:
        await self._carrier.open()

    async def close(self) -> None:
        await self._carrier.close()

    async def append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        weight = sum(len(event) for row in rows for event in row.events)
        holds = tuple(sorted({Hold(*row.key) for row in rows}))
        return await self._carrier.write(partial(self._steps.append, rows), weight, holds)

    async def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Mapping[Cursor, LogExcerpt | None]:
        return await self._carrier.read(partial(self._steps.read, wanted, most_bytes))

    async def shut(self, key: Key) -> int:
        return await self._carrier.write(partial(self._steps.shut, key), holds=(Hold(*key),))

    async def end(self, key: Key, number: int, event: bytes) -> None:
        await self._carrier.write(partial(self._steps.end, key, number, event), holds=(Hold(*key),))

    async def drop(self, key: Key) -> None:
        await self._carrier.write(partial(self._steps.drop, key), holds=(Hold(*key),))

    async def remember(self, tenant: str, memos: Mapping[str, bytes], seconds: float) -> None:
        weight = sum(map(len, memos.values()))
        await self._carrier.write(partial(self._steps.remember, tenant, memos, seconds), weight)

    async def recall(self, tenant: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        return await self._carrier.read(partial(self._steps.recall, tenant, keys))

    async def take(self, tenant: str, wants: Sequence[Want]) -> Granted | Wait:
        return await self._carrier.write(partial(self._meters.take, tenant, wants), once=True)

    async def charge(self, tenant: str, wants: Sequence[Want]) -> None:
        await self._carrier.write(partial(self._meters.charge, tenant, wants), once=True)

    async def enter(self, worker: str, tickets: Sequence[Ticket]) -> Mapping[Ticket, int]:
        return await self._carrier.write(partial(self._queues.enter, worker, tickets))

    async def ranks(self, worker: str) -> Mapping[Ticket, int]:
        return await self._carrier.read(partial(self._queues.ranks, worker))

    async def leave(self, tickets: Sequence[Ticket]) -> None:
        await self._carrier.write(partial(self._queues.leave, tickets))

    async def forget(self, tenant: str) -> None:
        """All that is the tenant's; for a command, as records are forgotten."""
        while await self._carrier.write(partial(self._forget, tenant), holds=whole(tenant)):
            pass

    def _forget(self, tenant: str) -> Step[int]:
        return (yield from self._carrier.shrunk(self._steps.forget(tenant, FORGOTTEN_ROWS)))

    async def sweep(self, most: int) -> int:
        return await self._carrier.write(partial(self._sweep, most), holds=EVERYTHING)

    def _sweep(self, most: int) -> Step[int]:
        return (yield from self._carrier.shrunk(self._sweep_all(most)))

    def _sweep_all(self, most: int) -> Step[int]:
        swept = 0
        for sweep in (self._steps.sweep, self._meters.sweep, self._queues.sweep):
            swept += yield from sweep(most - swept)
        return swept
