"""Who follows a run: fed while he keeps up, reading otherwise, and never with more before him than he may have."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from proxy.shell.runs import followers as module
from proxy.shell.runs.followers import Follower, Followers
from proxy.shell.runs.log_writer import RunLog
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.protocol import Key, LogRow
from tests.support.runs import Failing, event
from tests.support.stores import Terms

PROMPTLY = 5.0
KEY = Key("ann", "resp_1")


class World:
    def __init__(self) -> None:
        self.live = Failing(MemoryLive(Terms().clock))
        self.logs: dict[Key, RunLog] = {}
        self.followers = Followers(self.live, self.logs, self.pause)  # type: ignore[arg-type]
        self.pauses: list[float] = []
        self.paused = asyncio.Semaphore(0)

    async def pause(self, ends: asyncio.Event, seconds: float) -> None:
        """Which is over at once."""
        self.pauses.append(seconds)
        self.paused.release()
        await asyncio.sleep(0)

    def owns(self) -> RunLog:
        self.logs[KEY] = RunLog(KEY)
        return self.logs[KEY]

    async def keeps(self, first: int, count: int) -> list[bytes]:
        """As a log writer does."""
        events = [event(first + number) for number in range(count)]
        await self.live.append([LogRow(KEY, first, events)])
        if KEY in self.logs:
            self.logs[KEY].next = first + count
            self.followers.appended(KEY, first, events)
        return events


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    made = World()
    running = asyncio.get_running_loop().create_task(made.followers.run())
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def more(follower: Follower) -> list[bytes]:
    async with asyncio.timeout(PROMPTLY):
        return await follower.more()


async def test_who_keeps_up_with_a_run_of_this_process_reads_nothing() -> None:
    async with world() as made:
        made.owns()
        one, two = made.followers.attach(KEY, 0), made.followers.attach(KEY, 1)
        events = await made.keeps(0, 2)
        assert await more(one) == events
        assert await more(two) == events[1:]
        assert "read" not in made.live.asked
        made.followers.appended(KEY, 2, [event(2)], ended=True)
        assert await more(one) == [event(2)]
        assert (await more(one), one.ended) == ([], True)


async def test_who_comes_later_reads_and_is_fed_from_there() -> None:
    async with world() as made:
        made.owns()
        kept = await made.keeps(0, 3)
        one = made.followers.attach(KEY, 1)
        assert await more(one) == kept[1:]
        new = await made.keeps(3, 1)
        assert await more(one) == new
        assert made.live.asked.count("read") == 1


async def test_u40_who_is_ahead_gets_what_comes_behind_his_place() -> None:
    async with world() as made:
        made.owns()
        one = made.followers.attach(KEY, 3)
        await made.keeps(0, 2)
        late = await made.keeps(2, 3)
        assert await more(one) == late[1:]
        two = made.followers.attach(KEY, 99)
        made.followers.appended(KEY, 5, [event(5)], ended=True)
        assert (await more(two), two.ended) == ([], True)


async def test_u44_what_waits_for_a_slow_one_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING_BYTES", 100)
    async with world() as made:
        made.owns()
        slow = made.followers.attach(KEY, 0)
        for number in range(10):
            await made.keeps(number, 1)
        taken = await more(slow)
        assert 1 <= len(taken) < 10
        while len(taken) < 10:
            taken += await more(slow)
        assert taken == [event(number) for number in range(10)]


async def test_u44_a_thousand_who_do_not_read_hold_no_more_than_all_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One poll for all, and what they miss is read when they come to it."""
    monkeypatch.setattr(module, "ALL_WAITING_BYTES", 100_000)
    async with world() as made:
        made.owns()
        idle = [made.followers.attach(KEY, 0) for _ in range(1000)]
        for number in range(50):
            await made.keeps(number, 1)
        assert sum(each.weight for each in idle) < 200_000
        assert "read" not in made.live.asked
        first = await asyncio.gather(*(more(each) for each in idle))
        assert {len(each) for each in first} == {len(first[0])}
        rest = await asyncio.gather(*(more(each) for each in idle))
        assert len(first[0]) + len(rest[0]) == 50
        assert made.live.asked.count("read") == 1


async def test_t66_who_has_missed_what_is_gone_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as made:
        made.owns().next = 5
        late = made.followers.attach(KEY, 0)
        assert (await more(late), late.lost, late.ended) == ([], True, False)


async def test_t95_a_run_of_another_process_is_read_until_its_end() -> None:
    """U39, U44: one statement for all who follow it."""
    async with world() as made:
        first = await made.keeps(0, 2)
        all = [made.followers.attach(KEY, 0) for _ in range(20)]
        assert await asyncio.gather(*map(more, all)) == [first] * 20
        assert made.live.asked.count("read") == 1
        waiting = asyncio.gather(*map(more, all))
        await made.paused.acquire()
        second = await made.keeps(2, 1)
        assert await waiting == [second] * 20
        await made.live.end(KEY, 3, event(3))
        assert await asyncio.gather(*map(more, all)) == [[event(3)]] * 20
        assert all[0].ended


async def test_u41_a_run_that_is_not_this_process_s_any_more_is_read() -> None:
    async with world() as made:
        made.owns()
        one = made.followers.attach(KEY, 0)
        await made.keeps(0, 1)
        await more(one)
        waiting = asyncio.get_running_loop().create_task(more(one))
        await asyncio.sleep(0)
        await made.live.end(KEY, 1, event(1))
        del made.logs[KEY]
        made.followers.left(KEY)
        assert await waiting == [event(1)]


async def test_a_store_that_is_down_is_asked_again() -> None:
    async with world() as made:
        kept = await made.keeps(0, 1)
        made.live.down["read"] = 2
        assert await more(made.followers.attach(KEY, 0)) == kept


async def test_quiet_logs_are_polled_more_slowly() -> None:
    async with world() as made:
        await made.keeps(0, 1)
        one = made.followers.attach(KEY, 1)
        waiting = asyncio.get_running_loop().create_task(more(one))
        for _ in range(15):
            await made.paused.acquire()
        assert made.pauses[:15] == [module.POLL_SECONDS] * 10 + [module.SLOW_POLL_SECONDS] * 5
        kept = await made.keeps(1, 1)
        assert await waiting == kept


async def test_a_pause_ends_when_it_is_urgent() -> None:
    urgent = asyncio.Event()
    await module.pause(urgent, 0.0)
    urgent.set()
    async with asyncio.timeout(PROMPTLY):
        await module.pause(urgent, 1000)


async def test_who_leaves_is_forgotten() -> None:
    async with world() as made:
        one, two = made.followers.attach(KEY, 0), made.followers.attach(KEY, 0)
        made.followers.detach(one)
        made.followers.detach(two)
        made.followers.left(KEY)
        made.followers.appended(KEY, 0, [event(0)])
        assert (one.next, two.next) == (0, 0)
