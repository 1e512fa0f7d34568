"""Logs where the server loses a part of them, where answers are lost, and where two write the same one."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.shell.stores.log_packing import ROWS_OF_A_STREAM
from proxy.shell.stores.protocol import Cursor, Key, LogClosed, LogExcerpt, LogRow, StoreDown
from proxy.shell.stores.redis.live import RedisLive
from tests.support.redis_live import patient, prefix_of_its_own, until_done
from tests.support.redis_server import RedisProcess, shared_url

LOG = Key("t", "resp_1")
EVENTS = [b'{"type":"response.output_text.delta","sequence_number":%d}' % number for number in range(120)]
PLENTY = 1 << 20


def row(first: int, count: int = 1) -> LogRow:
    return LogRow(LOG, first, EVENTS[first : first + count])


async def replay(live: RedisLive, next: int = 0) -> LogExcerpt | None:
    cursor = Cursor(LOG, next)
    return (await live.read([cursor], PLENTY))[cursor]


async def keys(process: RedisProcess, live: RedisLive) -> list[str]:
    """Its head, and its rows."""
    with process.client(decode_responses=True) as client:
        return sorted(client.scan_iter("*:log:*resp_1*"))


async def test_a_log_whose_rows_are_deleted_is_gone(process: RedisProcess, live: RedisLive) -> None:
    """U24: as a server may that is full; what comes afterwards does not pass for all of it."""
    await live.append([row(0, 5)])
    _, rows = await keys(process, live)
    with process.client() as client:
        client.delete(rows)
    assert await replay(live) is await replay(live, 3) is None
    assert await live.append([row(5, 2)]) == {}
    assert await replay(live) is await replay(live, 5) is await replay(live, 6) is None
    await live.append([row(7, ROWS_OF_A_STREAM)])
    assert await replay(live) is None


async def test_a_log_whose_head_is_deleted_is_gone(process: RedisProcess, live: RedisLive) -> None:
    await live.append([row(0, 5)])
    head, _ = await keys(process, live)
    with process.client() as client:
        client.delete(head)
    assert await replay(live) is None
    assert await live.append([row(5)]) == {LOG: LogClosed.GONE}
    assert await replay(live) is None
    with process.client() as client:
        client.delete(head)
    assert await live.append([row(0, 3)]) == {}
    assert await replay(live) == LogExcerpt(EVENTS[:3], ended=False)


async def test_rows_that_were_left_over_are_not_read_as_its_own(
    process: RedisProcess, live: RedisLive
) -> None:
    await live.append([row(0, 5), row(5, 5)])
    head, _ = await keys(process, live)
    with process.client() as client:
        client.delete(head)
    assert await live.shut(LOG) == -1
    await live.end(LOG, 0, EVENTS[0])
    assert await replay(live) == LogExcerpt(EVENTS[:1], ended=True)


async def test_what_was_not_answered_is_there_once(process: RedisProcess, hasty: RedisLive) -> None:
    """U07: it is done when the server wakes, before what is appended after it, or behind it."""
    await until_done(lambda: hasty.append([row(0, 2)]))
    for first in range(2, 20, 6):
        process.freeze()
        with pytest.raises(StoreDown):
            await hasty.append([row(first, 2)])
        process.thaw()
        assert await until_done(lambda first=first: hasty.append([row(first, 4)])) == {}  # type: ignore[misc]
        assert await until_done(lambda first=first: hasty.append([row(first + 4, 2)])) == {}  # type: ignore[misc]
    for next in range(20):
        expected = LogExcerpt(EVENTS[next:20], ended=False)
        assert await until_done(lambda next=next: replay(hasty, next)) == expected  # type: ignore[misc]


async def test_the_packing_begins_anew_for_who_reads_in_the_middle(live: RedisLive) -> None:
    """U40."""
    for first in range(0, 120, 2):
        await live.append([row(first, 2)])
    for next in range(120):
        assert await replay(live, next) == LogExcerpt(EVENTS[next:], ended=False)


pieces = st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 9))


@settings(
    deadline=None, database=None, derandomize=True, max_examples=40, suppress_health_check=list(HealthCheck)
)
@given(st.lists(pieces, min_size=1, max_size=20))
def test_two_may_write_the_same_log(found: list[tuple[bool, int, int]]) -> None:
    """In any pieces, which may lie over each other."""

    async def check() -> None:
        prefix = prefix_of_its_own()
        writers = [patient(shared_url(), prefix) for _ in range(2)]
        written = 0
        for second, before, count in found:
            first = max(0, written - before)
            assert await writers[second].append([row(first, count)]) == {}
            written = max(written, first + count)
        for next in range(written):
            assert await replay(writers[0], next) == LogExcerpt(EVENTS[next:written], ended=False)
        await writers[0].drop(LOG)
        for writer in writers:
            await writer.close()

    asyncio.run(check())


async def test_a_big_event_is_read_with_what_fits(live: RedisLive) -> None:
    events: list[Any] = [b'"' + bytes([65 + n]) * 70_000 + b'"' for n in range(6)]
    await live.append([LogRow(LOG, 0, events)])
    found: list[bytes] = []
    while len(found) < 6:
        cursor = Cursor(LOG, len(found))
        some = (await live.read([cursor], 100_000))[cursor]
        assert some is not None
        assert 1 <= len(some.events) <= 2
        found += some.events
    assert found == events
    await live.drop(LOG)
