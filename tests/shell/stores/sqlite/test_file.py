"""One file of SQLite, with real processes that are killed, frozen and many, and with a disk that is full."""

import asyncio
import os
import pickle
import signal
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.core.stored import endings
from proxy.core.stored.record import Status
from proxy.shell.stores.protocol import (
    Cursor,
    FoundConversation,
    Key,
    LogRow,
    Outcome,
    RecordUnreadable,
    StoreDown,
    StoreReplaced,
    StoreUnreadable,
)
from proxy.shell.stores.sqlite.file import PAGE_BYTES
from proxy.shell.stores.sqlite.records import SqliteRecords
from tests.support.stores import (
    ROOT,
    Remote,
    Terms,
    hold_lock,
    ids_of,
    make_live,
    record,
    run,
    sqlite_at,
    talk,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "state.db"


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[SqliteRecords]:
    engine = sqlite_at(path)
    await engine.open()
    yield engine
    await engine.close()


@pytest.fixture
async def other(path: Path, engine: SqliteRecords) -> AsyncIterator[Remote]:
    other = Remote("sqlite", "records", path, Terms())
    await other.open()
    yield other
    await other.close()


def not_a_file_of_sqlite(path: Path) -> None:
    path.write_bytes(b"x" * 1000)


def check(path: Path) -> str:
    """From a process of its own it would be the same: nobody else has the file open any more."""
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("pragma integrity_check").fetchone()[0])


async def test_only_its_user_reads_the_files(engine: SqliteRecords, path: Path) -> None:
    await engine.save("t", record())
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (path.parent, *path.parent.iterdir())}
    assert modes == {
        "kept": 0o700,
        "state.db": 0o600,
        "state.db-wal": 0o600,
        "state.db-shm": 0o600,
        "state.db.lock": 0o600,
    }


