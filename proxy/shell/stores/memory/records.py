"""Records in the memory of one process: what the other engines are measured by, and all that a test or a trial needs.

Each method is done before anybody else runs. What is kept is bounded by its bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from proxy.core.stored.record import Record, Status, conversation_as_record
from proxy.shell.stores.keys import WantedItems, as_list, tail_of
from proxy.shell.stores.memory.conversations import MemoryConversations
from proxy.shell.stores.memory.shelf import KeptTurn, TenantShelf
from proxy.shell.stores.memory.state import OwnedRun
from proxy.shell.stores.protocol import Began, Key, Locked, Outcome, ParentGone, RecordUnreadable, Size, Swept


class MemoryRecords(MemoryConversations):
    async def open(self) -> None: ...

    async def close(self) -> None: ...

    # ── responses ──

    async def save(
        self, tenant: str, record: Record, entries: Sequence[str] = (), worker: str = ""
    ) -> Outcome:
        shelf = self._shelf(tenant)
        if tail_of(record.id) in shelf.turns:
            return Outcome.DONE
        self._check_parent(shelf, record)
        talk = self._talk(tenant, record.conversation)
        held = worker if record.conversation is not None else ""
        if held and (talk is None or (talk.locked_by, talk.lock_response) != (worker, record.id)):
            return Outcome.LOST
        turn = KeptTurn(record, ended=self._date(), seen=None if talk is None else talk.version)
        added = self._locate(shelf, entries, record)
        self._put(shelf, turn)
        if talk is not None:
            self._append(shelf, talk, added)
            self._unlock(talk, record.id)
        self._make_room()
        return Outcome.DONE

    async def begin(self, tenant: str, record: Record, worker: str) -> Began | Locked | None:
        shelf = self._shelf(tenant)
        talk = None
        if record.conversation is not None:
            talk = self._talk(tenant, record.conversation)
            if talk is None:
                return None
            if holder := self._free(tenant, talk, record.id):
                return Locked(holder)
        if tail_of(record.id) not in shelf.turns:
            self._check_parent(shelf, record)
            if talk is not None:
                self._lock(talk, worker, record.id)
            self._beat(worker)
            self._runs[Key(tenant, record.id)] = OwnedRun(worker)
            self._put(shelf, KeptTurn(record, seen=None if talk is None else talk.version))
        return Began(())

    def _check_parent(self, shelf: TenantShelf, record: Record) -> None:
        if record.parent is not None and tail_of(record.parent) not in shelf.turns:
            raise ParentGone(record.parent)

    async def start(self, tenant: str, id: str, worker: str, answer: bytes) -> Outcome:
        turn = self._turn(tenant, id)
        if turn is None or turn.record.is_final or self._runs[Key(tenant, id)].worker != worker:
            return Outcome.LOST
        self._replace(turn, replace(turn.record, status=Status.IN_PROGRESS, answer=answer))
        return Outcome.DONE

    async def finish(self, tenant: str, record: Record, worker: str, entries: Sequence[str] = ()) -> Outcome:
        shelf, key = self._shelf(tenant), Key(tenant, record.id)
        turn, run = self._turn(tenant, record.id), self._runs.get(key)
        if run is None or run.worker != worker or run.over or turn is None:
            if run is not None and run.worker == worker:
                del self._runs[key]
            return Outcome.DONE if turn is not None and turn.record == record else Outcome.LOST
        talk = self._talk(tenant, record.conversation)
        if talk is not None and talk.lock_response != record.id:
            talk = None
        added = self._locate(shelf, entries, record)
        self._end(tenant, turn, record)
        del self._runs[key]
        if talk is not None:
            self._append(shelf, talk, added)
            self._unlock(talk, record.id)
        return Outcome.DONE

    async def cancel(self, tenant: str, record: Record) -> Record | None:
        turn = self._settled(tenant, record.id)
        if turn is None:
            return None
        if not turn.record.is_final:
            self._end(tenant, turn, record)
        return turn.record

    async def get(self, tenant: str, id: str) -> Record | None:
        turn = self._settled(tenant, id)
        return None if turn is None else turn.record

    async def chain(self, tenant: str, id: str, most: int) -> Sequence[Record] | None:
        turn = self._turn(tenant, id)
        if turn is None or not turn.record.lasting:
            return None
        shelf = self._shelf(tenant)
        found = [turn.record]
        while (parent := turn.record.parent) is not None:
            if len(found) >= most:
                raise RecordUnreadable(f"{id} continues more than {most - 1} responses")
            ancestor = shelf.turns.get(tail_of(parent))
            if ancestor is None or ancestor.record.id != parent:
                raise RecordUnreadable(f"{parent}, which {id} continues, is not there")
            found.append(ancestor.record)
            turn = ancestor
        if turn.seen is not None and (talk := shelf.talks.get(turn.record.conversation or "")) is not None:
            held = [entry for entry in talk.entries if entry.was_there(turn.seen)]
            items = as_list(entry.item for entry in self._entries_of(shelf, held))
            found.append(conversation_as_record(talk.conversation.id, turn.record.created, items))
        return found[::-1]

    async def items(self, tenant: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        shelf, wanted = self._shelf(tenant), WantedItems(ids, self._keeping.read_bytes)
        return {id: item[1] for id in ids if (item := self._item_at(shelf, id, wanted)) is not None}

    async def delete(self, tenant: str, id: str) -> bool | None:
        turn = self._settled(tenant, id)
        if turn is None:
            return None
        if not turn.record.is_final:
            return False
        self._bury(self._shelf(tenant), turn)
        return True

    # ── owners ──

    async def beat(self, worker: str) -> int:
        return self._beat(worker)

    async def leave(self, worker: str) -> None:
        self._workers.pop(worker, None)
        for key in await self.cancelled(worker):
            del self._runs[key]

    async def cancelled(self, worker: str) -> Sequence[Key]:
        return [key for key, run in self._runs.items() if run.worker == worker and run.over]

    async def runs(self, worker: str) -> Sequence[Key]:
        return [key for key, run in self._runs.items() if run.worker == worker and not run.over]

    async def settle(self, most: int) -> Sequence[Key]:
        if not self._may_bury():
            return []
        dead = [key for key, run in self._runs.items() if not run.over and not self._lives(run.worker)]
        for key in dead[:most]:
            self._settled(*key)
        return dead[:most]

    # ── the size of it ──

    async def sweep(self, most: int) -> Swept:
        expired = 0
        for shelf in self._shelves.values():
            for turn in list(shelf.turns.values()):
                if expired < most and not turn.gone and not self._is_there(turn):
                    self._bury(shelf, turn)
                    expired += 1
            for talk in list(shelf.talks.values()):
                if expired < most and not talk.removed and not self._is_kept(talk):
                    self._remove(shelf, talk)
                    expired += 1
        for key, run in list(self._runs.items()):
            if run.over and not self._lives(run.worker):
                del self._runs[key]
        return Swept(expired, self._make_room())

    async def size(self) -> Size:
        turns = [turn for shelf in self._shelves.values() for turn in shelf.turns.values()]
        there = list(filter(self._is_there, turns))
        return Size(
            responses=len(there),
            running=sum(not turn.record.is_final for turn in there),
            conversations=sum(
                self._is_kept(talk) for shelf in self._shelves.values() for talk in shelf.talks.values()
            ),
            bytes=self._bytes,
        )

    async def forget(self, tenant: str) -> int:
        shelf = self._shelves.pop(tenant, TenantShelf())
        self._bytes -= shelf.weight
        for key, run in self._runs.items():
            run.over = run.over or key.tenant == tenant
        turns = filter(self._is_there, shelf.turns.values())
        return len(list(turns)) + sum(map(self._is_kept, shelf.talks.values()))
