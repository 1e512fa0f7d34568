"""Logs that their owners did not end."""

import pytest

from proxy.core.stored import endings
from proxy.shell.stores import log_ends
from proxy.shell.stores.log_ends import close_log, events_of
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.protocol import Cursor, LogRow
from tests.support.runs import event, key_of, queued
from tests.support.stores import Terms


@pytest.fixture
def live() -> MemoryLive:
    return MemoryLive(Terms().clock)


async def test_u41_two_who_close_a_log_close_it_once(live: MemoryLive) -> None:
    record = endings.orphaned(queued())
    await live.append([LogRow(key_of(record), 0, [event(0), event(1)])])
    for _ in range(2):
        await close_log(live, key_of(record), record)
    cursor = Cursor(key_of(record), 2)
    replay = (await live.read([cursor], 1 << 20))[cursor]
    assert replay is not None
    assert (replay.events, replay.ended) == ([endings.terminal_event(record, 2)], True)


async def test_a_log_without_its_head_is_none(live: MemoryLive) -> None:
    """Clients need the first event to make anything of the others."""
    record = endings.orphaned(queued())
    await close_log(live, key_of(record), record)
    cursor = Cursor(key_of(record), 0)
    assert (await live.read([cursor], 1))[cursor] is None


async def test_t68_what_was_said_is_read_in_portions(
    live: MemoryLive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_ends, "READ_BYTES", 100)
    record = queued()
    assert await events_of(live, key_of(record)) == []
    events = [event(number) for number in range(20)]
    await live.append([LogRow(key_of(record), 0, events)])
    assert await events_of(live, key_of(record)) == events
