"""Slots in turn: no owner waits for all the work of another one, and no slot is lost."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from proxy.shell.offload.fair_slots import Evicted, FairSlots


class Crowd:
    """Who works, one at a time, and says when."""

    def __init__(self, slots: int = 1) -> None:
        self.slots = FairSlots(slots)
        self.done: list[str] = []
        self.at_work = 0
        self.most = 0

    async def work(self, owner: str) -> None:
        async with self.slots.slot(owner):
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            await asyncio.sleep(0)
            self.done.append(owner)
            self.at_work -= 1

    def come(self, owners: str) -> Iterator[asyncio.Task[None]]:
        for owner in owners:
            yield asyncio.get_running_loop().create_task(self.work(owner))


async def test_one_with_many_keeps_nobody_else_waiting() -> None:
    crowd = Crowd()
    await asyncio.gather(*crowd.come("aaaaaabbc"))
    assert "".join(crowd.done) == "aabcabaaa"


async def test_no_more_work_at_once_than_there_are_slots() -> None:
    crowd = Crowd(slots=2)
    await asyncio.gather(*crowd.come("abcaabbcc"))
    assert crowd.most == 2
    assert sorted(crowd.done) == [*"aaabbbccc"]


async def test_whoever_leaves_while_waiting_takes_no_slot_along() -> None:
    for pauses in range(8):
        crowd = Crowd()
        tasks = [*crowd.come("aabbcc")]
        for _ in range(pauses):
            await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        async with asyncio.timeout(1):
            await crowd.work("d")
        assert not crowd.slots._waiting
        assert crowd.slots._free == 1


async def test_what_fails_gives_its_place_back() -> None:
    slots = FairSlots(1)
    with suppress(ValueError):
        async with slots.slot("a"):
            raise ValueError
    async with asyncio.timeout(1), slots.slot("b"):
        pass


async def test_whoever_gives_way_while_leaving_gives_back_no_place_that_it_had_not() -> None:
    slots = FairSlots(1)
    await slots.take("a")
    first, second = (asyncio.get_running_loop().create_task(slots.take("b")) for _ in range(2))
    await asyncio.sleep(0)
    assert slots.evict_for("c")
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert not slots.is_free
    slots.give_back()
    await first
    slots.give_back()
    assert slots.is_free


async def test_nobody_gives_way_to_one_who_has_as_many() -> None:
    slots = FairSlots(1)
    await slots.take("a")
    tasks = [asyncio.get_running_loop().create_task(slots.take(owner)) for owner in "bbc"]
    await asyncio.sleep(0)
    assert not slots.evict_for("b")
    assert not slots.evict_for("c")
    assert slots.evict_for("d")
    with pytest.raises(Evicted):
        await tasks[1]
    assert not slots.evict_for("d")
