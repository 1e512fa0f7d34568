"""Tables: made once, added to by later versions, and left alone by who does not know them."""

import sqlite3
from collections.abc import Iterator

import pytest

from proxy.shell.stores.protocol import StoreUnreadable
from proxy.shell.stores.sql.tables import LIVE, RECORDS, Schema
from proxy.shell.stores.sqlite.schema import (
    is_fixed,
    migrate,
    refuse_old_sqlite,
    shortcoming,
)

FIRST = Schema((("create table a (x integer) strict",),))
SECOND = Schema((*FIRST.steps, ("create table b (y integer) strict", "insert into b select x from a")))


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    yield connection
    connection.close()


def test_an_older_file_becomes_one_of_today(connection: sqlite3.Connection) -> None:
    migrate(connection, FIRST, "f")
    connection.execute("insert into a values (7)")
    for _ in range(2):
        migrate(connection, SECOND, "f")
        assert connection.execute("select y from b").fetchall() == [(7,)]
    assert connection.execute("select version, readable_from from about").fetchall() == [(2, 1)]


def test_an_older_proxy_works_with_a_newer_file_if_it_may(connection: sqlite3.Connection) -> None:
    """U17, U64: what it does not know, it leaves alone."""
    migrate(connection, SECOND, "f")
    migrate(connection, FIRST, "f")
    assert connection.execute("select version from about").fetchall() == [(2,)]
    migrate(connection, Schema((*SECOND.steps, ()), readable_from=3), "f")
    with pytest.raises(
        StoreUnreadable, match=r"f was written by a later .*version 3, readable from 3.* knows 2"
    ):
        migrate(connection, SECOND, "f")


@pytest.mark.parametrize("schema", [RECORDS, LIVE])
def test_every_table_checks_its_types(connection: sqlite3.Connection, schema: Schema) -> None:
    migrate(connection, schema, "f")
    made = connection.execute("select name, sql from sqlite_master where type = 'table'").fetchall()
    assert len(made) > 3
    assert not [name for name, sql in made if "strict" not in sql.rpartition(")")[2]]


def test_an_old_sqlite_is_refused() -> None:
    """U13."""
    refuse_old_sqlite((3, 37, 0))
    with pytest.raises(StoreUnreadable, match=r"comes with SQLite 3\.36\.9, and the store needs 3\.37\.0"):
        refuse_old_sqlite((3, 36, 9))


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((3, 40, 1), False), ((3, 44, 5), False), ((3, 44, 6), True), ((3, 46, 1), False), ((3, 50, 6), False),
        ((3, 50, 7), True), ((3, 51, 2), False), ((3, 51, 3), True), ((3, 52, 0), True), ((4, 0, 0), True),
    ],
)  # fmt: skip
def test_which_sqlite_keeps_processes_apart_by_itself(version: tuple[int, ...], expected: bool) -> None:
    assert is_fixed(version) is expected
    assert ("3.51.3, 3.50.7, 3.44.6" in shortcoming(version)) is not expected
