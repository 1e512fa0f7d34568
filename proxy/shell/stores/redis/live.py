"""What may vanish, in a server of Redis or Valkey. All of it may be lost at any moment, by a failover or a crash."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

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
from proxy.shell.stores.redis.limits import RedisMeters, RedisQueues
from proxy.shell.stores.redis.logs import RedisLogs
from proxy.shell.stores.redis.memo_scripts import RECALL, REMEMBER
from proxy.shell.stores.redis.names import Names
from proxy.shell.stores.redis.script import SERVER_CLOCKS, Clocks, Script, ScriptCall
from proxy.shell.stores.redis.server import RedisServer
from proxy.shell.stores.sealing.memos import opened_memos, sealed_memos
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals

KEEPS_ALL: Final = "noeviction"
WAIT_SECONDS: Final = 0.5
MOST_MEMO_BYTES: Final = 64 << 20
"""Bytes of one tenant's memos. Beyond them its oldest go."""


class RedisLive:
    def __init__(
        self,
        url: str,
        prefix: str,
        may_evict: Callable[[str], None],
        clocks: Clocks = SERVER_CLOCKS,
        most_log_bytes: int = MOST_LOG_BYTES,
        most_memo_bytes: int = MOST_MEMO_BYTES,
        wait_seconds: float = WAIT_SECONDS,
        seals: Seals = NO_SEALS,
    ) -> None:
        """`may_evict` hears of the policy of a server that may delete keys when its memory is full."""
        self._server = RedisServer(url, wait_seconds)
        self._names = Names(prefix)
        self._may_evict = may_evict
        self._seals = seals
        self._most_memo_bytes = most_memo_bytes
        self._logs = RedisLogs(self._server, self._names, clocks, most_log_bytes, seals)
        self._meters = RedisMeters(self._server, self._names, clocks)
        self._queues = RedisQueues(self._server, self._names, clocks)
        self._remember, self._recall = (Script(clocks.date, change) for change in (REMEMBER, RECALL))

    async def open(self) -> None:
        eviction = await self._server.open(self._names.probe)
        if eviction != KEEPS_ALL:
            self._may_evict(eviction)

    async def close(self) -> None:
        await self._server.close()

    async def append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        return await self._logs.append(rows)

    async def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Mapping[Cursor, LogExcerpt | None]:
        return await self._logs.read(wanted, most_bytes)

    async def shut(self, key: Key) -> int:
        return await self._logs.shut(key)

    async def end(self, key: Key, number: int, event: bytes) -> None:
        await self._logs.end(key, number, event)

    async def drop(self, key: Key) -> None:
        await self._logs.drop(key)

    async def remember(self, tenant: str, memos: Mapping[str, bytes], seconds: float) -> None:
        pairs = [each for memo in sealed_memos(self._seals, tenant, memos).items() for each in memo]
        if pairs:
            arguments = (seconds, self._most_memo_bytes, *pairs)
            await self._server.run([ScriptCall(self._remember, self._names.memos(tenant), arguments)])

    async def recall(self, tenant: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        if not keys:
            return {}
        (found,) = await self._server.run([ScriptCall(self._recall, self._names.memos(tenant), tuple(keys))])
        memos = {key: memo for key, memo in zip(keys, found, strict=True) if memo is not None}
        return opened_memos(self._seals, tenant, memos)

    async def take(self, tenant: str, wants: Sequence[Want]) -> Granted | Wait:
        return await self._meters.take(tenant, wants)

    async def charge(self, tenant: str, wants: Sequence[Want]) -> None:
        await self._meters.charge(tenant, wants)

    async def enter(self, worker: str, tickets: Sequence[Ticket]) -> Mapping[Ticket, int]:
        return await self._queues.enter(worker, tickets)

    async def ranks(self, worker: str) -> Mapping[Ticket, int]:
        return await self._queues.ranks(worker)

    async def leave(self, tickets: Sequence[Ticket]) -> None:
        await self._queues.leave(tickets)

    async def forget(self, tenant: str) -> None:
        """Deletes all that is the tenant's, for the command that forgets records."""
        await self._server.erase(self._names.all_of(tenant))

    async def sweep(self, most: int) -> int:
        """Deletes tickets of the dead. All else vanishes by itself, and is not counted."""
        return await self._queues.sweep(most)
