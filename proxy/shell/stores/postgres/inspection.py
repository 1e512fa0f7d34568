"""One look at a database, for commands beside the proxies that use it: nothing is made, migrated or changed."""

from typing import Any, Final

from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.attempt import StepAttempt
from proxy.shell.stores.postgres.carrier import TIME, used_bytes
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.schema import version_in
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.sql.census_steps import CensusSteps, Inspected
from proxy.shell.stores.sql.tables import LIVE, RECORDS
from proxy.shell.stores.terms import Keeping

READ: Final = "begin isolation level repeatable read read only"

ON_DISK: Final = (
    "select sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass))::bigint from pg_tables"
    " where schemaname = (select schemaname from pg_tables where tablename = 'about'"
    " and schemaname = any (current_schemas(false))) and tablename = any ($1)"
)


async def inspect(
    address: Address, limits: Limits, clock: ServerClock, keeping: Keeping, tenant: str | None = None
) -> Inspected | None:
    """What is kept there: of all tenants, or of one. None: there are no tables yet. Raises StoreUnreadable, or
    StoreDown."""
    found: list[Inspected] = []

    async def look(connection: Any) -> None:
        await connection.execute(READ)
        begun = clock.begun()
        clock.measured(await connection.fetchval(TIME), begun)
        await version_in(connection, LIVE, address.shown, may_vanish=True)
        version = await version_in(connection, RECORDS, address.shown, may_vanish=False)
        if version:
            attempt = StepAttempt(connection)
            used = await attempt.carried(used_bytes())
            census = await attempt.carried(CensusSteps(clock.clock, keeping).census(tenant))
            engine = "PostgreSQL " + await connection.fetchval("show server_version")
            on_disk = await connection.fetchval(ON_DISK, [*RECORDS.tables, *LIVE.tables])
            found.append(Inspected(version, used, census, engine, on_disk))

    await ConnectionPool(address, limits).look(look)
    return found[0] if found else None
