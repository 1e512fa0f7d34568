"""Conversations and their items: made, read, changed and deleted by their clients. Turns in them go another way."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from proxy.core import jsontext
from proxy.core.ids import Mint, family_of, may_be_conversation
from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Loan
from proxy.core.stored import faults, pages
from proxy.core.stored.answers import conversation_object, deleted_conversation
from proxy.core.stored.conversation import Conversation, Entry
from proxy.core.stored.private import public_item
from proxy.core.stored.queries import Query, included
from proxy.core.stored.record import Record, Status
from proxy.core.stored.references import referred, resolved
from proxy.core.surfaces.responses.conversations import (
    kept_in_conversation,
    new_conversation,
    new_items,
    new_metadata,
)
from proxy.shell.http.answers import JSON, HttpAnswer, answer, text
from proxy.shell.serving.bodies import Bodies
from proxy.shell.serving.handlers import Incoming
from proxy.shell.serving.lookups import Lookups
from proxy.shell.stores.protocol import MOST_ENTRIES, AlreadyThere, ConversationFull, Locked, Records

Given = TypeVar("Given")


class Conversations:
    def __init__(
        self,
        records: Records | None,
        bodies: Bodies,
        lookups: Lookups,
        mint: Mint,
        now: Callable[[], float],
    ) -> None:
        """`records`: None if nothing is kept; then there is no conversation."""
        self._records = records
        self._bodies = bodies
        self._lookups = lookups
        self._mint = mint
        self._now = now

    # ── conversations ──

    async def create(self, incoming: Incoming) -> HttpAnswer:
        records = self._records
        if records is None:
            raise faults.no_conversation_is_kept()
        tenant, ledger = incoming.tenant.name, _ledger(incoming)
        with self._bodies.loan(incoming.owner) as loan:
            asked = new_conversation(await self._bodies.read_if_any(incoming.request, loan, ledger))
            made = Conversation(self._mint.conversation(), int(self._now()), jsontext.dumps(asked.metadata))
            record = await self._record_of(asked.items, made.id, records, tenant, ledger)
            await records.create(tenant, made, record if asked.items else None)
        return answer(conversation_object(made), incoming.id)

    async def retrieve(self, incoming: Incoming, id: str) -> HttpAnswer:
        found = await self._found(self._records_for(id), incoming, id)
        return answer(conversation_object(found), incoming.id)

    async def update(self, incoming: Incoming, id: str) -> HttpAnswer:
        records = self._records_for(id)
        with self._bodies.loan(incoming.owner) as loan:
            body = await self._bodies.read(incoming.request, loan, _ledger(incoming))
        metadata = jsontext.dumps(new_metadata(body))
        changed = _done(await records.update(incoming.tenant.name, id, metadata), id)
        return answer(conversation_object(changed), incoming.id)

    async def delete(self, incoming: Incoming, id: str) -> HttpAnswer:
        _done(await self._records_for(id).remove(incoming.tenant.name, id) or None, id)
        return answer(deleted_conversation(id), incoming.id)

    # ── their items ──

    async def items(self, incoming: Incoming, id: str) -> HttpAnswer:
        records, wish = self._records_for(id), pages.page_wish(Query(incoming.request.query.items()))
        with self._lookups.question(incoming.owner) as loan:
            try:
                found = await records.page(incoming.tenant.name, id, wish.reading, wish.cursor, wish.most)
            except KeyError:
                raise wish.unknown() from None
            return await self._listed(incoming, _done(found, id), partial(pages.page, wish), loan)

    async def add(self, incoming: Incoming, id: str) -> HttpAnswer:
        records = self._records_for(id)
        included(Query(incoming.request.query.items()))
        tenant, ledger = incoming.tenant.name, _ledger(incoming)
        with self._bodies.loan(incoming.owner) as loan:
            items = new_items(await self._bodies.read(incoming.request, loan, ledger))
            await self._found(records, incoming, id)
            record = await self._record_of(items, id, records, tenant, ledger)
            try:
                added = await records.add(tenant, id, record, MOST_ENTRIES)
            except AlreadyThere:
                raise faults.already_in_conversation() from None
            except ConversationFull:
                raise faults.too_many_in_conversation(len(items), MOST_ENTRIES) from None
            return await self._listed(incoming, _done(added, id), pages.listing, loan)

    async def item(self, incoming: Incoming, id: str, item: str) -> HttpAnswer:
        records = self._records_for(id)
        included(Query(incoming.request.query.items()))
        with self._lookups.question(incoming.owner) as loan:
            entry = await records.entry(incoming.tenant.name, id, item)
            if entry is None:
                await self._found(records, incoming, id)
                raise faults.not_in_conversation(item)
            loan.take(len(entry.item))
            return text(public_item(entry.item), JSON, incoming.id)

    async def drop(self, incoming: Incoming, id: str, item: str) -> HttpAnswer:
        """Answers with the conversation, which is what published clients expect."""
        records = self._records_for(id)
        dropped = _done(await records.drop(incoming.tenant.name, id, item), id)
        conversation = await self._found(records, incoming, id)
        if not dropped:
            raise faults.not_in_conversation(item)
        return answer(conversation_object(conversation), incoming.id)

    # ── looking up ──

    def _records_for(self, id: str) -> Records:
        """Where such an id is looked up: nowhere, if it is none of a conversation."""
        if self._records is None or not may_be_conversation(id):
            raise faults.conversation_not_found(id)
        return self._records

    async def _found(self, records: Records, incoming: Incoming, id: str) -> Conversation:
        return _done(await records.conversation(incoming.tenant.name, id), id).conversation

    # ── keeping and telling ──

    async def _record_of(
        self, items: list[Any], conversation: str, records: Records, tenant: str, ledger: Ledger
    ) -> Record:
        """The items as a record without an answer: they are kept as those of a response are."""
        id = self._mint.response(family_of(conversation))
        wanted = referred(items)
        known = await records.items(tenant, wanted) if wanted else {}

        def kept() -> bytes:
            own = resolved(items, known, [], None, ledger)
            return jsontext.dumps(kept_in_conversation(own, self._mint.items_of(id), ledger))

        found = await self._bodies.threads.run(kept, ledger)
        return Record(id, Status.COMPLETED, int(self._now()), model="", input=found)

    async def _listed(
        self,
        incoming: Incoming,
        entries: Sequence[Entry],
        part: Callable[[list[pages.Listed]], bytes],
        loan: Loan,
    ) -> HttpAnswer:
        size = sum(len(entry.item) for entry in entries)
        loan.take(size)
        listed = await self._bodies.threads.work_on(
            size, lambda: part(pages.listed_entries(entries)), incoming.owner
        )
        return text(listed, JSON, incoming.id)


def _ledger(incoming: Incoming) -> Ledger:
    ledger = Ledger()
    ledger.work.owner = incoming.owner
    return ledger


def _done(given: Given | Locked | None, id: str) -> Given:
    """What the store has given. Raises the fault of a conversation that is unknown, or at work."""
    if given is None:
        raise faults.conversation_not_found(id)
    if isinstance(given, Locked):
        raise faults.conversation_locked()
    return given
