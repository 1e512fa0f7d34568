"""Records in a file of SQLite. Each method is one step in the writer's or the reader's thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from proxy.core.stored.conversation import Conversation, Entry, Order
from proxy.core.stored.record import Record
from proxy.shell.stores.protocol import Began, FoundConversation, Key, Locked, Outcome, Size, Swept
from proxy.shell.stores.sql.record_steps import RecordSteps
from proxy.shell.stores.sql.step import Result, Step
from proxy.shell.stores.sqlite.file import SqliteFile
from proxy.shell.stores.sqlite.schema import RECORDS
from proxy.shell.stores.terms import Clock, Keeping, always

FORGOTTEN_ROWS = 50
"""In one step, some ten milliseconds."""

SHRUNK_PAGES = 1000
"""By which the file may become smaller after a sweep. Moving them holds others up for some milliseconds."""


class SqliteRecords:
    def __init__(
        self, path: Path, clock: Clock, keeping: Keeping, may_bury: Callable[[], bool] = always
    ) -> None:
        self._file = SqliteFile(path, RECORDS, durable=True)
        self._steps = RecordSteps(clock, keeping, may_bury)

    async def open(self) -> None:
        await self._file.open()

    async def close(self) -> None:
        await self._file.close()

    # ── responses ──

    async def save(
        self, tenant: str, record: Record, entries: Sequence[str] = (), worker: str = ""
    ) -> Outcome:
        step = partial(self._steps.save, tenant, record, entries, worker)
        return await self._file.write(step, weight_of(record))

    async def begin(self, tenant: str, record: Record, worker: str) -> Began | Locked | None:
        return await self._file.write(partial(self._steps.begin, tenant, record, worker), weight_of(record))

    async def start(self, tenant: str, id: str, worker: str, answer: bytes) -> Outcome:
        return await self._file.write(partial(self._steps.start, tenant, id, worker, answer), len(answer))

    async def finish(self, tenant: str, record: Record, worker: str, entries: Sequence[str] = ()) -> Outcome:
        step = partial(self._steps.finish, tenant, record, worker, entries)
        return await self._file.write(step, weight_of(record))

    async def cancel(self, tenant: str, record: Record) -> Record | None:
        return await self._file.write(partial(self._steps.cancel, tenant, record), weight_of(record))

    async def get(self, tenant: str, id: str) -> Record | None:
        found = await self._file.read(partial(self._steps.get, tenant, id))
        if found is None:
            return None
        record, is_orphan = found
        if not is_orphan:
            return record
        kept = await self._file.write(partial(self._steps.settled, tenant, id))
        return None if kept is None else kept.record

    async def chain(self, tenant: str, id: str, most: int) -> Sequence[Record] | None:
        return await self._file.read(partial(self._steps.chain, tenant, id, most))

    async def items(self, tenant: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        return await self._file.read(partial(self._steps.items, tenant, ids))

    async def delete(self, tenant: str, id: str) -> bool | None:
        return await self._file.write(partial(self._steps.delete, tenant, id))

    # ── conversations ──

    async def create(self, tenant: str, conversation: Conversation) -> None:
        await self._file.write(partial(self._steps.create, tenant, conversation))

    async def conversation(self, tenant: str, id: str) -> FoundConversation | None:
        return await self._file.read(partial(self._steps.conversation, tenant, id))

    async def update(self, tenant: str, id: str, metadata: bytes) -> Conversation | Locked | None:
        return await self._file.write(partial(self._steps.update, tenant, id, metadata))

    async def remove(self, tenant: str, id: str) -> bool | Locked:
        return await self._file.write(partial(self._steps.remove, tenant, id))

    async def lock(self, tenant: str, id: str, worker: str, response: str) -> Began | Locked | None:
        return await self._file.write(partial(self._steps.lock, tenant, id, worker, response))

    async def unlock(self, tenant: str, id: str, response: str) -> None:
        await self._file.write(partial(self._steps.unlock, tenant, id, response))

    async def entries(self, tenant: str, id: str) -> Sequence[Entry] | None:
        return await self._file.read(partial(self._steps.entries, tenant, id))

    async def page(
        self, tenant: str, id: str, order: Order, after: str | None, limit: int
    ) -> Sequence[Entry] | None:
        return await self._file.read(partial(self._steps.page, tenant, id, order, after, limit))

    async def add(self, tenant: str, id: str, record: Record) -> Sequence[Entry] | Locked | None:
        return await self._file.write(partial(self._steps.add, tenant, id, record), weight_of(record))

    async def entry(self, tenant: str, id: str, item: str) -> Entry | None:
        return await self._file.read(partial(self._steps.entry, tenant, id, item))

    async def drop(self, tenant: str, id: str, item: str) -> bool | Locked:
        return await self._file.write(partial(self._steps.drop, tenant, id, item))

    # ── owners ──

    async def beat(self, worker: str) -> int:
        return await self._file.write(partial(self._steps.beat, worker))

    async def leave(self, worker: str) -> None:
        await self._file.write(partial(self._steps.leave, worker))

    async def cancelled(self, worker: str) -> Sequence[Key]:
        return await self._file.read(partial(self._steps.runs, worker, True))

    async def runs(self, worker: str) -> Sequence[Key]:
        return await self._file.read(partial(self._steps.runs, worker, False))

    async def settle(self, most: int) -> Sequence[Key]:
        return await self._file.write(partial(self._steps.settle, most))

    # ── the size of it ──

    async def sweep(self, most: int) -> Swept:
        return await self._file.write(partial(self._sweep, most))

    def _sweep(self, most: int) -> Step[Swept]:
        used = yield from used_bytes()
        return (yield from then_shrink(self._steps.sweep(most, used)))

    async def size(self) -> Size:
        return await self._file.read(self._size)

    def _size(self) -> Step[Size]:
        size = yield from self._steps.size()
        return replace(size, bytes=(yield from used_bytes()))

    async def backup(self, target: Path) -> None:
        """A whole copy, while all write on; for a process of its own, as reads wait for it here. Other tools must not
        copy the file: they do not know the lock."""
        await self._file.copy(target)

    async def forget(self, tenant: str) -> int:
        """In many steps, so that nobody's save waits for all of it. The file shrinks with each."""
        number = await self._file.read(partial(self._steps.count_of, tenant))
        while await self._file.write(lambda: then_shrink(self._steps.forget(tenant, FORGOTTEN_ROWS))):
            pass
        return number


def then_shrink(step: Step[Result]) -> Step[Result]:
    """Gives back to the system what the step left empty."""
    result = yield from step
    free = yield "pragma freelist_count", ()
    for _ in range(min(free[0][0], SHRUNK_PAGES)):
        yield "pragma incremental_vacuum(1)", ()  # sqlite3 steps once, which is one page whatever the number
    return result


def weight_of(record: Record) -> int:
    return len(record.answer) + len(record.input) + len(record.output)


def used_bytes() -> Step[int]:
    pages = yield "pragma page_count", ()
    free = yield "pragma freelist_count", ()
    size = yield "pragma page_size", ()
    return int((pages[0][0] - free[0][0]) * size[0][0])
