"""Changes of one file of SQLite that are committed together."""

import asyncio
import threading
import time
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proxy.shell.stores.sql.tables import RECORDS
from proxy.shell.stores.sqlite.file import (
    CACHE_PAGES,
    GATHER_SECONDS,
    MOST_BYTES,
    MOST_CHANGES,
    PAGE_BYTES,
    SqliteFile,
)

PROMPTLY = 20.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "state.db"


async def test_all_that_waits_is_one_transaction(path: Path) -> None:
    """And each of them hears of its own failure alone."""
    file = SqliteFile(path, RECORDS, durable=True)
    await file.open()
    begun: list[int] = []

    def step(number: int) -> Any:
        begun.append(number)
        yield "insert into workers values (?, 0)", (f"w{number}",)
        if number == 70:
            raise KeyError(number)
        rows = yield "select count(*) from workers", ()
        return rows[0][0]

    answers = await asyncio.gather(
        *(file.write(lambda number=number: step(number)) for number in range(150)), return_exceptions=True
    )
    assert isinstance(answers.pop(70), KeyError)
    assert sorted(answers) == list(range(1, 150))
    assert begun.count(70) == 2, "with the others, then by itself"
    assert len(begun) > 150
    [(count,)] = await file.read(lambda: _rows("select count(*) from workers"))
    assert count == 149
    assert MOST_CHANGES == 100
    await file.close()


async def test_the_most_that_one_transaction_changes_is_written_once(path: Path) -> None:
    """Though it is more than a connection keeps, and comes to the same pages of an index again and again."""
    file = SqliteFile(path, RECORDS, durable=True)
    await file.open()
    log = path.with_name(f"{path.name}-wal")
    keys = [f"{number * 7919 % 100_003:08}" * 100 for number in range(MOST_BYTES // 800)]

    def step() -> Any:
        for key in keys:
            yield "insert into workers values (?, 0)", (key,)

    size, written = log.stat().st_size, written_bytes()
    await file.write(step)
    size, written = log.stat().st_size - size, written_bytes() - written
    assert size > 2 * MOST_BYTES > CACHE_PAGES * PAGE_BYTES
    assert written < size * 1.01
    await file.close()


def written_bytes() -> int:
    """By this process, to whatever."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text(encoding="ascii").splitlines())
    return int(counts["wchar"])


async def test_where_several_write_a_group_waits_for_others(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whoever writes alone is not held up."""
    file = SqliteFile(path, RECORDS, durable=True)
    await file.open()
    begun: list[str] = []
    all_wait, may_go_on = threading.Event(), threading.Event()
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        all_wait.set()
        assert may_go_on.wait(PROMPTLY)

    def step(name: str, fails: bool = False) -> Any:
        begun.append(name)
        yield "insert into workers values (?, 0)", (name,)
        if fails:
            raise KeyError(name)

    begins = threading.Event()

    def first() -> Any:
        begins.set()
        assert all_wait.wait(PROMPTLY)
        yield from step("first")

    monkeypatch.setattr(time, "sleep", wait)
    alone = file.write(first)
    assert await asyncio.to_thread(begins.wait, PROMPTLY)
    together = [file.write(lambda name=name: step(name)) for name in ("a", "b")]
    all_wait.set()
    await asyncio.gather(alone, *together)
    assert waits == []

    all_wait.clear()
    one = file.write(lambda: step("one"))
    assert await asyncio.to_thread(all_wait.wait, PROMPTLY)
    another = file.write(lambda: step("another", fails=True))
    may_go_on.set()
    with pytest.raises(KeyError):
        await another
    await one
    assert (waits, begun.count("one")) == ([GATHER_SECONDS], 2), "with the other, then by itself"
    await file.close()


class Held:
    """Tells when nobody holds it any more."""

    def __init__(self) -> None:
        self.gone = threading.Event()
        weakref.finalize(self, self.gone.set)


async def test_what_was_written_or_read_is_not_held_until_somebody_asks_again(path: Path) -> None:
    """A response may be large, and so may the history that was read for a request."""
    file = SqliteFile(path, RECORDS, durable=True)
    await file.open()

    def step(held: Held) -> Any:
        yield "select 1", ()
        return held

    for do in (file.write, file.read):
        held = Held()
        gone = held.gone
        assert await do(partial(step, held)) is held
        del held
        assert await asyncio.to_thread(gone.wait, PROMPTLY)
    await file.close()


def _rows(statement: str) -> Any:
    return (yield statement, ())
