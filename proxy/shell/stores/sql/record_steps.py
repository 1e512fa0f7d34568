"""The steps of responses and of those who work on them."""

from collections.abc import Sequence
from dataclasses import replace

from proxy.core.stored import endings
from proxy.core.stored.record import Record, Status, conversation_as_record
from proxy.shell.stores.keys import WantedItems, as_list, items_of, tail_of
from proxy.shell.stores.protocol import Began, Key, Locked, Outcome, ParentGone, RecordUnreadable, Size, Swept
from proxy.shell.stores.sql import statements as sql
from proxy.shell.stores.sql.conversation_steps import ConversationSteps
from proxy.shell.stores.sql.packing import Kept
from proxy.shell.stores.sql.room_steps import Room, RoomSteps
from proxy.shell.stores.sql.shared_steps import GONE, RowBudget
from proxy.shell.stores.sql.step import Step


class RecordSteps(ConversationSteps, RoomSteps):
    def save(self, tenant: str, record: Record, entries: Sequence[str], worker: str) -> Step[Outcome]:
        yield from self._check_parent(tenant, record)
        if (
            record.conversation is None and not entries
        ):  # most of them: one statement, once more changes nothing
            yield from self._insert(tenant, Kept(record, gone=False, ended=self._date(), seen=None))
            return Outcome.DONE
        if (yield sql.STATE, (tenant, tail_of(record.id))):
            return Outcome.DONE
        talk = None
        if record.conversation is not None:
            talk = yield from self._talk(tenant, record.conversation)
            if worker and (talk is None or (talk.locked_by, talk.lock_response) != (worker, record.id)):
                return Outcome.LOST
        added = yield from self._locate(tenant, entries, record)
        seen = None if talk is None else talk.version
        yield from self._insert(tenant, Kept(record, gone=False, ended=self._date(), seen=seen))
        if talk is not None:
            yield from self._append(tenant, talk, added)
            yield sql.UNLOCK, (tenant, talk.conversation.id, record.id)
        return Outcome.DONE

    def begin(self, tenant: str, record: Record, worker: str) -> Step[Began | Locked | None]:
        talk = None
        if record.conversation is not None:
            talk = yield from self._talk(tenant, record.conversation)
            if talk is None:
                return None
            if holder := (yield from self._free(tenant, talk, record.id)):
                return Locked(holder)
        if not (yield sql.STATE, (tenant, tail_of(record.id))):
            yield from self._check_parent(tenant, record)
            if talk is not None:
                yield sql.LOCK, (worker, record.id, self._date(), tenant, talk.conversation.id)
            yield from self.beat(worker)
            yield sql.RUN, (tenant, tail_of(record.id), record.id, worker)
            seen = None if talk is None else talk.version
            yield from self._insert(tenant, Kept(record, gone=False, ended=None, seen=seen))
        return Began(())

    def _check_parent(self, tenant: str, record: Record) -> Step[None]:
        if record.parent is not None and not (yield sql.STATE, (tenant, tail_of(record.parent))):
            raise ParentGone(record.parent)

    def start(self, tenant: str, id: str, worker: str, answer: bytes) -> Step[Outcome]:
        kept = yield from self._turn(tenant, id)
        if kept is None or kept.record.is_final or (yield from self._run(tenant, id)) != (worker, 0):
            return Outcome.LOST
        record = replace(kept.record, status=Status.IN_PROGRESS, answer=answer)
        yield from self._replace(tenant, record, None)
        return Outcome.DONE

    def finish(self, tenant: str, record: Record, worker: str, entries: Sequence[str]) -> Step[Outcome]:
        tail = tail_of(record.id)
        if not (yield from self._is_at_work(tenant, record.id, worker)):
            is_done = yield from self._is_kept_as(tenant, record)
            yield sql.RUN_HEARD, (tenant, tail, worker)
            return Outcome.DONE if is_done else Outcome.LOST
        talk = None
        if record.conversation is not None:
            talk = yield from self._talk(tenant, record.conversation)
            if talk is not None and talk.lock_response != record.id:
                talk = None
        added = yield from self._locate(tenant, entries, record)
        yield from self._end(tenant, record)
        yield sql.RUN_HEARD, (tenant, tail, worker)
        if talk is not None:
            yield from self._append(tenant, talk, added)
        return Outcome.DONE

    def _is_at_work(self, tenant: str, id: str, worker: str) -> Step[bool]:
        """What is kept of it so far need not be read for that."""
        if (yield from self._run(tenant, id)) != (worker, 0):
            return False
        rows = yield sql.STATE, (tenant, tail_of(id))
        return bool(rows) and rows[0][0] == id and not rows[0][1]

    def _is_kept_as(self, tenant: str, record: Record) -> Step[bool]:
        try:
            kept = yield from self._turn(tenant, record.id)
        except RecordUnreadable:
            return False
        return kept is not None and kept.record == record

    def cancel(self, tenant: str, record: Record) -> Step[Record | None]:
        kept = yield from self.settled(tenant, record.id)
        if kept is None:
            return None
        if kept.record.is_final:
            return kept.record
        yield from self._end(tenant, record)
        return record

    def get(self, tenant: str, id: str) -> Step[tuple[Record, bool] | None]:
        """The record, and whether it must be settled first."""
        kept = yield from self._turn(tenant, id)
        return None if kept is None else (kept.record, (yield from self._is_orphan(tenant, kept)))

    def chain(self, tenant: str, id: str, most: int) -> Step[Sequence[Record] | None]:
        kept = yield from self._turn(tenant, id)
        if kept is None or not kept.record.lasting:
            return None
        found = [kept.record]
        while (parent := kept.record.parent) is not None:
            if len(found) >= most:
                raise RecordUnreadable(f"{id} continues more than {most - 1} responses")
            ancestor = yield from self._kept(tenant, tail_of(parent))
            if ancestor is None or ancestor.record.id != parent:
                raise RecordUnreadable(f"{parent}, which {id} continues, is not there")
            kept = ancestor
            found.append(kept.record)
        first = kept.record
        if kept.seen is not None and first.conversation is not None:
            rows = yield sql.ENTRIES_THEN, (tenant, first.conversation, kept.seen, kept.seen)
            held = yield from self._entries_of(tenant, rows)
            items = as_list(entry.item for entry in held)
            found.append(conversation_as_record(first.conversation, first.created, items))
        return found[::-1]

    def items(self, tenant: str, ids: Sequence[str]) -> Step[dict[str, bytes]]:
        found, wanted = {}, WantedItems(ids, self._keeping.read_bytes)
        for id in ids:
            if (item := (yield from self._item_at(tenant, id, wanted))) is not None:
                found[id] = item[1]
        return found

    def delete(self, tenant: str, id: str) -> Step[bool | None]:
        try:
            kept = yield from self.settled(tenant, id)
        except RecordUnreadable:
            return (yield from self._delete_unread(tenant, id))
        if kept is None:
            return None
        if kept.record.is_final:
            yield from self._bury(tenant, tail_of(id), RowBudget())
        return kept.record.is_final

    def _delete_unread(self, tenant: str, id: str) -> Step[bool]:
        """Nobody needs a key to have something deleted."""
        _, _, ended, _ = (yield sql.STATE, (tenant, tail_of(id)))[0]
        if ended is None and not (yield from self._is_left(tenant, id)):
            return False
        yield from self._bury(tenant, tail_of(id), RowBudget())
        return True

    def _run(self, tenant: str, id: str) -> Step[tuple[str, int] | None]:
        """Who works on it, and whether that was ended by somebody else."""
        rows = yield sql.RUN_OF, (tenant, tail_of(id))
        return (rows[0][0], rows[0][1]) if rows else None

    def _locate(self, tenant: str, items: Sequence[str], record: Record) -> Step[list[tuple[str, str]]]:
        """Each item with the response that keeps it: this one, or another."""
        own = items_of(record) if items else {}
        located, wanted = [], WantedItems(items)
        for item in items:
            found = None if item in own else (yield from self._item_at(tenant, item, wanted))
            if found is None and item not in own:
                raise KeyError(item)
            located.append((item, tail_of(record.id) if found is None else found[0]))
        return located

    # ── owners ──

    def leave(self, worker: str) -> Step[None]:
        yield sql.LEAVE, (worker,)
        yield sql.RUNS_HEARD, (worker,)

    def runs(self, worker: str, over: bool) -> Step[list[Key]]:
        rows = yield sql.RUNS, (worker, int(over))
        return [Key(*row) for row in rows]

    def dead(self, most: int) -> Step[list[Key]]:
        """What dead workers have begun."""
        if not self._may_bury():
            return []
        rows = yield sql.DEAD_RUNS, (*self._lease(), most)
        return [Key(*row) for row in rows]

    def settle(self, most: int) -> Step[list[Key]]:
        dead = yield from self.dead(most)
        for tenant, id in dead:
            try:
                kept = yield from self._turn(tenant, id)
            except RecordUnreadable:
                yield from self._end_unread(tenant, id)
                continue
            if kept is None:
                yield sql.RUN_OVER, (tenant, tail_of(id))
            else:
                yield from self._end(tenant, endings.orphaned(kept.record))
        return dead

    # ── the size of it ──

    def sweep(self, most: int, used_bytes: int, room: Room | None) -> Step[tuple[Swept, Room | None]]:
        budget = RowBudget()
        doubtful = yield sql.DOUBTFUL, (most,)
        for tenant, tail in doubtful:
            yield sql.DOUBT, (GONE, tenant, tail)
            yield from self._tidy(tenant, [tail], budget)
        expired = 0
        for lasting in (True, False):
            rows = yield sql.EXPIRED, (int(lasting), self._horizon(lasting), most - expired)
            for tenant, tail in rows:
                yield from self._bury(tenant, tail, budget)
            expired += len(rows)
        rows = yield sql.UNUSED, (self._talk_horizon(), most - expired)
        for tenant, id in rows:
            yield from self._remove(tenant, id, budget)
        yield sql.FORGET_DEAD_RUNS, self._lease()
        yield sql.FORGET_DEAD, self._lease()
        made = yield from self._make_room(used_bytes, most, budget, room)
        return Swept(expired + len(rows), made.deleted, len(doubtful)), made.room

    def size(self) -> Step[Size]:
        """Without the bytes, of which the engine knows more."""
        rows = yield sql.COUNT, (self._horizon(True), self._horizon(False))
        talks = yield sql.COUNT_TALKS, (self._talk_horizon(),)
        responses, running = rows[0]
        return Size(responses, running, talks[0][0], bytes=0)

    def count_of(self, tenant: str) -> Step[int]:
        rows = yield sql.COUNT_OF_TENANT, (self._horizon(True), self._horizon(False), tenant)
        talks = yield sql.COUNT_TALKS_OF_TENANT, (self._talk_horizon(), tenant)
        return int(rows[0][0] + talks[0][0])

    def forget(self, tenant: str, most: int) -> Step[int]:
        """Deletes so many rows of the tenant at most; how many. Whoever works for it will be told."""
        yield sql.RUNS_OVER, (tenant,)
        left = most
        for statement in sql.FORGET_TENANT:
            left -= len((yield statement, (tenant, tenant, left)))
        return most - left
