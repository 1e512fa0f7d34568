"""Conversations in the memory of one process."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from proxy.core.stored.conversation import Conversation, Entry, Order
from proxy.core.stored.record import Record
from proxy.shell.stores.keys import WantedItems, items_of, tail_of
from proxy.shell.stores.memory.shelf import ConversationShelf, KeptTurn
from proxy.shell.stores.memory.state import MemoryBase
from proxy.shell.stores.protocol import (
    MOST_ENTRIES,
    AlreadyThere,
    Began,
    ConversationFull,
    FoundConversation,
    Locked,
)


class MemoryConversations(MemoryBase):
    async def create(self, tenant: str, conversation: Conversation, record: Record | None = None) -> None:
        talks = self._shelf(tenant).talks
        if conversation.id not in talks:
            talks[conversation.id] = ConversationShelf(conversation, self._date())
            if record is not None:
                await self.add(tenant, conversation.id, record)

    async def conversation(self, tenant: str, id: str) -> FoundConversation | None:
        talk = self._talk(tenant, id)
        return None if talk is None else FoundConversation(talk.conversation, self._holder(talk) or None)

    async def update(self, tenant: str, id: str, metadata: bytes) -> Conversation | Locked | None:
        talk = self._talk(tenant, id)
        if talk is None:
            return None
        if holder := self._free(tenant, talk):
            return Locked(holder)
        talk.conversation = replace(talk.conversation, metadata=metadata)
        talk.touched = self._date()
        return talk.conversation

    async def remove(self, tenant: str, id: str) -> bool | Locked:
        talk = self._talk(tenant, id)
        if talk is None:
            return False
        if holder := self._free(tenant, talk):
            return Locked(holder)
        self._remove(self._shelf(tenant), talk)
        return True

    async def lock(self, tenant: str, id: str, worker: str, response: str) -> Began | Locked | None:
        talk = self._talk(tenant, id)
        if talk is None:
            return None
        if holder := self._free(tenant, talk, response):
            return Locked(holder)
        entries = self._entries_of(self._shelf(tenant), talk.visible)
        self._lock(talk, worker, response)
        self._beat(worker)
        return Began(entries)

    async def unlock(self, tenant: str, id: str, response: str) -> None:
        if talk := self._talk(tenant, id):
            self._unlock(talk, response)

    async def entries(self, tenant: str, id: str) -> Sequence[Entry] | None:
        talk = self._talk(tenant, id)
        return None if talk is None else self._entries_of(self._shelf(tenant), talk.visible)

    async def page(
        self, tenant: str, id: str, order: Order, after: str | None, limit: int
    ) -> Sequence[Entry] | None:
        talk = self._talk(tenant, id)
        if talk is None:
            return None
        placed = talk.visible if order is Order.ASCENDING else talk.visible[::-1]
        if after is not None:
            indexes = {entry.item: index for index, entry in enumerate(placed)}
            placed = placed[indexes[after] + 1 :]
        return self._entries_of(self._shelf(tenant), placed[:limit])

    async def add(
        self, tenant: str, id: str, record: Record, most: int = MOST_ENTRIES
    ) -> Sequence[Entry] | Locked | None:
        talk = self._talk(tenant, id)
        if talk is None:
            return None
        shelf, tail = self._shelf(tenant), tail_of(record.id)
        if tail in shelf.turns:
            versions = {entry.added for entry in talk.visible if entry.tail == tail}
            return self._entries_of(shelf, [entry for entry in talk.visible if entry.added in versions])
        if holder := self._free(tenant, talk):
            return Locked(holder)
        there = {entry.item for entry in talk.visible}
        added, wanted = [], WantedItems(items := items_of(record))
        for item in items:
            if item in there:
                raise AlreadyThere(item)
            found = self._item_at(shelf, item, wanted)
            added.append((item, tail if found is None else found[0]))
        if len(there) + len(added) > most:
            raise ConversationFull
        if any(kept_at == tail for _, kept_at in added):
            self._put(shelf, KeptTurn(replace(record, conversation=None), ended=self._date(), gone=True))
        return self._entries_of(shelf, self._append(shelf, talk, added), most_bytes=inf)

    async def entry(self, tenant: str, id: str, item: str) -> Entry | None:
        talk = self._talk(tenant, id)
        placed = [] if talk is None else [entry for entry in talk.visible if entry.item == item]
        return next(iter(self._entries_of(self._shelf(tenant), placed)), None)

    async def drop(self, tenant: str, id: str, item: str) -> bool | Locked:
        talk = self._talk(tenant, id)
        if talk is None:
            return False
        if holder := self._free(tenant, talk):
            return Locked(holder)
        placed = next((entry for entry in talk.visible if entry.item == item), None)
        if placed is None:
            return False
        talk.version += 1
        placed.dropped = talk.version
        talk.touched = self._date()
        self._prune(self._shelf(tenant), talk)
        return True
