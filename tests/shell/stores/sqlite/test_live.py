"""What may vanish, in a file: what no other engine does. `tests/stores` asks all engines the same."""

import tracemalloc
from pathlib import Path

from proxy.shell.stores.protocol import Cursor, Granted, Key, LogClosed, LogRow, Want
from proxy.shell.stores.sqlite.live import SqliteLive
from tests.support.stores import Terms


async def test_a_tenant_is_forgotten_whole_and_alone(tmp_path: Path) -> None:
    live = SqliteLive(tmp_path / "live.db", Terms().clock)
    await live.open()
    keys = [Key(tenant, f"resp_{number}") for tenant in ("t", "other") for number in range(60)]
    for first in (0, 1):
        await live.append([LogRow(key, first, [b"{}"]) for key in keys])
    for tenant in ("t", "other"):
        await live.remember(tenant, {"a": b"1", "b": b"2"}, 60)
        await live.charge(tenant, [Want("requests", 60, 5)])
    await live.forget("t")
    read = await live.read([Cursor(key, 0) for key in keys], 10_000)
    assert {cursor.key.tenant for cursor, replay in read.items() if replay} == {"other"}
    assert await live.recall("t", ["a", "b"]) == {}
    assert await live.recall("other", ["a", "b"]) == {"a": b"1", "b": b"2"}
    just_asked = [Want("requests", 60, 0)]
    assert await live.take("t", just_asked) == Granted([0.0])
    assert await live.take("other", just_asked) == Granted([5.0])
    await live.close()


async def test_nobodys_memos_make_another_forget(tmp_path: Path) -> None:
    """U57: who has the most loses the oldest, when the sweeper comes, a few at a time."""
    live = SqliteLive(tmp_path / "live.db", Terms().clock, most_memo_bytes=1000)
    await live.open()
    await live.remember("t", {"a": b"x" * 100}, 10)
    for number in range(20):
        await live.remember("many", {str(number): b"x" * 100}, 60 + number)
    assert [await live.sweep(6) for _ in range(4)] == [6, 5, 0, 0]
    kept = await live.recall("many", [str(number) for number in range(20)])
    assert list(map(int, kept)) == list(range(11, 20))
    assert await live.recall("t", ["a"]) == {"a": b"x" * 100}
    await live.close()


async def test_nothing_is_left_of_a_log_that_another_process_has_ended(tmp_path: Path) -> None:
    """T66: whoever cancels a response stops where the balancer sends him, mostly not where it is worked on."""
    here, there = (SqliteLive(tmp_path / "live.db", Terms().clock) for _ in range(2))
    await here.open()
    await there.open()

    async def ended_there(number: int) -> None:
        key = Key("t", f"resp_{number}")
        await here.append([LogRow(key, 0, [b"{}"])])
        await there.shut(key)
        assert await here.append([LogRow(key, 1, [b"{}"])]) == {key: LogClosed.OVER}

    await ended_there(0)
    tracemalloc.start()
    try:
        for number in range(1, 51):
            await ended_there(number)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 50 * 4096
    await here.close()
    await there.close()
