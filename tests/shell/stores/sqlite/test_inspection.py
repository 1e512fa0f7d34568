"""A look at a file beside the proxies that use it: nothing is made, and nothing is changed."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from proxy.core.stored.record import Status
from proxy.shell.stores.protocol import StoreDown, StoreUnreadable
from proxy.shell.stores.sql.census_steps import Census, CensusSteps
from proxy.shell.stores.sql.tables import RECORDS
from proxy.shell.stores.sqlite.inspection import Inspected, inspect, look, prove
from proxy.shell.stores.terms import DAY
from tests.support.stores import Terms, hold_lock, record, run, sqlite_at, talk

PATIENCE = 1.0


def seen(path: Path, terms: Terms, tenant: str | None = None) -> Inspected | None:
    return inspect(path, CensusSteps(terms.clock, terms.keeping), tenant, PATIENCE)


def names_in(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


async def test_what_is_there_is_counted_while_somebody_uses_it(tmp_path: Path) -> None:
    path, terms = tmp_path / "state.db", Terms()
    engine = sqlite_at(path, terms)
    await engine.open()
    await engine.save("t", record())
    terms.date += 31 * DAY
    await engine.save("t", record(Status.FAILED))
    await engine.save("other", gone := record())
    await engine.delete("other", gone.id)
    await engine.begin("t", run(), "w")
    await engine.create("other", talk())
    there = Census({"failed": 1, "queued": 1}, 1, 1_700_000_000, ["other", "t"], workers=1, sealed_by={"": 4})
    found = seen(path, terms)
    assert found is not None
    assert (found.version, found.census, found.census.responses) == (1, there, 2)
    assert found.bytes == (await engine.size()).bytes > 4096
    found = seen(path, terms, "other")
    assert found is not None
    assert found.census == Census({}, 1, None, ["other"], workers=1, sealed_by={"": 1})
    await engine.close()
    before = names_in(tmp_path)
    assert seen(path, terms) is not None
    assert names_in(tmp_path) == before == {"state.db", "state.db.lock"}


def test_where_nothing_was_ever_kept(tmp_path: Path) -> None:
    assert seen(tmp_path / "a" / "state.db", Terms()) is None
    (tmp_path / "state.db").touch()
    assert seen(tmp_path / "state.db", Terms()) is None
    assert (tmp_path / "state.db").stat().st_size == 0


def test_nothing_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table about (version, readable_from)")

    def change(_: int) -> Iterator[tuple[str, tuple[()]]]:
        yield "insert into about values (1, 1)", ()

    with pytest.raises(StoreDown, match="readonly"):
        look(path, RECORDS, change, PATIENCE)  # type: ignore[arg-type]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """U11, U17."""
    path = tmp_path / "state.db"
    path.write_bytes(b"x" * 5000)
    with pytest.raises(StoreUnreadable, match="is damaged"):
        prove(path, RECORDS, PATIENCE)
    path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("create table about (version, readable_from)")
        connection.execute("insert into about values (7, 1)")
        prove(path, RECORDS, PATIENCE)
        connection.execute("update about set readable_from = 6")
    with pytest.raises(StoreUnreadable, match=r"later version of the proxy .*version 7, readable from 6"):
        prove(path, RECORDS, PATIENCE)


async def test_who_stands_still_with_the_lock_holds_it_up_for_a_while_only(tmp_path: Path) -> None:
    """U09."""
    path = tmp_path / "state.db"
    engine = sqlite_at(path)
    await engine.open()
    await engine.close()
    holder = await hold_lock(path)
    with pytest.raises(StoreDown, match="another process holds its lock"):
        await asyncio.to_thread(prove, path, RECORDS, 0.05)
    holder.kill()
    await holder.wait()
    prove(path, RECORDS, PATIENCE)
