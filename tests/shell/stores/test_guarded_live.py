"""What may vanish, behind a guard: the same answers, in time."""

import asyncio

import pytest

from proxy.shell.stores.guard import Guard
from proxy.shell.stores.guarded_live import GuardedLive
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.opening import Opening
from proxy.shell.stores.protocol import Cursor, Granted, Key, LogExcerpt, LogRow, StoreDown, Ticket, Want
from tests.support.guarded_stores import SHORT, GuardNotes, Slow
from tests.support.stores import Terms

LOG = Key("t", "resp_1")


async def test_what_the_engine_says_is_passed_on_in_time() -> None:
    terms = Terms()
    slow = Slow(MemoryLive(terms.clock))
    seen = GuardNotes()
    live = GuardedLive(slow, Guard(SHORT, lambda: terms.steady, seen), Opening(slow.open, print))  # type: ignore[arg-type]
    await live.open()
    assert await live.append([LogRow(LOG, 0, [b"1"])]) == {}
    assert await live.shut(LOG) == 0
    await live.end(LOG, 1, b"2")
    cursor = Cursor(LOG, 0)
    assert await live.read([cursor], 100) == {cursor: LogExcerpt([b"1", b"2"], ended=True)}
    await live.drop(LOG)
    assert await live.read([cursor], 100) == {cursor: None}
    await live.remember("t", {"k": b"v"}, 10)
    assert await live.recall("t", ["k"]) == {"k": b"v"}
    want, ticket = Want("requests", 60), Ticket("q", "a")
    assert await live.take("t", [want]) == Granted([1.0])
    await live.charge("t", [want])
    assert await live.enter("w", [ticket]) == await live.ranks("w") == {ticket: 0}
    await live.leave([ticket])
    assert await live.ranks("w") == {}
    terms.date += 10
    assert await live.sweep(5) == 1
    assert seen.took_ == [
        "append", "shut", "end", "read", "drop_log", "read", "remember", "recall",
        "take", "charge", "enter", "ranks", "leave", "ranks", "sweep_live",
    ]  # fmt: skip
    slow.may.clear()
    for command in (
        live.append([]),
        live.read([], 1),
        live.recall("t", []),
        live.take("t", [want]),
        live.ranks("w"),
    ):
        with pytest.raises(StoreDown):
            await command
    slow.may.set()
    await asyncio.sleep(0)
    await live.close()