async def test_a_file_keeps_the_pages_that_it_was_made_with(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = record(text="x" * 20_000)
    for made in (4096, PAGE_BYTES):
        monkeypatch.setattr("proxy.shell.stores.sqlite.file.PAGE_BYTES", made)
        engine = sqlite_at(path)
        await engine.open()
        await engine.save("t", kept)
        assert await engine.get("t", kept.id) == kept
        await engine.close()
        assert page_bytes(path) == 4096
    new = sqlite_at(path.with_name("new.db"))
    await new.open()
    await new.close()
    assert page_bytes(path.with_name("new.db")) == PAGE_BYTES > 4096


def page_bytes(path: Path) -> int:
    """As the head of a file of SQLite says them."""
    return int.from_bytes(path.read_bytes()[16:18])


async def test_who_is_cancelled_breaks_nobody_s_command(engine: SqliteRecords) -> None:
    """U23: nor its own, which is done."""
    kept = [record() for _ in range(30)]
    saves = [asyncio.ensure_future(engine.save("t", each)) for each in kept]  # noqa: TID251 - held here
    await asyncio.sleep(0)
    for save in saves[::2]:
        save.cancel()
    assert await asyncio.gather(*saves[1::2]) == [Outcome.DONE] * 15
    assert [await engine.get("t", each.id) for each in kept] == kept


async def test_nothing_acknowledged_is_lost_when_writers_are_killed(
    engine: SqliteRecords, path: Path
) -> None:
    """U08: killed at any step, while it holds the lock or not; the next goes on, and the file is whole."""
    acknowledged = []
    for round in range(6):
        victim = Remote("sqlite", "records", path, Terms())
        await victim.open()

        async def save_on(victim: Remote = victim) -> None:
            while True:
                kept = record(text="x" * 5000)
                await victim.save("t", kept)
                acknowledged.append(kept)

        saving = asyncio.ensure_future(save_on())  # noqa: TID251 - held here
        for _ in range(3 + 7 * round):
            kept = record(text="y" * 5000)
            assert await engine.save("t", kept) is Outcome.DONE
            acknowledged.append(kept)
        victim.process.send_signal(signal.SIGKILL)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await saving
        await victim.close()
    assert [each.id for each in acknowledged if await engine.get("t", each.id) != each] == []
    await engine.close()
    assert check(path) == "ok"


async def test_the_kernel_frees_the_lock_of_a_killed_process(engine: SqliteRecords, path: Path) -> None:
    """U08, U09: a frozen holder holds up writers, not readers; they go on when it is killed."""
    kept = record()
    await engine.save("t", kept)
    holder = await hold_lock(path)
    waiting = asyncio.ensure_future(engine.save("t", later := record()))  # noqa: TID251 - held here
    for _ in range(20):
        assert await engine.get("t", kept.id) == kept
    assert not waiting.done()
    holder.kill()
    await holder.wait()
    assert await waiting is Outcome.DONE
    assert await engine.get("t", later.id) == later


async def test_what_a_frozen_process_began_can_be_ended_by_others(
    engine: SqliteRecords, other: Remote
) -> None:
    """U66: when it goes on, it hears so."""
    work = run()
    await other.begin("t", work, "w")
    other.process.send_signal(signal.SIGSTOP)
    kept, cancelled = record(), endings.cancelled(work)
    assert await engine.save("t", kept) is Outcome.DONE
    assert await engine.cancel("t", cancelled) == cancelled
    other.process.send_signal(signal.SIGCONT)
    assert await other.cancelled("w") == [("t", work.id)]
    assert await other.finish("t", work, "w") is Outcome.LOST
    assert await other.get("t", kept.id) == kept


async def test_twenty_processes_open_an_empty_directory_at_once(path: Path) -> None:
    """U15, U16: one makes the tables, all work."""
    engines = [Remote("sqlite", "records", path, Terms()) for _ in range(20)]
    await asyncio.gather(*(engine.open() for engine in engines))
    kept = [record() for _ in engines]
    await asyncio.gather(*(engine.save("t", each) for engine, each in zip(engines, kept, strict=True)))
    assert (await engines[0].size()).responses == 20
    await asyncio.gather(*(engine.close() for engine in engines))
    assert check(path) == "ok"


# ── a disk that is full ──

FILLED = """
import asyncio, resource, sys
from pathlib import Path
from tests.support.stores import record, sqlite_at
from proxy.shell.stores.protocol import StoreDown

async def main():
    engine = sqlite_at(Path(sys.argv[1]))
    await engine.open()
    kept, refused = [], 0
    for step in range(60):
        if step == 20:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
        if step == 50:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        one = record(text="x" * 50_000)
        try:
            await engine.save("t", one)
        except StoreDown:
            refused += 1
            assert 20 <= step < 50
            assert await engine.get("t", one.id) is None
        else:
            kept.append(one)
        for each in kept:
            assert await engine.get("t", each.id) == each
    print(len(kept), refused)
    await engine.close()

asyncio.run(main())
"""


async def test_a_full_disk_refuses_what_is_new_and_is_read(path: Path) -> None:
    """U10, T87: what was acknowledged is there; it recovers by itself. A limit on the size of files does what a full
    disk does, and can be lifted."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FILLED, str(path), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await child.communicate()
    assert child.returncode == 0
    kept, refused = map(int, told.split())
    assert kept + refused == 60
    assert refused >= 10
    assert check(path) == "ok"


# ── a file that is not what it was ──


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_that_was_deleted_or_replaced_is_refused(
    engine: SqliteRecords, path: Path, replaced: bool
) -> None:
    """U11: in words that say what to do, and without a new file in its place."""
    kept = record()
    await engine.save("t", kept)
    moved = path.with_name("moved.db")
    os.rename(path, moved)
    if replaced:
        os.close(os.open(path, os.O_CREAT))
    for command in (engine.get("t", kept.id), engine.save("t", record()), engine.size()):
        with pytest.raises(
            StoreReplaced, match=r"was deleted or replaced.*Stop the proxy, put the file back"
        ):
            await command
    assert (path.name in os.listdir(path.parent)) is replaced
    os.rename(moved, path)
    assert await engine.get("t", kept.id) == kept


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


async def test_a_damaged_file_is_refused_at_start_and_later(path: Path) -> None:
    """U11."""
    engine = sqlite_at(path)
    await engine.open()
    kept = [record(text="x" * 20_000) for _ in range(50)]
    for each in kept:
        await engine.save("t", each)
    await engine.close()
    overwrite(path, 4096 * 3, os.urandom(4096 * 30))
    engine = sqlite_at(path)

    async def use() -> None:
        await engine.open()
        for each in kept:
            await engine.get("t", each.id)
            await engine.save("t", record())

    with pytest.raises((StoreReplaced, StoreUnreadable), match=r"is damaged.*Stop the proxy"):
        await use()
    await engine.close()
    overwrite(path, 0, b"no database at all, and nothing like it" * 1000)
    with pytest.raises(StoreUnreadable, match="is damaged"):
        await sqlite_at(path).open()


async def test_one_damaged_record_is_one_that_cannot_be_read(path: Path) -> None:
    """T88: cut, changed, or of a later form. It expires as others do, also one that was in work."""
    terms = Terms()
    engine = sqlite_at(path, terms)
    await engine.open()
    kept = [record() for _ in range(4)]
    child, work = record(parent=kept[0]), [run(), run()]
    for each in (*kept, child):
        await engine.save("t", each)
    for each in work:
        await engine.begin("t", each, "w")
    change_all(path, dict(zip((each.id for each in (*kept, work[0])), CHANGES, strict=True)))
    for each in (*kept, work[0]):
        with pytest.raises(RecordUnreadable, match=each.id):
            await engine.get("t", each.id)
    with pytest.raises(RecordUnreadable):
        await engine.chain("t", child.id, 9)
    assert await engine.get("t", child.id) == child
    terms.steady += 45
    assert await engine.settle(9) == [("t", each.id) for each in work]
    assert await engine.settle(9) == []
    with pytest.raises(RecordUnreadable, match=work[0].id):
        await engine.get("t", work[0].id)
    assert (await engine.get("t", work[1].id)).status is Status.FAILED
    terms.date += 31 * 86_400
    assert await engine.sweep(50) == (7, 0, 0)
    assert (await engine.size()).responses == 0
    await engine.close()


CHANGES = ("output = x'5b5d'", "answer = x''", "form = 7", "status = 'new'", "input = x''")


def change_all(path: Path, changes: dict[str, str]) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for id, change in changes.items():
        connection.execute(f"update turns set {change} where id = ?", (id,))
    connection.close()


async def test_a_damaged_log_is_none(tmp_path: Path) -> None:
    path, key = tmp_path / "live.db", Key("t", "r")
    live = make_live("sqlite", Terms(), path)
    await live.open()
    await live.append([LogRow(key, 0, [b"1"])])
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("update log_rows set data = x'ffff'")
    assert list((await live.read([Cursor(key, 0)], 99)).values()) == [None]
    connection.execute("delete from log_rows")
    connection.close()
    assert list((await live.read([Cursor(key, 0)], 99)).values()) == [None]
    await live.close()


@pytest.mark.parametrize(("readable_from", "opens"), [(1, True), (99, False)])
async def test_a_later_version_s_file(path: Path, readable_from: int, opens: bool) -> None:
    """U17: the same proxy works with it again once it may."""
    engine = sqlite_at(path)
    await engine.open()
    await engine.save("t", kept := record())
    await engine.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("update about set version = 99, readable_from = ?", (readable_from,))
    if not opens:
        with pytest.raises(StoreUnreadable, match=r"state\.db was written by a later version .*version 99"):
            await engine.open()
        connection.execute("update about set readable_from = 1")
    connection.close()
    await engine.open()
    assert await engine.get("t", kept.id) == kept
    await engine.close()


def is_open(path: Path) -> bool:
    return any(each.resolve() == path.resolve() for each in Path("/proc/self/fd").iterdir())


async def test_a_file_that_is_none_of_sqlite_s_is_not_held_open(tmp_path: Path) -> None:
    not_a_file_of_sqlite(path := tmp_path / "state.db")
    with pytest.raises(StoreUnreadable) as raised:
        await sqlite_at(path).open()
    assert not is_open(path), raised.value  # which is alive, with all that it has seen


async def test_a_directory_that_cannot_be_made_is_a_store_that_is_away(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    engine = sqlite_at(tmp_path / "file" / "state.db")
    for _ in range(2):
        with pytest.raises(StoreDown, match=r"Not a directory|File exists"):
            await engine.open()
        with pytest.raises(StoreDown, match=r"Not a directory|File exists"):  # which the log tells then
            await engine.get("t", "resp_1")
    (tmp_path / "file").unlink()
    await engine.open()
    await engine.close()
    with pytest.raises(StoreDown, match="is not open"):
        await engine.get("t", "resp_1")


# ── killed at every step ──

KILLED_AT = """
import asyncio, os, pickle, signal, sys
from pathlib import Path
from proxy.shell.stores.sql.record_steps import RecordSteps
from tests.support.stores import sqlite_at

def killed_at(step):
    for number in range(int(sys.argv[2])):
        try:
            asked = next(step) if number == 0 else step.send(rows)
        except StopIteration as end:
            return end.value
        rows = yield asked
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    engine = sqlite_at(Path(sys.argv[1]))
    await engine.open()
    whole = RecordSteps.finish
    RecordSteps.finish = lambda *arguments: killed_at(whole(*arguments))
    record, entries = pickle.loads(sys.stdin.buffer.read())
    await engine.finish("t", record, "w", entries)
    await engine.close()

asyncio.run(main())
"""


async def test_whoever_is_killed_has_done_all_or_nothing(engine: SqliteRecords, path: Path) -> None:
    """U06, U08, U47: after each statement of the longest step there is."""
    made = talk()
    await engine.create("t", made)
    codes = []
    for statements in range(40):
        work = run(conversation=made)
        await engine.begin("t", work, "w")
        done = replace(work, status=Status.COMPLETED, output=record(outputs=2).output)
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            KILLED_AT,
            str(path),
            str(statements),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
        )
        await child.communicate(pickle.dumps((done, ids_of(done))))
        codes.append(child.returncode)
        entries = await engine.entries("t", made.id)
        if child.returncode == 0:
            assert await engine.get("t", work.id) == done
            assert [entry.id for entry in entries] == ids_of(done)
            break
        assert await engine.get("t", work.id) == work
        assert entries == []
        assert await engine.conversation("t", made.id) == FoundConversation(made, work.id)
        await engine.cancel("t", endings.cancelled(work))
    assert len(codes) > 12
    assert set(codes[:-1]) == {-signal.SIGKILL}
    assert codes[-1] == 0
