"""Records in a database, which keeps all that it has acknowledged."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from proxy.core.stored.conversation import Entry
from proxy.core.stored.record import Record
from proxy.shell.stores.keys import own_tails, tail_of
from proxy.shell.stores.postgres.carrier import PostgresCarrier
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.protocol import Began, Locked
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql.carrier import Ahead, family
from proxy.shell.stores.sql.records import SqlRecords, readable
from proxy.shell.stores.sql.statements import FIND, TURN
from proxy.shell.stores.sql.step import Step
from proxy.shell.stores.sql.tables import RECORDS
from proxy.shell.stores.terms import Keeping, always

TAIL_DIGITS: Final = 32

CHAIN: Final = f"""with recursive chain (tail, parent, depth) as (
select tail, parent, 1 from turns where tenant = ? and tail = ?
union all
select turns.tail, turns.parent, depth + 1 from chain join turns
on turns.tenant = ? and turns.tail = right(chain.parent, {TAIL_DIGITS}) where depth < ?)
select tenant, tail, {TURN} from turns where tenant = ? and tail in (select tail from chain)"""
"""A response and all that it continues: one question instead of one for each."""

OF_ONE: Final = """turns where tenant = ? and tail in
(select tail from entries where tenant = ? and conversation = ? and dropped is null)"""

HELD: Final = f"""select tenant, tail, {TURN} from {OF_ONE}
and (select sum(length(input) + length(output)) from {OF_ONE}) <= ?"""
"""The responses whose items are in a conversation; none of them if they are too large to be read together."""

HELD_IF_FREE: Final = f"""{HELD} and exists
(select 1 from conversations where tenant = ? and id = ? and lock_response in ('', ?))"""
"""None of them where the request will be refused."""

OF_NAMES: Final = "turns where tenant = ? and tail in (select unnest(?::text[]))"

NAMED: Final = f"""select tenant, tail, {TURN} from {OF_NAMES}
and (select sum(length(input) + length(output)) from {OF_NAMES}) <= ?"""
"""The responses that these items came with, as those of a conversation."""


class PostgresRecords(SqlRecords):
    def __init__(
        self,
        connections: ConnectionPool,
        clock: ServerClock,
        keeping: Keeping,
        may_bury: Callable[[], bool] = always,
        seals: Seals = NO_SEALS,
    ) -> None:
        carrier = PostgresCarrier(connections, RECORDS, clock, may_vanish=False)
        self._keeping = keeping
        super().__init__(carrier, clock.clock, keeping, lambda: clock.is_calm() and may_bury(), seals)

    async def beat(self, worker: str) -> int:
        return await self._carrier.write(partial(self._beat, worker))

    def _beat(self, worker: str) -> Step[int]:
        """Not flushed, nor waited for by standbys: one that is lost comes again."""
        yield "select set_config('synchronous_commit', 'off', true)", ()
        return (yield from self._steps.beat(worker))

    async def chain(self, tenant: str, id: str, most: int) -> Sequence[Record] | None:
        ahead = Ahead(CHAIN, (tenant, tail_of(id), tenant, most, tenant), FIND, keys=2)
        return await self._carrier.read(partial(self._steps.chain, tenant, id, most), ahead)

    async def items(self, tenant: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        ids = readable(ids)
        tails = own_tails(ids)
        named = Ahead(NAMED, (tenant, tails, tenant, tails, self._keeping.read_bytes), FIND, keys=2)
        return await self._carrier.read(partial(self._steps.items, tenant, ids), named if tails else None)

    async def entries(self, tenant: str, id: str) -> Sequence[Entry] | None:
        ahead = Ahead(HELD, self._held(tenant, id), FIND, keys=2)
        return await self._carrier.read(partial(self._steps.entries, tenant, id), ahead)

    async def lock(self, tenant: str, id: str, worker: str, response: str) -> Began | Locked | None:
        step = partial(self._steps.lock, tenant, id, worker, response)
        ahead = Ahead(HELD_IF_FREE, (*self._held(tenant, id), tenant, id, response), FIND, keys=2)
        return await self._carrier.write(step, holds=family(tenant, id, response), ahead=ahead)

    def _held(self, tenant: str, conversation: str) -> tuple[str | int, ...]:
        of_one = (tenant, tenant, conversation)
        return (*of_one, *of_one, self._keeping.read_bytes)
