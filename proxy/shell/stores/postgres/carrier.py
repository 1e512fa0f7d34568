"""The carrier of steps in a database: each write is a transaction that holds what it must, each read sees one
moment."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from proxy.shell.stores.postgres.attempt import StepAttempt
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.locks import keys_of
from proxy.shell.stores.postgres.schema import migrate
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.postgres.wording import is_blind
from proxy.shell.stores.sql.carrier import Ahead, Hold
from proxy.shell.stores.sql.step import Ask, Result, Step
from proxy.shell.stores.sql.tables import Schema

TIME: Final = "select extract(epoch from clock_timestamp())::float8"

COUNTED_BYTES: Final = 256 << 20
"""Bytes of the rows, without what lies outside of them, that are still counted exactly: so many are read in a tenth of
a second."""

SAMPLE_PERCENT: Final = 0.1

USED_BYTES: Final = """select case when pg_relation_size('turns') < ?
then (select coalesce(sum(length(answer) + length(input) + length(output)), 0) from turns)
else (select n_live_tup from pg_stat_user_tables where relid = 'turns'::regclass)
* (select coalesce(avg(length(answer) + length(input) + length(output)), 0) from turns tablesample system (?))
end::bigint"""
"""The bytes of what is kept, because files stay large when rows are deleted. For very many responses it is an
estimate."""


def used_bytes() -> Step[int]:
    rows = yield USED_BYTES, (COUNTED_BYTES, SAMPLE_PERCENT)
    return int(rows[0][0])


class PostgresCarrier:
    most_swept = 10
    used_bytes = staticmethod(used_bytes)

    def __init__(
        self, connections: ConnectionPool, schema: Schema, clock: ServerClock, *, may_vanish: bool
    ) -> None:
        self._connections = connections
        self._schema = schema
        self._clock = clock
        self._may_vanish = may_vanish
        self._kind = "live" if may_vanish else "records"

    async def open(self) -> None:
        await self._connections.open(self._prepare)

    async def _prepare(self, connection: Any) -> None:
        begun = self._clock.begun()
        self._clock.measured(await connection.fetchval(TIME), begun)
        shown = self._connections.address.shown
        await migrate(connection, self._schema, shown, may_vanish=self._may_vanish)

    async def close(self) -> None:
        await self._connections.close()

    def write(
        self,
        step: Callable[[], Step[Result]],
        weight: int = 0,
        holds: tuple[Hold, ...] = (),
        once: bool = False,
        ahead: Ahead | None = None,
    ) -> "asyncio.Future[Result]":
        if not holds:
            changes, result = _changes_of(step())
            if changes:
                return self._connections.change(changes, weight, result)
        locks = keys_of(self._kind, holds)

        async def carry(attempt: StepAttempt) -> Result:
            return await attempt.written(step(), locks, self._clock, self._connections.limits.seconds, ahead)

        return self._connections.do(carry, once=once)

    def read(self, step: Callable[[], Step[Result]], ahead: Ahead | None = None) -> "asyncio.Future[Result]":
        return self._connections.do(partial(_read, step, ahead))

    def shrunk(self, step: Step[Result]) -> Step[Result]:
        """The server does so by itself, in time."""
        return step


async def _read(step: Callable[[], Step[Result]], ahead: Ahead | None, attempt: StepAttempt) -> Result:
    return await attempt.read(step, ahead)


def _changes_of(step: Step[Result]) -> tuple[list[Ask], Any]:
    """All that the step does, and its result; nothing if it asks anything, or changes by several statements."""
    changes: list[Ask] = []
    try:
        while is_blind((ask := next(step) if not changes else step.send([]))[0]):
            changes.append(ask)
    except StopIteration as end:
        if len({statement for statement, _ in changes}) == 1:
            return changes, end.value
    step.close()
    return [], None
