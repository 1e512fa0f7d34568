"""Logs and memos in every engine: the same events for everybody, or none at all."""

import asyncio
from typing import Any

import pytest

from proxy.shell.stores.protocol import Cursor, Key, LogClosed, LogExcerpt, LogRow
from tests.support.stores import SHORT_LOG, Terms

LOG = Key("t", "resp_1")
DAY = 86_400
PLENTY = 1 << 20


def event(number: int) -> bytes:
    return b'{"sequence_number": %d, "delta": "word"}' % number


def row(first: int, count: int = 1, key: Key = LOG) -> LogRow:
    return LogRow(key, first, [event(number) for number in range(first, first + count)])


async def replay(live: Any, next: int = 0, key: Key = LOG, most_bytes: int = PLENTY) -> LogExcerpt | None:
    cursor = Cursor(key, next)
    return (await live.read([cursor], most_bytes))[cursor]


async def test_every_cursor_gets_exactly_what_follows(live: Any) -> None:
    """T58, T59, U39, U40: at the start, inside a row, across those where packing begins anew, at the end, behind it."""
    for first in range(0, 120, 3):
        assert await live.append([row(first, 3)]) == {}
    await live.end(LOG, 120, event(120))
    cursors = [Cursor(LOG, next) for next in range(130)]
    for _ in range(2):
        found = await live.read(cursors, PLENTY)
        for cursor in cursors:
            expected = [event(number) for number in range(cursor.next, 121)]
            assert found[cursor] == LogExcerpt(expected, ended=True)


async def test_a_log_in_work_has_no_end(live: Any) -> None:
    assert await replay(live) is None
    await live.append([row(0, 2)])
    assert await replay(live) == LogExcerpt([event(0), event(1)], ended=False)
    assert await replay(live, 2) == await replay(live, 9) == LogExcerpt([], ended=False)
    assert await replay(live, key=Key("other", LOG.id)) is None


async def test_a_reader_takes_what_fits(live: Any) -> None:
    """U44: several readers share it, each goes on."""
    for first in range(40):
        await live.append([row(first)])
    await live.end(LOG, 40, event(40))
    cursors, found = [Cursor(LOG, 0), Cursor(LOG, 35)], {0: [], 35: []}
    starts = [0, 35]
    while cursors:
        some = await live.read(cursors, 300)
        assert all(sum(map(len, each.events)) < 340 for each in some.values())
        later = []
        for start, cursor in zip(starts, cursors, strict=True):
            found[start] += some[cursor].events
            if not some[cursor].ended:
                later.append((start, Cursor(LOG, cursor.next + len(some[cursor].events))))
        starts, cursors = [start for start, _ in later], [cursor for _, cursor in later]
    assert found == {start: [event(number) for number in range(start, 41)] for start in (0, 35)}


async def test_events_are_there_once(live: Any) -> None:
    """Appended again, in other pieces, and by two who write."""
    await live.append([row(0, 4)])
    await live.append([row(0, 4), row(2, 4), row(5, 1)])
    await asyncio.gather(*(live.append([row(6, 3)]) for _ in range(4)))
    assert await live.append([row(9), row(10)]) == {}
    assert await replay(live) == LogExcerpt([event(number) for number in range(11)], ended=False)


async def test_a_log_never_lacks_events_in_between(live: Any) -> None:
    """U24, T66: what was lost makes the whole log unreadable, for good; its owner goes on without."""
    await live.append([row(0), row(0, key=Key("t", "resp_2"))])
    refused = {LOG: LogClosed.GONE}
    assert await live.append([row(2), row(1, key=Key("t", "resp_2"))]) == refused
    assert await live.append([row(1)]) == await live.append([row(0)]) == refused
    assert await replay(live) is await replay(live, 5) is None
    await live.end(LOG, 3, event(3))
    assert await replay(live) is None
    other = Key("t", "resp_3")
    assert await live.append([row(4, key=other)]) == {other: LogClosed.GONE}
    await live.append([row(0, key=Key("t", "resp_4"))])
    await live.end(Key("t", "resp_4"), 5, event(5))
    assert await replay(live, key=Key("t", "resp_4")) is None


