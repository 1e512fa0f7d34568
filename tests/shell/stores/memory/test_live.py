"""Logs and memos in memory: bounded by their bytes. All else is asked of every engine in tests/stores."""

import tracemalloc

from proxy.core import jsontext
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.protocol import Cursor, Key, LogClosed, LogRow
from tests.support.stores import Terms


async def test_memory_is_bounded_by_bytes() -> None:
    terms = Terms()
    live = MemoryLive(terms.clock, most_log_bytes=500, most_bytes=1000)
    await live.remember("t", {"old": b"x" * 300, "new": b"x" * 300}, 60)
    first, second, third = (Key("t", id) for id in "abc")
    await live.append([LogRow(first, 0, [b"x" * 401])])
    assert await live.recall("t", ["old", "new"]) == {"new": b"x" * 300}, (
        "the oldest memo, as 1000 is the limit"
    )
    terms.date += 1
    await live.append([LogRow(second, 0, [b"x" * 401])])
    assert await live.recall("t", ["new"]) == {}
    terms.date += 1
    await live.append([LogRow(third, 0, [b"x" * 401])])
    found = await live.read([Cursor(key, 0) for key in (first, second, third)], 10_000)
    assert [replay is not None for replay in found.values()] == [False, True, True]
    assert await live.append([LogRow(first, 1, [b"x"])]) == {first: LogClosed.GONE}


async def test_nobodys_memos_make_another_forget() -> None:
    """U57: who has the most loses the oldest."""
    live = MemoryLive(Terms().clock, most_bytes=1000)
    await live.remember("t", {"a": b"x" * 100}, 10)
    for number in range(20):
        await live.remember("many", {str(number): b"x" * 100}, 60)
    kept = await live.recall("many", [str(number) for number in range(20)])
    assert list(map(int, kept)) == list(range(11, 20))
    assert await live.recall("t", ["a"]) == {"a": b"x" * 100}


async def test_what_is_counted_is_what_it_takes() -> None:
    """As of records."""
    live, key = MemoryLive(Terms().clock), Key("t", "a")
    tracemalloc.start()
    try:
        for number in range(300):
            await live.append([LogRow(key, number, [jsontext.dumps({"delta": f"{number}" * 40})])])
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 300 * 300
