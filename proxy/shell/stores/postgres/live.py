"""What may vanish, in tables of a database that a crash of the server empties: nothing of them waits for the disk."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from proxy.shell.stores.logs import MOST_LOG_BYTES
from proxy.shell.stores.postgres.carrier import PostgresCarrier
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.protocol import Cursor, Key, LogClosed, LogExcerpt, LogRow
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql.carrier import Ahead, Hold
from proxy.shell.stores.sql.live import SqlLive
from proxy.shell.stores.sql.live_steps import MOST_MEMO_BYTES
from proxy.shell.stores.sql.log_statements import FIND
from proxy.shell.stores.sql.tables import LIVE

FIND_ALL: Final = (
    "select tenant, id, next, bytes, state, touched from logs"
    " where (tenant, id) in (select * from unnest(?::text[], ?::text[]))"
)


class PostgresLive(SqlLive):
    def __init__(
        self,
        connections: ConnectionPool,
        clock: ServerClock,
        most_log_bytes: int = MOST_LOG_BYTES,
        most_memo_bytes: int = MOST_MEMO_BYTES,
        seals: Seals = NO_SEALS,
    ) -> None:
        carrier = PostgresCarrier(connections, LIVE, clock, may_vanish=True)
        super().__init__(carrier, clock.clock, most_log_bytes, most_memo_bytes, seals)

    async def append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        keys = sorted({row.key for row in rows})
        holds = tuple(Hold(*key) for key in keys)
        step = partial(self._steps.append, rows)
        return await self._carrier.write(step, holds=holds, ahead=_found(keys))

    async def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Mapping[Cursor, LogExcerpt | None]:
        step = partial(self._steps.read, wanted, most_bytes)
        return await self._carrier.read(step, _found(cursor.key for cursor in wanted))


def _found(keys: Iterable[Key]) -> Ahead:
    """All of these logs, in one question."""
    wanted = tuple({(key.tenant, key.id): None for key in keys})
    lists = ([tenant for tenant, _ in wanted], [id for _, id in wanted])
    return Ahead(FIND_ALL, lists, FIND, 2, wanted)
