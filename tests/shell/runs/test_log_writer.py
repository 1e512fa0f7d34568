"""Events on their way into the store: kept before they are shown, many logs at once, whatever the store does."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from proxy.shell.runs import log_writer
from proxy.shell.runs.log_writer import LogWriter, RunLog
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.protocol import Cursor, Key, LogRow
from tests.support.runs import Failing, event
from tests.support.stores import Terms

PROMPTLY = 5.0
STEPS = 1000
"""Of the loop."""


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[Key, int, int]] = []
        self.over: list[Key] = []
        self.slept: list[float] = []
        self.came = asyncio.Event()

    def appended(self, key: Key, first: int, events: Sequence[bytes], *, ended: bool = False) -> None:
        self.heard.append((key, first, len(events)))
        self.came.set()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


class World:
    def __init__(self, most_log_bytes: int = 1 << 20) -> None:
        self.live = Failing(MemoryLive(Terms().clock, most_log_bytes))
        self.listener = Listener()
        over: Callable[[Key], None] = self.listener.over.append
        self.writer = LogWriter(self.live, self.listener, over, self.listener.sleep)  # type: ignore[arg-type]


@asynccontextmanager
async def world(most_log_bytes: int = 1 << 20) -> AsyncIterator[World]:
    made = World(most_log_bytes)
    running = asyncio.get_running_loop().create_task(made.writer.run())
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def log(id: str = "resp_1") -> RunLog:
    return RunLog(Key("ann", id))


async def drained(made: World, *logs: RunLog) -> None:
    async with asyncio.timeout(PROMPTLY):
        for each in logs:
            await made.writer.drain(each)


async def test_the_events_of_all_logs_go_in_one_statement() -> None:
    async with world() as made:
        logs = [log(f"resp_{number}") for number in range(5)]
        for each in logs:
            made.writer.write(each, [event(0), event(1)])
        await drained(made, *logs)
        assert made.live.asked == ["append"]
        assert made.listener.heard == [(each.key, 0, 2) for each in logs]
        made.writer.write(logs[0], [event(2)])
        made.writer.write(logs[0], [])
        await drained(made, *logs)
        assert made.listener.heard[-1] == (logs[0].key, 2, 1)
        assert logs[0].next == 3


async def test_no_statement_has_more_rows_than_an_engine_takes_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_writer, "MOST_ROWS", 2)
    async with world() as made:
        logs = [log(f"resp_{number}") for number in range(5)]
        for each in logs:
            made.writer.write(each, [event(0)])
        await drained(made, *logs)
        assert made.live.asked == ["append"] * 3


async def test_t85_nothing_is_shown_that_is_not_kept_and_nothing_is_lost() -> None:
    async with world() as made:
        made.live.down["append"] = 2
        one = log()
        made.writer.write(one, [event(0)])
        await drained(made, one)
        assert made.listener.heard == [(one.key, 0, 1)]
        assert made.listener.slept == [log_writer.RETRY_SECONDS] * 2


async def test_u43_a_log_that_is_shut_takes_no_more_and_its_run_hears_of_it() -> None:
    async with world() as made:
        one = log()
        made.writer.write(one, [event(0)])
        await drained(made, one)
        await made.live.shut(one.key)
        made.writer.write(one, [event(1)])
        await drained(made, one)
        assert made.listener.over == [one.key]
        assert one.over
        made.writer.write(one, [event(1)])
        await drained(made, one)
        assert made.listener.heard == [(one.key, 0, 1)]


async def test_t66_a_log_over_its_limit_is_told_to_those_who_are_here() -> None:
    async with world(most_log_bytes=100) as made:
        one = log()
        for number in range(5):
            made.writer.write(one, [event(number)])
            await drained(made, one)
        assert one.gone
        assert [first for _, first, _ in made.listener.heard] == [0, 1, 2, 3, 4]
        assert made.live.asked.count("append") < 5


async def test_what_the_store_did_not_take_for_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """T85: the end of a run does not wait for its events for ever."""
    monkeypatch.setattr(log_writer, "DRAIN_SECONDS", 0.01)
    async with world() as made:
        made.live.down["append"] = float("inf")
        one = log()
        made.writer.write(one, [event(0)])
        await drained(made, one)
        assert one.gone
        assert made.listener.heard == [(one.key, 0, 1)]


async def until_gone(made: World, one: RunLog) -> None:
    """Another process finds nothing, rather than a part."""
    cursor = Cursor(one.key, 0)
    for _ in range(STEPS):
        if (await made.live.read([cursor], 100))[cursor] is None:
            return
        await asyncio.sleep(0)
    raise AssertionError("a part of it is there")


async def test_too_much_that_waits_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "MOST_LOG_BYTES", 10)
    async with world() as made:
        one = log()
        await made.live.append([LogRow(one.key, 0, [b"0"])])
        one.next = 1
        made.writer.write(one, [event(1)])
        await drained(made, one)
        assert one.gone
        assert made.listener.heard == [(one.key, 1, 1)]
        await until_gone(made, one)


async def test_u24_those_who_are_here_wait_for_a_store_that_is_away_for_some_seconds() -> None:
    """It hears that the log is not whole when it is back."""
    async with world() as made:
        one, other = log(), log("resp_2")
        made.writer.write(one, [event(0)])
        await drained(made, one)
        made.live.down["append"] = log_writer.MOST_FAILURES + 3
        made.listener.came.clear()
        made.writer.write(one, [event(1), event(2)])
        async with asyncio.timeout(PROMPTLY):
            await made.listener.came.wait()
        assert made.listener.slept == [log_writer.RETRY_SECONDS] * log_writer.MOST_FAILURES
        assert made.live.down["append"] > 0
        made.writer.write(one, [event(3)])
        await drained(made, one)
        await until_gone(made, one)
        assert made.listener.heard == [(one.key, 0, 1), (one.key, 1, 2), (one.key, 3, 1)]
        asked = len(made.live.asked)
        made.writer.write(one, [event(4)])
        made.writer.write(other, [event(0)])
        await drained(made, one, other)
        assert made.live.asked[asked:] == ["append"], "it goes on with the others"
        assert (one.gone, other.gone) == (True, False)


@pytest.mark.parametrize("was_done", [True, False])
async def test_a_log_that_was_given_up_is_gone_whatever_became_of_what_was_asked(was_done: bool) -> None:
    async with world() as made:
        one = log()
        if was_done:  # but nobody heard of it
            await made.live.append([LogRow(one.key, 0, [event(0)])])
        made.live.down["append"] = log_writer.MOST_FAILURES
        made.writer.write(one, [event(0)])
        await drained(made, one)
        await until_gone(made, one)


async def test_what_is_large_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "URGENT_BYTES", 10)
    monkeypatch.setattr(log_writer, "PAUSE_SECONDS", 60.0)
    async with world() as made:
        one = log()
        for number in range(3):
            made.writer.write(one, [event(number)])
            async with asyncio.timeout(PROMPTLY):
                await one.drained.wait()
        assert one.next == 3
