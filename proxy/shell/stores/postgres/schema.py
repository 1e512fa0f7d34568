"""The tables in a database, and how those of an earlier version become those of today.

Several processes that start at once wait for each other: one makes the tables. One that finds them as they should be
needs no right to make any.
"""

from typing import Any, Final

from proxy.shell.stores.postgres.wording import definition
from proxy.shell.stores.protocol import StoreUnreadable
from proxy.shell.stores.sql.tables import Schema

MIGRATING: Final = 0x7265_7370_6F6E_7365
"""The lock that whoever changes tables holds."""

ABOUT: Final = (
    "create table {about} (one integer primary key check (one = 1), version integer not null,"
    " readable_from integer not null)"
)
HAS_TABLE: Final = (
    "select 1 from pg_tables where tablename = $1 and schemaname = any (current_schemas(false))"
)
"""Asks the table of tables, which shows what others have made while one waited."""

BODIES: Final = ("answer", "input", "output")
"""They lie outside of their rows as they are: packing them would cost the server more than all the rest of a save."""


def about_of(schema: Schema, *, may_vanish: bool) -> str:
    """The table of the version. It is kept even where the others may vanish, or they would be made twice."""
    return "about_live" if may_vanish else "about"


async def version_in(connection: Any, schema: Schema, where: str, *, may_vanish: bool) -> int:
    """The version of the tables that are there, 0 if there are none. Raises StoreUnreadable for a later version."""
    about = about_of(schema, may_vanish=may_vanish)
    if await connection.fetchval(HAS_TABLE, about) is None:
        return 0
    row = await connection.fetchrow(f"select version, readable_from from {about}")
    version, readable_from = row or (0, 0)
    if readable_from > schema.version:
        raise StoreUnreadable(
            f"{where} was written by a later version of the proxy (tables of version {version}, readable from"
            f" {readable_from}; this one knows {schema.version}): start that version, or restore an older backup"
        )
    return int(version)


async def migrate(connection: Any, schema: Schema, where: str, *, may_vanish: bool) -> None:
    if await version_in(connection, schema, where, may_vanish=may_vanish) >= schema.version:
        return
    await connection.execute("begin")
    await connection.execute(f"select pg_advisory_xact_lock({MIGRATING})")
    version = await version_in(connection, schema, where, may_vanish=may_vanish)
    if version < schema.version:
        about = about_of(schema, may_vanish=may_vanish)
        if version == 0:
            await connection.execute(ABOUT.format(about=about))
        for step in schema.steps[version:]:
            for statement in step:
                await connection.execute(definition(statement, may_vanish=may_vanish))
        if version == 0 and not may_vanish:
            for column in BODIES:
                await connection.execute(f"alter table turns alter column {column} set storage external")
        await connection.execute(
            f"insert into {about} values (1, $1, $2) on conflict (one)"
            " do update set version = excluded.version, readable_from = excluded.readable_from",
            schema.version,
            schema.readable_from,
        )
    await connection.execute("commit")
