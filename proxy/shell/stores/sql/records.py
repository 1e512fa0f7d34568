"""Records in an engine that speaks SQL. Each method is one step, which the engine's carrier carries out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from proxy.core.jsontext import is_text
from proxy.core.stored.conversation import Conversation, Entry, Order
from proxy.core.stored.record import Record
from proxy.shell.stores.protocol import (
    MOST_ENTRIES,
    Began,
    FoundConversation,
    Key,
    Locked,
    Outcome,
    Pending,
    Size,
    Swept,
)
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals, What
from proxy.shell.stores.sql.carrier import EVERYTHING, Carrier, family, whole
from proxy.shell.stores.sql.record_steps import RecordSteps
from proxy.shell.stores.sql.room_steps import Room
from proxy.shell.stores.sql.sealing_steps import Sealed, SealingSteps
from proxy.shell.stores.sql.step import Ask, Rows, Step
from proxy.shell.stores.terms import Clock, Keeping, always

FORGOTTEN_ROWS: Final = 50
"""In one step, some ten milliseconds."""


class SqlRecords:
    def __init__(
        self,
        carrier: Carrier,
        clock: Clock,
        keeping: Keeping,
        may_bury: Callable[[], bool] = always,
        seals: Seals = NO_SEALS,
    ) -> None:
        self._carrier = carrier
        self._steps = RecordSteps(clock, keeping, may_bury, seals)
        self._sealing = SealingSteps(clock, keeping, may_bury, seals)
        self._room: Room | None = None

    async def open(self) -> None:
        await self._carrier.open()

    async def close(self) -> None:
        await self._carrier.close()

    # ── responses ──

    def save(
        self, tenant: str, record: Record, entries: Sequence[str] = (), worker: str = ""
    ) -> Pending[Outcome]:
        step = partial(self._steps.save, tenant, record, entries, worker)
        alone = record.conversation is None and record.parent is None
        holds = () if alone else family(tenant, record.id, record.conversation, record.parent)
        return self._carrier.write(step, record.size, holds)

    async def begin(self, tenant: str, record: Record, worker: str) -> Began | Locked | None:
        step = partial(self._steps.begin, tenant, record, worker)
        holds = family(tenant, record.id, record.conversation, record.parent)
        return await self._carrier.write(step, record.size, holds)

    async def start(self, tenant: str, id: str, worker: str, answer: bytes) -> Outcome:
        step = partial(self._steps.start, tenant, id, worker, answer)
        return await self._carrier.write(step, len(answer), family(tenant, id))

    async def finish(self, tenant: str, record: Record, worker: str, entries: Sequence[str] = ()) -> Outcome:
        step = partial(self._steps.finish, tenant, record, worker, entries)
        return await self._carrier.write(step, record.size, family(tenant, record.id, record.conversation))

    async def cancel(self, tenant: str, record: Record) -> Record | None:
        step = partial(self._steps.cancel, tenant, record)
        return await self._carrier.write(step, record.size, family(tenant, record.id, record.conversation))

    async def get(self, tenant: str, id: str) -> Record | None:
        found = await self._carrier.read(partial(self._steps.get, tenant, id))
        if found is None:
            return None
        record, is_orphan = found
        if not is_orphan:
            return record
        holds = family(tenant, id, record.conversation)
        kept = await self._carrier.write(partial(self._steps.settled, tenant, id), holds=holds)
        return None if kept is None else kept.record

    async def chain(self, tenant: str, id: str, most: int) -> Sequence[Record] | None:
        return await self._carrier.read(partial(self._steps.chain, tenant, id, most))

    async def items(self, tenant: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        return await self._carrier.read(partial(self._steps.items, tenant, readable(ids)))

    async def delete(self, tenant: str, id: str) -> bool | None:
        return await self._carrier.write(
            partial(self._steps.delete, tenant, id), holds=whole(tenant), once=True
        )

    # ── conversations ──

    async def create(self, tenant: str, conversation: Conversation, record: Record | None = None) -> None:
        step = partial(self._steps.create, tenant, conversation, record)
        if record is None:
            await self._carrier.write(step)
        else:
            await self._carrier.write(step, record.size, family(tenant, conversation.id, record.id))

    async def conversation(self, tenant: str, id: str) -> FoundConversation | None:
        return await self._carrier.read(partial(self._steps.conversation, tenant, id))

    async def update(self, tenant: str, id: str, metadata: bytes) -> Conversation | Locked | None:
        step = partial(self._steps.update, tenant, id, metadata)
        return await self._carrier.write(step, holds=family(tenant, id))

    async def remove(self, tenant: str, id: str) -> bool | Locked:
        return await self._carrier.write(
            partial(self._steps.remove, tenant, id), holds=whole(tenant), once=True
        )

    async def lock(self, tenant: str, id: str, worker: str, response: str) -> Began | Locked | None:
        step = partial(self._steps.lock, tenant, id, worker, response)
        return await self._carrier.write(step, holds=family(tenant, id, response))

    async def unlock(self, tenant: str, id: str, response: str) -> None:
        await self._carrier.write(partial(self._steps.unlock, tenant, id, response), holds=family(tenant, id))

    async def entries(self, tenant: str, id: str) -> Sequence[Entry] | None:
        return await self._carrier.read(partial(self._steps.entries, tenant, id))

    async def page(
        self, tenant: str, id: str, order: Order, after: str | None, limit: int
    ) -> Sequence[Entry] | None:
        return await self._carrier.read(partial(self._steps.page, tenant, id, order, after, limit))

    async def add(
        self, tenant: str, id: str, record: Record, most: int = MOST_ENTRIES
    ) -> Sequence[Entry] | Locked | None:
        step = partial(self._steps.add, tenant, id, record, most)
        return await self._carrier.write(step, record.size, family(tenant, id, record.id))

    async def entry(self, tenant: str, id: str, item: str) -> Entry | None:
        return await self._carrier.read(partial(self._steps.entry, tenant, id, item))

    async def drop(self, tenant: str, id: str, item: str) -> bool | Locked:
        step = partial(self._steps.drop, tenant, id, item)
        return await self._carrier.write(step, holds=whole(tenant), once=True)

    # ── owners ──

    async def beat(self, worker: str) -> int:
        return await self._carrier.write(partial(self._steps.beat, worker))

    async def leave(self, worker: str) -> None:
        await self._carrier.write(partial(self._steps.leave, worker))

    async def cancelled(self, worker: str) -> Sequence[Key]:
        return await self._carrier.read(partial(self._steps.runs, worker, True))

    async def runs(self, worker: str) -> Sequence[Key]:
        return await self._carrier.read(partial(self._steps.runs, worker, False))

    async def settle(self, most: int) -> Sequence[Key]:
        if not await self._carrier.read(partial(self._steps.dead, 1)):
            return []
        return await self._carrier.write(partial(self._steps.settle, most), holds=EVERYTHING)

    # ── the size of it ──

    async def sweep(self, most: int) -> Swept:
        if self._room is not None and (question := self._room.question) is not None:
            self._room = self._room.told(await self._carrier.read(partial(_asked, question)))
            return Swept(0, 0, most)
        expired = early = looked_at = 0
        while (portion := min(most - expired - early, self._carrier.most_swept)) > 0:
            step = partial(self._sweep, portion, self._room)
            swept, self._room = await self._carrier.write(step, holds=EVERYTHING)
            expired, early = expired + swept.expired, early + swept.early
            looked_at += swept.looked_at
            if max(swept) < portion:
                break
        return Swept(expired, early, looked_at if self._room is None else most)

    def _sweep(self, most: int, room: Room | None) -> Step[tuple[Swept, Room | None]]:
        used = yield from self._carrier.used_bytes()
        return (yield from self._carrier.shrunk(self._steps.sweep(most, used, room)))

    async def size(self) -> Size:
        return await self._carrier.read(self._size)

    def _size(self) -> Step[Size]:
        size = yield from self._steps.size()
        return replace(size, bytes=(yield from self._carrier.used_bytes()))

    async def forget(self, tenant: str) -> int:
        """In many steps, so that nobody's save waits for all of it. The file shrinks with each."""
        number = await self._carrier.read(partial(self._steps.count_of, tenant))
        while await self._carrier.write(partial(self._forget, tenant), holds=whole(tenant)):
            pass
        return number

    def _forget(self, tenant: str) -> Step[int]:
        return (yield from self._carrier.shrunk(self._steps.forget(tenant, FORGOTTEN_ROWS)))

    async def seal(self, what: What, after: Key) -> Sealed:
        """Seals the next few responses or conversations that are not sealed with the first key."""
        step = partial(self._sealing.seal, what, after, self._carrier.most_swept)
        return await self._carrier.write(step, holds=EVERYTHING)


def _asked(question: Ask) -> Step[Rows]:
    return (yield question)


def readable(ids: Sequence[str]) -> list[str]:
    """Others are no item's, and cannot even be asked for."""
    return [id for id in ids if is_text(id)]
