"""The steps of conversations."""

from dataclasses import replace
from math import inf

from proxy.core import jsontext
from proxy.core.stored.conversation import Conversation, Entry, Order
from proxy.core.stored.record import Record
from proxy.shell.stores.keys import WantedItems, items_of, tail_of
from proxy.shell.stores.protocol import (
    MOST_ENTRIES,
    AlreadyThere,
    Began,
    ConversationFull,
    FoundConversation,
    Locked,
    RecordUnreadable,
)
from proxy.shell.stores.sealing.seals import BoundTo, Reason, What
from proxy.shell.stores.sql import statements as sql
from proxy.shell.stores.sql.packing import Kept
from proxy.shell.stores.sql.shared_steps import RowBudget, StepsBase
from proxy.shell.stores.sql.step import Step

BEYOND = 1 << 62
"""Above all positions."""


class ConversationSteps(StepsBase):
    def create(self, tenant: str, conversation: Conversation, record: Record | None) -> Step[None]:
        metadata = self._seals.sealed(metadata_of(tenant, conversation.id), conversation.metadata)
        new = (conversation.id, conversation.created, metadata, self._date())
        if (yield sql.CREATE, (tenant, *new)) and record is not None:
            yield from self.add(tenant, conversation.id, record, MOST_ENTRIES)

    def conversation(self, tenant: str, id: str) -> Step[FoundConversation | None]:
        talk = yield from self._talk(tenant, id)
        if talk is None:
            return None
        metadata = self._metadata(tenant, id, talk.conversation.metadata)
        conversation = replace(talk.conversation, metadata=metadata)
        return FoundConversation(conversation, (yield from self._holder(talk)) or None)

    def _metadata(self, tenant: str, id: str, kept: bytes) -> bytes:
        bound_to = metadata_of(tenant, id)
        metadata = self._seals.opened(bound_to, kept)
        try:
            jsontext.loads(metadata)
        except ValueError:
            raise self._seals.unreadable(bound_to, Reason.DAMAGED) from None
        return metadata

    def update(self, tenant: str, id: str, metadata: bytes) -> Step[Conversation | Locked | None]:
        talk = yield from self._talk(tenant, id)
        if talk is None:
            return None
        if holder := (yield from self._free(tenant, talk)):
            return Locked(holder)
        sealed = self._seals.sealed(metadata_of(tenant, id), metadata)
        yield sql.UPDATE, (sealed, self._date(), tenant, id)
        return Conversation(id, talk.conversation.created, metadata)

    def remove(self, tenant: str, id: str) -> Step[bool | Locked]:
        talk = yield from self._talk(tenant, id)
        if talk is None:
            return False
        if holder := (yield from self._free(tenant, talk)):
            return Locked(holder)
        yield from self._remove(tenant, id, RowBudget())
        return True

    def _remove(self, tenant: str, id: str, budget: RowBudget) -> Step[None]:
        yield sql.REMOVE, (tenant, id)
        yield from self._tidy(tenant, (yield from self._prune(tenant, id)), budget)

    def lock(self, tenant: str, id: str, worker: str, response: str) -> Step[Began | Locked | None]:
        talk = yield from self._talk(tenant, id)
        if talk is None:
            return None
        if holder := (yield from self._free(tenant, talk, response)):
            return Locked(holder)
        yield sql.LOCK, (worker, response, self._date(), tenant, id)
        yield from self.beat(worker)
        return Began((yield from self._visible(tenant, id)))

    def unlock(self, tenant: str, id: str, response: str) -> Step[None]:
        yield sql.UNLOCK, (tenant, id, response)

    def entries(self, tenant: str, id: str) -> Step[list[Entry] | None]:
        talk = yield from self._talk(tenant, id)
        return None if talk is None else (yield from self._visible(tenant, id))

    def page(
        self, tenant: str, id: str, order: Order, after: str | None, limit: int
    ) -> Step[list[Entry] | None]:
        if (yield from self._talk(tenant, id)) is None:
            return None
        upward = order is Order.ASCENDING
        beyond = 0 if upward else BEYOND
        if after is not None:
            rows = yield sql.ENTRY_OF, (tenant, id, after)
            if not rows:
                raise KeyError(after)
            beyond = rows[0][0]
        rows = yield sql.PAGE_UP if upward else sql.PAGE_DOWN, (tenant, id, beyond, limit)
        return (yield from self._entries_of(tenant, rows))

    def add(self, tenant: str, id: str, record: Record, most: int) -> Step[list[Entry] | Locked | None]:
        talk = yield from self._talk(tenant, id)
        if talk is None:
            return None
        tail = tail_of(record.id)
        if (yield sql.STATE, (tenant, tail)):
            rows = yield sql.ENTRIES_WITH, (tenant, id, tenant, id, tail)
            return (yield from self._entries_of(tenant, rows))
        if holder := (yield from self._free(tenant, talk)):
            return Locked(holder)
        added, wanted = [], WantedItems(items := items_of(record))
        for item in items:
            if (yield sql.ENTRY_OF, (tenant, id, item)):
                raise AlreadyThere(item)
            found = yield from self._linked_at(tenant, item, wanted)
            added.append((item, found or tail))
        if talk.last + len(added) > most:
            rows = yield sql.COUNT_ENTRIES, (tenant, id)
            if rows[0][0] + len(added) > most:
                raise ConversationFull
        if any(kept_at == tail for _, kept_at in added):
            yield from self._insert(tenant, Kept(record, gone=True, ended=self._date(), seen=None))
        rows = yield from self._append(tenant, talk, added)
        return (yield from self._entries_of(tenant, rows, most_bytes=inf))

    def entry(self, tenant: str, id: str, item: str) -> Step[Entry | None]:
        if (yield from self._talk(tenant, id)) is None:
            return None
        rows = yield sql.ENTRY_OF, (tenant, id, item)
        return next(iter((yield from self._entries_of(tenant, rows))), None)

    def drop(self, tenant: str, id: str, item: str) -> Step[bool | Locked]:
        talk = yield from self._talk(tenant, id)
        if talk is None:
            return False
        if holder := (yield from self._free(tenant, talk)):
            return Locked(holder)
        rows = yield sql.ENTRY_OF, (tenant, id, item)
        if not rows:
            return False
        yield sql.DROP, (talk.version + 1, tenant, id, rows[0][0])
        yield sql.GROWN, (talk.version + 1, talk.last, self._date(), tenant, id)
        yield from self._tidy(tenant, (yield from self._prune(tenant, id)), RowBudget())
        return True

    def _linked_at(self, tenant: str, item: str, wanted: WantedItems) -> Step[str | None]:
        """Where the item is kept already. If that cannot be read, it is kept once more."""
        try:
            found = yield from self._item_at(tenant, item, wanted)
        except RecordUnreadable:
            return None
        return None if found is None else found[0]

    def _visible(self, tenant: str, id: str) -> Step[list[Entry]]:
        return (yield from self._entries_of(tenant, (yield sql.ENTRIES, (tenant, id))))


def metadata_of(tenant: str, id: str) -> BoundTo:
    return BoundTo(What.CONVERSATION, tenant, id, "metadata")
