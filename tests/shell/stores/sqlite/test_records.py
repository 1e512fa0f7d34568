"""Records in a file: what is swept makes it smaller, and a save does what it must and no more."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from proxy.core.stored.record import Record
from proxy.shell.stores.protocol import RecordUnreadable, StoreDown
from proxy.shell.stores.sql import statements
from tests.support.stores import Terms, record, sqlite_at, talk


async def test_what_is_swept_makes_the_file_smaller(tmp_path: Path) -> None:
    """U59."""
    terms = Terms()
    engine = sqlite_at(tmp_path / "state.db", terms)
    await engine.open()
    for _ in range(100):
        await engine.save("t", record(text="x" * 20_000))
    terms.date += 31 * 86_400
    assert [(await engine.sweep(50)).expired for _ in range(6)] == [50, 50, 0, 0, 0, 0]
    await engine.close()
    assert (tmp_path / "state.db").stat().st_size < 300_000


async def test_it_reopens_with_all_that_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    kept = record()
    for _ in range(3):
        engine = sqlite_at(path)
        await engine.open()
        await engine.save("t", kept)
        await engine.close()
    engine = sqlite_at(path)
    await engine.open()
    assert await engine.get("t", kept.id) == kept
    await engine.close()
    connection = sqlite3.connect(path)
    settings = [
        connection.execute(f"pragma {name}").fetchone()[0] for name in ("journal_mode", "auto_vacuum")
    ]
    assert settings == ["wal", 2]
    connection.close()


VERBS = ("select", "insert", "update", "delete")


async def test_each_question_is_answered_by_an_index(tmp_path: Path) -> None:
    """None of the statements reads a whole table, but of workers, of what they work on, and for people."""
    path = tmp_path / "state.db"
    engine = sqlite_at(path)
    await engine.open()
    await engine.close()
    connection = sqlite3.connect(path)
    whole, sorted_ = set(), set()
    for name, statement in vars(statements).items():
        if name.isupper() and isinstance(statement, str) and "?" in statement:
            if not statement.startswith(VERBS):
                continue  # a part of others
            plan = connection.execute(f"explain query plan {statement}", (0,) * statement.count("?"))
            details = [detail for *_, detail in plan]
            tables = [detail for detail in details if detail != "SCAN piece"]
            whole |= {name for detail in tables if detail.startswith("SCAN") and " USING " not in detail}
            sorted_ |= {name for detail in details if "TEMP B-TREE" in detail}
    connection.close()
    for_people = {"CENSUS_OF_KEYS", "CENSUS_OF_KEYS_OF_TALKS"}
    assert whole == {"LIVING", "FORGET_DEAD", "FORGET_DEAD_RUNS", "DEAD_RUNS"} | for_people
    few = {"ITEM_AT", "WEIGHTS_AFTER", "OLDEST_AFTER"}
    assert sorted_ == {"CENSUS"} | few | for_people, "few rows; and for people"


async def test_a_backup_is_whole_and_holds_up_nobody(tmp_path: Path) -> None:
    engine = sqlite_at(tmp_path / "state.db")
    await engine.open()
    kept = [record() for _ in range(50)]
    await asyncio.gather(*(engine.save("t", each) for each in kept))
    target = tmp_path / "copy.db"
    later = record()
    await asyncio.gather(engine.backup(target), engine.save("t", later))
    with pytest.raises(StoreDown, match="File exists"):
        await engine.backup(target)
    await engine.close()
    assert target.stat().st_mode & 0o777 == 0o600
    copy = sqlite_at(target)
    await copy.open()
    assert [await copy.get("t", each.id) for each in kept] == kept
    await copy.close()


async def test_a_tenant_is_forgotten_in_portions_and_others_get_through(tmp_path: Path) -> None:
    engine = sqlite_at(tmp_path / "state.db")
    await engine.open()
    made: list[Record] = []
    for _ in range(200):
        made.append(
            record(parent=made[-1] if made else None, foreign=(f"item_{len(made)}",), text="x" * 9_000)
        )
    await asyncio.gather(*(engine.save("t", each) for each in made))
    await engine.create("t", talk())
    async with asyncio.TaskGroup() as group:
        forgetting = group.create_task(engine.forget("t"))
        await asyncio.sleep(0)
        await engine.save("other", kept := record())
        assert not forgetting.done()
    assert forgetting.result() == 201
    assert await engine.get("other", kept.id) == kept
    await engine.close()
    assert (tmp_path / "state.db").stat().st_size < 300_000


async def test_a_long_chain_goes_in_portions(tmp_path: Path) -> None:
    """U59: its last response held all the others, and no step looks at more than some of them."""
    engine = sqlite_at(tmp_path / "state.db")
    await engine.open()
    made: list[Record] = []
    for _ in range(250):
        made.append(record(parent=made[-1] if made else None))
        await engine.save("t", made[-1])
    for kept in made:
        await engine.delete("t", kept.id)
    leftovers = [await engine.sweep(50) for _ in range(3)]
    assert [swept.looked_at for swept in leftovers] == [1, 1, 0]
    await engine.close()
    connection = sqlite3.connect(tmp_path / "state.db")
    assert connection.execute("select count(*) from turns").fetchone() == (0,)
    connection.close()


async def test_a_chain_with_a_hole_or_a_loop_is_refused(tmp_path: Path) -> None:
    """U49, T88: it must have been made by hand."""
    engine = sqlite_at(tmp_path / "state.db")
    await engine.open()
    first = record()
    second = record(parent=first)
    third = record(parent=second)
    for kept in (first, second, third):
        await engine.save("t", kept)
    await engine.close()
    for statement in (
        f"update turns set parent = '{third.id}' where id = '{second.id}'",
        f"delete from turns where id = '{second.id}'",
    ):
        connection = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
        connection.execute(statement)
        connection.close()
        await engine.open()
        with pytest.raises(RecordUnreadable):
            await engine.chain("t", third.id, 1000)
        await engine.close()
