"""Records behind a guard: each method ends in time, and what was given up leaves nothing behind."""

from collections.abc import Mapping, Sequence

from proxy.core.stored import endings
from proxy.core.stored.conversation import Conversation, Entry, Order
from proxy.core.stored.record import Record
from proxy.shell.stores.guard import Guard
from proxy.shell.stores.keys import tail_of
from proxy.shell.stores.opening import Opening
from proxy.shell.stores.protocol import (
    MOST_ENTRIES,
    Began,
    FoundConversation,
    Key,
    Locked,
    Outcome,
    Records,
    Size,
    Swept,
)

OPEN_SECONDS = 5.0


class GuardedRecords:
    def __init__(self, records: Records, guard: Guard, opening: Opening) -> None:
        self._records = records
        self._guard = guard
        self._opening = opening

    async def open(self) -> None:
        """Raises StoreUnreadable. A store that is away is tried for, and is down until then."""
        await self._opening.begin(OPEN_SECONDS)

    async def close(self) -> None:
        await self._opening.close()
        await self._guard.close()
        await self._records.close()

    # ── responses ──

    async def save(
        self, tenant: str, record: Record, entries: Sequence[str] = (), worker: str = ""
    ) -> Outcome:
        async def undo(outcome: Outcome) -> bool:
            """The client was told that nothing is kept."""
            for item in entries if outcome is Outcome.DONE and record.conversation is not None else ():
                if tail_of(item) == tail_of(record.id):
                    dropped = await self._records.drop(tenant, record.conversation or "", item)
                    if isinstance(dropped, Locked):
                        return False
            await self._records.delete(tenant, record.id)
            return True

        return await self._guard.write(
            "save",
            lambda: self._records.save(tenant, record, entries, worker),
            key=("save", tenant, record.id),
            undo=undo,
            done=Outcome.DONE,
        )

    async def begin(self, tenant: str, record: Record, worker: str) -> Began | Locked | None:
        async def undo(began: Began | Locked | None) -> bool:
            """The client was refused, and no backend was asked."""
            if isinstance(began, Began):
                failed = endings.failed(record, "storage_error", "The store did not answer in time.")
                await self._records.finish(tenant, failed, worker)
                await self._records.delete(tenant, record.id)
            return True

        return await self._guard.write(
            "begin",
            lambda: self._records.begin(tenant, record, worker),
            key=("begin", tenant, record.id),
            undo=undo,
            done=Began(()),
        )

    async def start(self, tenant: str, id: str, worker: str, answer: bytes) -> Outcome:
        return await self._guard.write("start", lambda: self._records.start(tenant, id, worker, answer))

    async def finish(self, tenant: str, record: Record, worker: str, entries: Sequence[str] = ()) -> Outcome:
        return await self._guard.write(
            "finish", lambda: self._records.finish(tenant, record, worker, entries)
        )

    async def cancel(self, tenant: str, record: Record) -> Record | None:
        return await self._guard.write("cancel", lambda: self._records.cancel(tenant, record))

    async def get(self, tenant: str, id: str) -> Record | None:
        return await self._guard.read("get", lambda: self._records.get(tenant, id))

    async def chain(self, tenant: str, id: str, most: int) -> Sequence[Record] | None:
        return await self._guard.read("chain", lambda: self._records.chain(tenant, id, most))

    async def items(self, tenant: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        return await self._guard.read("items", lambda: self._records.items(tenant, ids))

    async def delete(self, tenant: str, id: str) -> bool | None:
        return await self._guard.write("delete", lambda: self._records.delete(tenant, id))

    # ── conversations ──

    async def create(self, tenant: str, conversation: Conversation, record: Record | None = None) -> None:
        async def undo(_: None) -> bool:
            """Nobody was told its id."""
            await self._records.remove(tenant, conversation.id)
            return True

        await self._guard.write(
            "create",
            lambda: self._records.create(tenant, conversation, record),
            key=("create", tenant, conversation.id),
            undo=undo,
        )

    async def conversation(self, tenant: str, id: str) -> FoundConversation | None:
        return await self._guard.read("conversation", lambda: self._records.conversation(tenant, id))

    async def update(self, tenant: str, id: str, metadata: bytes) -> Conversation | Locked | None:
        return await self._guard.write("update", lambda: self._records.update(tenant, id, metadata))

    async def remove(self, tenant: str, id: str) -> bool | Locked:
        return await self._guard.write("remove", lambda: self._records.remove(tenant, id))

    async def lock(self, tenant: str, id: str, worker: str, response: str) -> Began | Locked | None:
        async def undo(began: Began | Locked | None) -> bool:
            if isinstance(began, Began):
                await self._records.unlock(tenant, id, response)
            return True

        return await self._guard.write(
            "lock",
            lambda: self._records.lock(tenant, id, worker, response),
            key=("lock", tenant, id, response),
            undo=undo,
            done=Began(()),
        )

    async def unlock(self, tenant: str, id: str, response: str) -> None:
        await self._guard.write("unlock", lambda: self._records.unlock(tenant, id, response))

    async def entries(self, tenant: str, id: str) -> Sequence[Entry] | None:
        return await self._guard.read("entries", lambda: self._records.entries(tenant, id))

    async def page(
        self, tenant: str, id: str, order: Order, after: str | None, limit: int
    ) -> Sequence[Entry] | None:
        return await self._guard.read("page", lambda: self._records.page(tenant, id, order, after, limit))

    async def add(
        self, tenant: str, id: str, record: Record, most: int = MOST_ENTRIES
    ) -> Sequence[Entry] | Locked | None:
        return await self._guard.write("add", lambda: self._records.add(tenant, id, record, most))

    async def entry(self, tenant: str, id: str, item: str) -> Entry | None:
        return await self._guard.read("entry", lambda: self._records.entry(tenant, id, item))

    async def drop(self, tenant: str, id: str, item: str) -> bool | Locked:
        return await self._guard.write("drop", lambda: self._records.drop(tenant, id, item))

    # ── owners ──

    async def beat(self, worker: str) -> int:
        return await self._guard.write("beat", lambda: self._records.beat(worker))

    async def leave(self, worker: str) -> None:
        await self._guard.write("leave", lambda: self._records.leave(worker))

    async def cancelled(self, worker: str) -> Sequence[Key]:
        return await self._guard.read("cancelled", lambda: self._records.cancelled(worker))

    async def runs(self, worker: str) -> Sequence[Key]:
        return await self._guard.read("runs", lambda: self._records.runs(worker))

    async def settle(self, most: int) -> Sequence[Key]:
        return await self._guard.write("settle", lambda: self._records.settle(most))

    # ── the size of it ──

    async def sweep(self, most: int) -> Swept:
        return await self._guard.write("sweep", lambda: self._records.sweep(most))

    async def size(self) -> Size:
        return await self._guard.read("size", self._records.size)

    async def forget(self, tenant: str) -> int:
        return await self._guard.write("forget", lambda: self._records.forget(tenant))
