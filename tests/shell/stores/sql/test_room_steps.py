"""The making of room in a file that several tenants share: a little at a time, however much there is."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.core.stored.record import Record
from proxy.shell.stores.sql import room_steps, statements
from proxy.shell.stores.sql.tables import RECORDS
from proxy.shell.stores.sqlite.records import SqliteRecords
from tests.support.stores import Terms, record, sqlite_at

AT_ONCE = 10


async def several(engine: SqliteRecords, terms: Terms, tenant: str, number: int, size: int) -> list[Record]:
    made = []
    for _ in range(number):
        made.append(record(text="x" * size))
        await engine.save(tenant, made[-1])
        terms.date += 1
    return made


class Looks:
    """What is asked of the engine before it deletes."""

    def __init__(self, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        self._read = engine._carrier.read
        monkeypatch.setattr(engine._carrier, "read", self._counted)

    def _counted(self, step: Callable[[], Any]) -> Any:
        self.number += 1
        return self._read(step)


@pytest.mark.parametrize("number", [100, 200])
async def test_few_young_ones_of_who_has_most_are_found_behind_many_of_others(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is walked through twice, some rows in each step; and no step deletes more than it may."""
    monkeypatch.setattr(room_steps, "LOOKED_AT", 20)
    terms = Terms()
    engine = sqlite_at(tmp_path / "state.db", terms)
    await engine.open()
    others = [(f"t{n}", await several(engine, terms, f"t{n}", number // 10, 100)) for n in range(10)]
    large = await several(engine, terms, "large", 5, 400_000)
    used = (await engine.size()).bytes
    terms.keeping = replace(terms.keeping, most_bytes=used - 1_500_000)
    looks, early, steps = Looks(engine, monkeypatch), 0, 0
    while max(swept := await engine.sweep(AT_ONCE)) >= AT_ONCE:
        before, steps, early = looks.number, steps + 1, early + swept.early
        assert swept.early <= AT_ONCE
    assert early == 2
    assert [await engine.get("large", kept.id) for kept in large[:3]] == [None, None, large[2]]
    for tenant, kept in others:
        assert [await engine.get(tenant, each.id) for each in kept] == kept
    assert before <= 2 * ((number + 5) // 20 + 1)
    assert steps <= before + 4
    await engine.close()


async def test_one_tenant_alone_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Terms()
    engine = sqlite_at(tmp_path / "state.db", terms)
    await engine.open()
    await several(engine, terms, "t", 20, 20_000)
    terms.keeping = replace(terms.keeping, most_bytes=(await engine.size()).bytes * 3 // 4)
    looks = Looks(engine, monkeypatch)
    assert (await engine.sweep(50)).early > 3
    assert looks.number == 0
    await engine.close()


async def test_what_somebody_else_deletes_meanwhile_is_not_deleted_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = Terms()
    engine = sqlite_at(tmp_path / "state.db", terms)
    await engine.open()
    await several(engine, terms, "little", 1, 100)
    made = await several(engine, terms, "large", 40, 20_000)
    await engine.save("large", record(parent=made[0]))
    terms.keeping = replace(terms.keeping, most_bytes=(await engine.size()).bytes * 99 // 100)
    for _ in range(3):  # it is full; who has how much; whose go
        assert await engine.sweep(AT_ONCE) == (0, 0, AT_ONCE)
    await engine.delete("large", made[0].id)
    assert (await engine.sweep(AT_ONCE)).early == 2
    assert [await engine.get("large", kept.id) for kept in made[1:4]] == [None, None, made[3]]
    await engine.close()


async def test_what_comes_meanwhile_is_counted_before_anybody_else_loses(tmp_path: Path) -> None:
    terms = Terms()
    engine = sqlite_at(tmp_path / "state.db", terms)
    await engine.open()
    little = await several(engine, terms, "little", 5, 20_000)
    await several(engine, terms, "large", 20, 20_000)
    limit = (await engine.size()).bytes * 99 // 100
    terms.keeping = replace(terms.keeping, most_bytes=limit)
    for _ in range(3):  # it is full; who has how much; whose go
        await engine.sweep(AT_ONCE)
    await several(engine, terms, "large", 20, 20_000)
    while max(await engine.sweep(AT_ONCE)) >= AT_ONCE:
        pass
    assert (await engine.size()).bytes <= limit
    assert [await engine.get("little", kept.id) for kept in little] == little
    await engine.close()


@pytest.mark.parametrize(("percent", "most_looks"), [(98, 2), (60, 20)])
async def test_a_chain_is_given_time_to_go(
    percent: int, most_looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last response held all the others. Nothing more is deleted until they are gone; and what was deleted of it
    before has freed so little that it need not be counted again."""
    terms = Terms()
    engine = sqlite_at(tmp_path / "state.db", terms)
    await engine.open()
    await several(engine, terms, "little", 2, 100)
    chain: list[Record] = []
    for _ in range(403):
        chain.append(record(parent=chain[-1] if chain else None, text="x" * 4_000))
        await engine.save("agent", chain[-1])
        terms.date += 1
    later = await several(engine, terms, "agent", 50, 4_000)
    limit = (await engine.size()).bytes * percent // 100
    terms.keeping = replace(terms.keeping, most_bytes=limit)
    looks = Looks(engine, monkeypatch)
    while max(await engine.sweep(AT_ONCE)) >= AT_ONCE:
        pass
    assert looks.number <= most_looks
    assert (await engine.size()).bytes <= limit
    assert [await engine.get("agent", kept.id) for kept in later] == later
    await engine.close()


def test_what_was_counted_holds_until_much_was_deleted() -> None:
    """Each process that sweeps knows only what it has deleted itself."""
    room = room_steps.Room(used=3_200, most=3_000)
    assert [room.is_outdated(used) for used in (9_000, 3_100, 3_099)] == [False, False, True]


def filled_with(number: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for step in RECORDS.steps:
        for statement in step:
            connection.execute(statement)
    plain = ("", "", 0, "m", None, None, 0, 0, 1, 0, 0, b"a", b"i", b"o", 0)
    rows = [(f"t{n % 7}", f"{n * 7919 % number:032x}", *plain, n, None) for n in range(number)]
    connection.executemany(statements.INSERT, rows)
    return connection


def work_of(connection: sqlite3.Connection, statement: str, *parameters: Any) -> int:
    """In instructions of SQLite."""
    steps = [0]

    def count() -> None:
        steps[0] += 1

    connection.set_progress_handler(count, 1)
    assert connection.execute(statement, parameters).fetchall()
    connection.set_progress_handler(None, 0)
    return steps[0]


def test_a_look_takes_the_same_however_much_there_is() -> None:
    """U59: what is not looked at costs nothing, before it and behind it."""
    work = []
    for number in (2_000, 16_000):
        with closing(filled_with(number)) as connection:
            middle = (number // 2, "", "")
            work.append(
                [
                    work_of(connection, statements.WEIGHTS_AFTER, "t3", "", 100),
                    work_of(connection, statements.OLDEST_AFTER, middle[0], *middle, 100),
                    work_of(connection, statements.SHARED),
                ]
            )
    small, large = work
    assert all(more < 1.2 * less for less, more in zip(small, large, strict=True)), work
