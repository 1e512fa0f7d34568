"""What several steps share: who lives, what can be read, and what holds a response that was deleted."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import Final

from proxy.core import ids
from proxy.core.stored import endings
from proxy.core.stored.conversation import Conversation, Entry
from proxy.core.stored.record import Record
from proxy.shell.stores.keys import WantedItems, foreign_ids, items_of, tail_of
from proxy.shell.stores.protocol import RecordUnreadable, TooMuchKept
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql import statements as sql
from proxy.shell.stores.sql.packing import ANSWER, STREAMED, Kept, Packing, checksum_without_answer, state_of
from proxy.shell.stores.sql.step import Rows, Step
from proxy.shell.stores.terms import BRIEF_SECONDS, LEASE_SECONDS, Clock, Keeping, always, lives_between

NEVER: Final = -(1 << 62)
"""Before all dates."""


MOST_TIDIED: Final = 100
"""Rows that one step looks at when it deletes: some ten milliseconds. A long chain goes at once when its end does."""

GONE: Final = 1
IN_DOUBT: Final = 2
"""Gone, and the next sweep looks whether anything still needs it."""


@dataclass(slots=True)
class RowBudget:
    """How many rows a step may still look at."""

    left: int = MOST_TIDIED
    freed: int = 0
    """How many bytes are kept no more."""


@dataclass(slots=True, frozen=True)
class ConversationRow:
    """A conversation, and what the engine knows of it besides."""

    conversation: Conversation
    touched: int
    version: int
    last: int
    """The position of its newest entry, which may be gone."""
    locked_by: str
    lock_response: str


class StepsBase:
    def __init__(
        self,
        clock: Clock,
        keeping: Keeping,
        may_bury: Callable[[], bool] = always,
        seals: Seals = NO_SEALS,
    ) -> None:
        self._clock = clock
        self._keeping = keeping
        self._may_bury = may_bury
        self._seals = seals
        self._packing = Packing(seals)

    def _date(self) -> int:
        return int(self._clock.date())

    def _horizon(self, lasting: bool) -> int:
        """What ended then or before has expired."""
        return floor(self._clock.date() - (self._keeping.response_seconds if lasting else BRIEF_SECONDS))

    def _talk_horizon(self) -> int:
        seconds = self._keeping.conversation_seconds
        return NEVER if seconds is None else floor(self._clock.date() - seconds)

    # ── workers ──

    def _lease(self) -> tuple[float, float]:
        """Between which times a living worker's lease ends."""
        return lives_between(self._clock.steady())

    def _lives(self, worker: str) -> Step[bool]:
        return bool((yield sql.LIVES, (worker, *self._lease())))

    def beat(self, worker: str) -> Step[int]:
        yield sql.BEAT, (worker, self._clock.steady() + LEASE_SECONDS)
        rows = yield sql.LIVING, self._lease()
        return int(rows[0][0])

    # ── responses ──

    def _kept(self, tenant: str, tail: str) -> Step[Kept | None]:
        rows = yield sql.FIND, (tenant, tail)
        return self._packing.kept_from(tenant, rows[0]) if rows else None

    def _turn(self, tenant: str, id: str) -> Step[Kept | None]:
        """A response that can be read."""
        rows = yield sql.FIND, (tenant, tail_of(id))
        if not rows:
            return None
        found, gone, ended, lasting = state_of(rows[0])
        if found != id or not self._is_there(gone, ended, lasting):
            return None
        return self._packing.kept_from(tenant, rows[0])

    def _is_there(self, gone: bool, ended: int | None, lasting: bool) -> bool:
        return not gone and (ended is None or ended > self._horizon(lasting))

    def settled(self, tenant: str, id: str) -> Step[Kept | None]:
        """Returns what `_turn` does, after ending it if its worker is dead."""
        kept = yield from self._turn(tenant, id)
        if kept is not None and (yield from self._is_orphan(tenant, kept)):
            record = endings.orphaned(kept.record)
            return replace(kept, record=record, ended=(yield from self._end(tenant, record)))
        return kept

    def _is_orphan(self, tenant: str, kept: Kept) -> Step[bool]:
        return not kept.record.is_final and (yield from self._is_left(tenant, kept.record.id))

    def _is_left(self, tenant: str, id: str) -> Step[bool]:
        """Is the worker dead that has begun it?"""
        if not self._may_bury():
            return False
        rows = yield sql.RUN_OF, (tenant, tail_of(id))
        return not (yield from self._lives(rows[0][0] if rows else ""))

    def _insert(self, tenant: str, kept: Kept) -> Step[None]:
        tail = tail_of(kept.record.id)
        yield sql.INSERT, (tenant, tail, *self._packing.row_of(tenant, kept))
        yield from self._know_items(tenant, tail, kept.record)

    def _replace(self, tenant: str, record: Record, ended: int | None) -> Step[None]:
        packed = self._packing.packed(tenant, record)
        what = (str(record.status), STREAMED[record.streamed], *packed, ended)
        yield sql.REPLACE, (*what, tenant, tail_of(record.id))

    def _end(self, tenant: str, record: Record) -> Step[int]:
        """Ends work under way, and gives up its conversation; its worker will be told. When that was."""
        ended, tail = self._date(), tail_of(record.id)
        yield from self._replace(tenant, record, ended)
        yield from self._know_items(tenant, tail, record)
        yield sql.RUN_OVER, (tenant, tail)
        if record.conversation is not None:
            yield sql.UNLOCK, (tenant, record.conversation, record.id)
        return ended

    def _end_unread(self, tenant: str, id: str) -> Step[None]:
        """Ends what cannot be read here. Its row stays as it is, for whoever can read it, and expires as others do."""
        tail = tail_of(id)
        rows = yield sql.LINKS, (tenant, tail)
        yield sql.END_UNREAD, (self._date(), tenant, tail)
        yield sql.RUN_OVER, (tenant, tail)
        if rows and rows[0][3] is not None:
            yield sql.UNLOCK, (tenant, rows[0][3], id)

    def _bury(self, tenant: str, tail: str, budget: RowBudget) -> Step[None]:
        """Deletes a response, and what it alone held. One that cannot be read is deleted as well."""
        rows = yield sql.FIND, (tenant, tail)
        empty = checksum_without_answer(rows[0]) if rows else 0
        budget.freed += len(rows[0][ANSWER]) if rows else 0
        yield sql.BURY, (b"", empty, tenant, tail)
        yield from self._tidy(tenant, [tail], budget)

    def _tidy(self, tenant: str, doubtful: list[str], budget: RowBudget) -> Step[None]:
        """Takes away the deleted responses among these that nothing needs, and what they alone held."""
        while doubtful and budget.left > 0:
            budget.left -= 1
            tail = doubtful.pop()
            rows = yield sql.LINKS, (tenant, tail)
            if not rows or not rows[0][0]:
                continue
            _, id, parent, conversation, seen, weight = rows[0]
            if (yield sql.CHILDREN, (tenant, id)):
                continue
            if seen is not None:
                yield sql.FORGET_SEEN, (tenant, tail)
                doubtful += yield from self._prune(tenant, conversation)
            if (yield sql.HOLDS, (tenant, tail)):
                continue
            yield sql.ERASE, (tenant, tail)
            budget.freed += weight
            yield sql.FORGET_ITEMS, (tenant, tail)
            if parent is not None:
                doubtful.append(tail_of(parent))
        for tail in doubtful:
            yield sql.DOUBT, (IN_DOUBT, tenant, tail)

    def _prune(self, tenant: str, conversation: str) -> Step[list[str]]:
        """Takes away the entries that nobody sees and nobody began with; the responses that had them."""
        rows = yield sql.PRUNE, (tenant, conversation)
        return [row[0] for row in rows]

    # ── items ──

    def _know_items(self, tenant: str, tail: str, record: Record) -> Step[None]:
        for item in foreign_ids(tail, record):
            yield sql.KNOW_ITEM, (tenant, item, tail)

    def _item_at(self, tenant: str, item: str, wanted: WantedItems) -> Step[tuple[str, bytes] | None]:
        """Where an item is kept that somebody may still use, and the item."""
        own = ids.tail_of(item)
        if own is not None and item in (yield from self._usable(tenant, own, wanted)):
            return own, wanted.at[own][item]
        for (tail,) in (yield sql.ITEM_AT, (tenant, item)):
            if item in (yield from self._usable(tenant, tail, wanted)):
                return tail, wanted.at[tail][item]
        return None

    def _usable(self, tenant: str, tail: str, wanted: WantedItems) -> Step[Mapping[str, bytes]]:
        """The wanted items that are kept there, if somebody may still use them."""
        if tail not in wanted.at:
            kept = yield from self._kept(tenant, tail)
            usable = kept is not None and (yield from self._is_usable(tenant, kept))
            wanted.read(tail, kept.record if kept is not None and usable else None)
        return wanted.at[tail]

    def _is_usable(self, tenant: str, kept: Kept) -> Step[bool]:
        if not kept.record.lasting:
            return False
        there = self._is_there(kept.gone, kept.ended, lasting=True)
        return there or (yield from self._is_needed(tenant, kept))

    def _is_needed(self, tenant: str, kept: Kept) -> Step[bool]:
        """Does a response that can be read, or a conversation, hold this one?"""
        tail = tail_of(kept.record.id)
        doubtful, known = [tail], {tail}
        while doubtful:
            tail = doubtful.pop()
            rows = yield sql.STATE, (tenant, tail)
            if rows and not rows[0][1] and (rows[0][2] is None or rows[0][2] > self._horizon(rows[0][3])):
                return True
            later: Rows = yield sql.CHILDREN, (tenant, rows[0][0] if rows else "")
            for conversation, added, dropped in (yield sql.HOLDERS, (tenant, tail)):
                if dropped is None and (yield from self._talk(tenant, conversation)) is not None:
                    return True
                later += yield sql.BEGAN_WITH, (tenant, conversation, added, dropped, dropped)
            new = {row[0] for row in later} - known
            doubtful += new
            known |= new
        return False

    # ── conversations ──

    def _talk(self, tenant: str, id: str | None) -> Step[ConversationRow | None]:
        rows = yield sql.FIND_TALK, (tenant, id or "")
        if not rows or rows[0][2] <= self._talk_horizon():
            return None
        created, meta, *rest = rows[0]
        return ConversationRow(Conversation(id or "", created, meta), *rest)

    def _holder(self, talk: ConversationRow, but: str = "") -> Step[str]:
        """The other response that works on it."""
        if talk.lock_response in ("", but):
            return ""
        dead = self._may_bury() and not (yield from self._lives(talk.locked_by))
        return "" if dead else talk.lock_response

    def _free(self, tenant: str, talk: ConversationRow, but: str = "") -> Step[str]:
        """Returns who works on it, for a caller that is about to change it. What a dead worker left is ended, so that
        it cannot come late."""
        holder = yield from self._holder(talk, but)
        if not holder and talk.lock_response not in ("", but):
            try:
                yield from self.settled(tenant, talk.lock_response)
            except RecordUnreadable:
                yield from self._end_unread(tenant, talk.lock_response)
            yield sql.UNLOCK, (tenant, talk.conversation.id, talk.lock_response)
        return holder

    def _append(self, tenant: str, talk: ConversationRow, items: Iterable[tuple[str, str]]) -> Step[Rows]:
        """The new entries (position, item, response), without items that are there already."""
        id, position = talk.conversation.id, talk.last
        there = {row[1] for row in (yield sql.ENTRIES, (tenant, id))} if talk.last else set()
        added: Rows = []
        for item, tail in dict(items).items():
            if item not in there:
                position += 1
                yield sql.APPEND, (tenant, id, position, item, tail, talk.version + 1)
                added.append((position, item, tail))
        yield sql.GROWN, (talk.version + 1, position, self._date(), tenant, id)
        return added

    def _entries_of(self, tenant: str, rows: Rows, most_bytes: float | None = None) -> Step[list[Entry]]:
        """`most_bytes`: of the records in which they lie; None: as much as may be read at a time."""
        items: dict[str, dict[str, bytes]] = {}
        found, left = [], self._keeping.read_bytes if most_bytes is None else most_bytes
        for position, item, tail in rows:
            if tail not in items:
                kept = yield from self._kept(tenant, tail)
                if kept is None:
                    raise RecordUnreadable(f"the response with {item} is not there")
                left -= len(kept.record.input) + len(kept.record.output)
                if left < 0:
                    raise TooMuchKept
                items[tail] = items_of(kept.record)
            found.append(Entry(position, item, items[tail][item]))
        return found
