"""The tables in a database: made once, whoever begins, and never those of a later version."""

import asyncio
from dataclasses import replace

import asyncpg
import pytest

from proxy.shell.stores.postgres.schema import migrate, version_in
from proxy.shell.stores.protocol import StoreUnreadable
from proxy.shell.stores.sql.tables import LIVE, RECORDS
from tests.support.postgres import execute, fresh_url
from tests.support.stores import postgres_at


async def test_many_start_at_once_on_an_empty_database() -> None:
    """U16: one makes the tables, all run."""
    url = await fresh_url()
    engines = [postgres_at(url) for _ in range(20)]
    await asyncio.gather(*(engine.open() for engine in engines))
    assert {(await engine.size()).responses for engine in engines} == {0}
    for engine in engines:
        await engine.close()


async def test_the_tables_of_others_are_left_alone() -> None:
    for table in ("workers (mine text)", "about (mine text)"):
        await execute(url := await fresh_url(), f"create table {table}")
        with pytest.raises(StoreUnreadable, match=r"has other tables than the store's.* a schema of its own"):
            await postgres_at(url).open()
        connection = await asyncpg.connect(url)
        names = "select tablename from pg_tables where schemaname = current_schema()"
        assert [row[0] for row in await connection.fetch(names)] == [table.split()[0]]
        await connection.close()


async def test_a_later_version_is_refused_if_it_says_so() -> None:
    """U17."""
    connection = await asyncpg.connect(await fresh_url())
    for schema, may_vanish in ((RECORDS, False), (LIVE, True)):
        assert await version_in(connection, schema, "db", may_vanish=may_vanish) == 0
        await migrate(connection, schema, "db", may_vanish=may_vanish)
        later = replace(schema, steps=(*schema.steps, ("create table more (n integer)",)))
        await migrate(connection, later, "db", may_vanish=may_vanish)
        await migrate(connection, schema, "db", may_vanish=may_vanish)
        assert await version_in(connection, schema, "db", may_vanish=may_vanish) == later.version
        last = replace(later, steps=(*later.steps, ()), readable_from=later.version + 1)
        await migrate(connection, last, "db", may_vanish=may_vanish)
        known, new = schema.version, last.version
        words = rf"^db was written by a later version of the proxy \(tables of version {new}, readable from {new};"
        with pytest.raises(StoreUnreadable, match=rf"{words} this one knows {known}\)"):
            await migrate(connection, schema, "db", may_vanish=may_vanish)
        await connection.execute("drop table more")
    await connection.close()
