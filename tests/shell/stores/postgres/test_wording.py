"""What is translated for PostgreSQL. That all statements and tables are understood is shown by `tests/stores`."""

import pytest

from proxy.shell.stores.postgres.wording import definition, is_blind, parameters_of, rows_of, translated
from proxy.shell.stores.sql import statements
from proxy.shell.stores.sql.tables import LIVE


def test_parameters_get_numbers() -> None:
    assert translated("select a from b where c = ? and d > ?") == "select a from b where c = $1 and d > $2"


def test_items_are_found_by_a_hash_and_compared_as_they_are() -> None:
    assert translated(statements.ITEM_AT) == (
        "select tail from items where tenant = $1 and hashtextextended(item, 0) = hashtextextended($2, 0)"
        " and item = $2 order by n"
    )


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (statements.INSERT, True),
        (statements.REPLACE, True),
        (statements.ERASE, True),
        (statements.PRUNE, False),
        (statements.FIND, False),
    ],
)
def test_only_what_changes_and_tells_nothing_is_blind(statement: str, expected: bool) -> None:
    assert is_blind(statement) is expected


def test_definitions() -> None:
    table = "create table a (n integer primary key, b integer, c real not null, d blob) strict, without rowid"
    wanted = (
        "(n bigint generated always as identity primary key, b bigint, c double precision not null, d bytea)"
    )
    assert definition(table, may_vanish=False) == f"create table a {wanted}"
    assert definition(table, may_vanish=True) == f"create unlogged table a {wanted}"
    often = definition("create table workers (id text primary key) strict", may_vanish=False)
    assert often == "create table workers (id text primary key) with (fillfactor = 50)"
    index = "create unique index items_once on items (tenant, item, tail)"
    assert definition(index, may_vanish=False) == (
        "create unique index items_once on items (tenant, hashtextextended(item, 0), tail)"
    )
    assert all(
        definition(statement, may_vanish=True).startswith(("create unlogged table", "create index"))
        for step in LIVE.steps
        for statement in step
    ), "nothing of it waits for the disk"


@pytest.mark.parametrize("text", ["", "plain", "a\x00b", "\x01", "\x010", "\x00\x01\x00", "\x01\x011"])
def test_any_text_comes_back(text: str) -> None:
    [sent] = parameters_of([text])
    assert "\x00" not in sent
    assert rows_of([(sent, 1, None, b"\x00")]) == [(text, 1, None, b"\x00")]
