"""What may vanish, behind a guard: each method ends in time. Nothing of them needs to be undone."""

from collections.abc import Mapping, Sequence

from proxy.shell.stores.guard import Guard
from proxy.shell.stores.guarded_records import OPEN_SECONDS
from proxy.shell.stores.opening import Opening
from proxy.shell.stores.protocol import (
    Cursor,
    Granted,
    Key,
    Live,
    LogClosed,
    LogExcerpt,
    LogRow,
    Ticket,
    Wait,
    Want,
)


class GuardedLive:
    def __init__(self, live: Live, guard: Guard, opening: Opening) -> None:
        self._live = live
        self._guard = guard
        self._opening = opening

    async def open(self) -> None:
        await self._opening.begin(OPEN_SECONDS)

    @property
    def was_there(self) -> bool:
        """Since this process began."""
        return self._opening.has_opened

    async def close(self) -> None:
        await self._opening.close()
        await self._guard.close()
        await self._live.close()

    async def append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        return await self._guard.write("append", lambda: self._live.append(rows))

    async def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Mapping[Cursor, LogExcerpt | None]:
        return await self._guard.read("read", lambda: self._live.read(wanted, most_bytes))

    async def shut(self, key: Key) -> int:
        return await self._guard.write("shut", lambda: self._live.shut(key))

    async def end(self, key: Key, number: int, event: bytes) -> None:
        await self._guard.write("end", lambda: self._live.end(key, number, event))

    async def drop(self, key: Key) -> None:
        await self._guard.write("drop_log", lambda: self._live.drop(key))

    async def remember(self, tenant: str, memos: Mapping[str, bytes], seconds: float) -> None:
        await self._guard.write("remember", lambda: self._live.remember(tenant, memos, seconds))

    async def recall(self, tenant: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        return await self._guard.read("recall", lambda: self._live.recall(tenant, keys))

    async def take(self, tenant: str, wants: Sequence[Want]) -> Granted | Wait:
        return await self._guard.write("take", lambda: self._live.take(tenant, wants))

    async def charge(self, tenant: str, wants: Sequence[Want]) -> None:
        await self._guard.write("charge", lambda: self._live.charge(tenant, wants))

    async def enter(self, worker: str, tickets: Sequence[Ticket]) -> Mapping[Ticket, int]:
        return await self._guard.write("enter", lambda: self._live.enter(worker, tickets))

    async def ranks(self, worker: str) -> Mapping[Ticket, int]:
        return await self._guard.read("ranks", lambda: self._live.ranks(worker))

    async def leave(self, tickets: Sequence[Ticket]) -> None:
        await self._guard.write("leave", lambda: self._live.leave(tickets))

    async def sweep(self, most: int) -> int:
        return await self._guard.write("sweep_live", lambda: self._live.sweep(most))
