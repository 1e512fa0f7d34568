"""Responses that are kept, for those who have their ids: read, cancelled, deleted, and what they were asked."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from proxy.core.ids import may_be_response
from proxy.core.policy.shares import Loan
from proxy.core.stored import endings, faults, pages
from proxy.core.stored.answers import deleted_response, response_object
from proxy.core.stored.queries import Query, retrieval
from proxy.core.stored.record import Record, Status
from proxy.core.stored.so_far import OutputSoFar
from proxy.shell.http.answers import JSON, HttpAnswer, HttpRequest, answer, text
from proxy.shell.http.stream import HttpStream
from proxy.shell.offload.threads import WorkThreads
from proxy.shell.runs.runs import Runs
from proxy.shell.serving.handlers import Incoming
from proxy.shell.serving.lookups import Lookups
from proxy.shell.stores.protocol import Records

MOST_TURNS = 10_000
"""Turns of one chain that are read: more than any conversation has. Nobody may have the store read for ever."""

Made = TypeVar("Made")


class StoredResponses:
    def __init__(
        self,
        records: Records | None,
        threads: WorkThreads,
        runs: Runs | None = None,
        open_stream: Callable[[HttpRequest, str], HttpStream] | None = None,
        *,
        lookups: Lookups,
    ) -> None:
        """`records`: None if nothing is kept; then no id is known. `runs` and `open_stream`: None where nothing goes
        on in the background."""
        self._records = records
        self._threads = threads
        self._runs = runs
        self._open_stream = open_stream
        self._lookups = lookups

    async def retrieve(self, incoming: Incoming, id: str) -> HttpAnswer:
        wish = retrieval(Query(incoming.request.query.items()))
        with self._lookups.question(incoming.owner) as loan:
            record = await self._found(self._records_for(id), incoming, id, loan)
            if not wish.stream:
                return await self._as_it_is(incoming, record, loan)
            if refusal := faults.cannot_stream(record):
                raise refusal
        return await self._streamed(incoming, record, wish.after)

    async def _as_it_is(self, incoming: Incoming, record: Record, loan: Loan) -> HttpAnswer:
        if self._runs is None or record.is_final:
            return await self._answer(incoming, record)
        events = await self._runs.said(incoming.tenant.name, record)
        loan.take(sum(map(len, events)))
        finished = await self._so_far(incoming, events, OutputSoFar.finished) if events else None
        return await self._answer(incoming, record, finished)

    async def _streamed(self, incoming: Incoming, record: Record, after: int) -> HttpAnswer:
        if self._runs is None or self._open_stream is None:
            raise faults.events_are_gone()
        with self._lookups.following(incoming.owner):
            follower = await self._runs.follower(incoming.tenant.name, record, after)
            stream = self._open_stream(incoming.request, incoming.id)
            await self._runs.tell(follower, stream)
        return stream.response

    async def delete(self, incoming: Incoming, id: str) -> HttpAnswer:
        deleted = await self._records_for(id).delete(incoming.tenant.name, id)
        if deleted is None:
            raise faults.response_not_found(id)
        if not deleted:
            raise faults.cannot_delete()
        if self._runs is not None:
            await self._runs.forget(incoming.tenant.name, id)
        return answer(deleted_response(id), incoming.id)

    async def cancel(self, incoming: Incoming, id: str) -> HttpAnswer:
        """What comes first counts, an end or this."""
        records = self._records_for(id)
        with self._lookups.question(incoming.owner) as loan:
            record = await self._found(records, incoming, id, loan)
            if not record.is_final:
                ended = await self._cancelled(records, incoming, record)
                if ended is None:
                    raise faults.response_not_found(id)
                record = ended
            if record.status is not Status.CANCELLED or not record.background:
                raise faults.cannot_cancel(record)
            return await self._answer(incoming, record)

    async def _cancelled(self, records: Records, incoming: Incoming, record: Record) -> Record | None:
        tenant = incoming.tenant.name
        if self._runs is None:
            return await records.cancel(tenant, endings.cancelled(record))
        return await self._runs.cancel(
            tenant, record, lambda events: self._so_far(incoming, events, OutputSoFar.cut)
        )

    async def input_items(self, incoming: Incoming, id: str) -> HttpAnswer:
        wish = pages.page_wish(Query(incoming.request.query.items()))
        with self._lookups.question(incoming.owner) as loan:
            chain = await self._chain(self._records_for(id), incoming, id, loan)

            def listed() -> bytes:
                return pages.page(wish, pages.behind(wish, pages.input_items(chain, wish.reading)))

            return text(await self._read(incoming, chain, listed), JSON, incoming.id)

    # ── looking up ──

    def _records_for(self, id: str) -> Records:
        """Where such an id is looked up: nowhere, if it is none of a response."""
        if self._records is None or not may_be_response(id):
            raise faults.response_not_found(id)
        return self._records

    async def _found(self, records: Records, incoming: Incoming, id: str, loan: Loan) -> Record:
        record = await records.get(incoming.tenant.name, id)
        if record is None:
            raise faults.response_not_found(id)
        loan.take(record.size)
        return record

    async def _chain(self, records: Records, incoming: Incoming, id: str, loan: Loan) -> Sequence[Record]:
        tenant = incoming.tenant.name
        chain = await records.chain(tenant, id, MOST_TURNS)
        if chain is not None:
            loan.take(_size(chain))
            return chain
        # Nothing may continue it, but if it is kept for a while, it can be read.
        record = await self._found(records, incoming, id, loan)
        before = await records.chain(tenant, record.parent, MOST_TURNS - 1) if record.parent else None
        loan.take(_size(before or ()))
        return [*(before or ()), record]

    # ── answering ──

    async def _so_far(
        self, incoming: Incoming, events: Sequence[bytes], part: Callable[[OutputSoFar], bytes]
    ) -> bytes:
        """What the events tell of the output."""
        size = sum(map(len, events))
        return await self._threads.work_on(size, lambda: part(OutputSoFar(events)), incoming.owner)

    async def _answer(self, incoming: Incoming, record: Record, output: bytes | None = None) -> HttpAnswer:
        body = await self._read(incoming, [record], partial(response_object, record, output))
        return text(body, JSON, incoming.id)

    async def _read(self, incoming: Incoming, records: Sequence[Record], job: Callable[[], Made]) -> Made:
        return await self._threads.work_on(_size(records), job, incoming.owner)


def _size(records: Sequence[Record]) -> int:
    return sum(record.size for record in records)