async def test_a_log_has_a_limit(live: Any) -> None:
    """U42, T66."""
    big = [b'"' + b"x" * (SHORT_LOG // 2 - 2) + b'"'] * 2
    assert await live.append([LogRow(LOG, 0, big)]) == {}
    assert (await replay(live)).events == big
    assert await live.append([LogRow(LOG, 2, [b"1"])]) == {LOG: LogClosed.GONE}
    assert await replay(live) is None


async def test_a_log_that_is_shut_takes_no_events_but_its_end(live: Any) -> None:
    """U41, U43: whoever shuts it knows the last number that anybody saw."""
    await live.append([row(0, 3)])
    for _ in range(2):
        assert await live.shut(LOG) == 2
        assert await live.append([row(3)]) == {LOG: LogClosed.OVER}
    assert await replay(live, 2) == LogExcerpt([event(2)], ended=False)
    for number, text in ((3, b'"first"'), (3, b'"second"'), (4, b'"third"')):
        await live.end(LOG, number, text)
    assert await replay(live, 2) == LogExcerpt([event(2), b'"first"'], ended=True)
    assert await live.append([row(3)]) == {LOG: LogClosed.OVER}
    assert await live.shut(LOG) == 3


async def test_what_was_shut_before_it_began_stays_empty(live: Any) -> None:
    assert await live.shut(LOG) == -1
    assert await live.append([row(0)]) == {LOG: LogClosed.OVER}
    await live.end(LOG, 0, event(0))
    assert await replay(live) == LogExcerpt([event(0)], ended=True)


async def test_two_who_end_a_log_agree(live: Any) -> None:
    """T51, T92."""
    await live.append([row(0)])
    await asyncio.gather(*(live.end(LOG, 1, b'"%d"' % n) for n in range(10)))
    first = await replay(live)
    assert [await replay(live) for _ in range(4)] == [first] * 4
    assert len(first.events) == 2


async def test_logs_are_kept_ten_minutes_after_their_end(live: Any, terms: Terms) -> None:
    """T66, U42; and a day if nobody ends them."""
    open_one, dropped = Key("t", "open"), Key("t", "dropped")
    await live.append([row(0), row(0, key=open_one), row(0, key=dropped)])
    await live.drop(dropped)
    assert await replay(live, key=dropped) is None
    terms.date += 3600
    await live.end(LOG, 1, event(1))
    terms.date += 599
    assert (await replay(live)).ended
    assert await live.sweep(50) == 0
    terms.date += 1
    assert await replay(live) is None
    assert await replay(live, key=open_one) is not None
    assert await live.sweep(50) == 1
    terms.date += DAY
    assert await replay(live, key=open_one) is None
    assert [await live.sweep(50) for _ in range(2)] == [1, 0]


async def test_memos(live: Any, terms: Terms) -> None:
    """U57."""
    await live.remember("t", {"a": b"1", "b": b"2"}, 100)
    await live.remember("t", {"b": b"3"}, 200)
    await live.remember("other", {"a": b"4"}, 100)
    assert await live.recall("t", ["a", "b", "c"]) == {"a": b"1", "b": b"3"}
    assert await live.recall("other", ["a", "b"]) == {"a": b"4"}
    terms.date += 100
    assert await live.recall("t", ["a", "b"]) == {"b": b"3"}
    assert await live.sweep(1) == await live.sweep(50) == 1
    assert await live.sweep(50) == 0
    assert await live.recall("t", ["b"]) == {"b": b"3"}


@pytest.mark.parametrize("count", [0, 1, 3, 200])
async def test_memos_are_found_together(live: Any, count: int) -> None:
    """U57: those that there are, however many are asked for."""
    keys = [str(number) for number in range(count)]
    await live.remember("t", {key: key.encode() for key in keys[::2]}, 100)
    assert await live.recall("t", keys) == {key: key.encode() for key in keys[::2]}


@pytest.mark.parametrize("text", ["\x01 ü \U0001f600", "", "x" * 9_000])
async def test_any_event_comes_back(live: Any, text: str) -> None:
    events = [f'"{text}"'.encode(), b"[\n1\n]", f'"{text[:100]}"'.encode()]
    await live.append([LogRow(LOG, 0, events)])
    assert (await replay(live)).events == events
