"""Places in turn: nobody waits behind all that another one has brought, and no place is lost."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from proxy.shell.offload.fair_slots import Crowded, Turns


class Crowd:
    """Who works, one at a time, and says when."""

    def __init__(self, places: int = 1) -> None:
        self.turns = Turns(places)
        self.done: list[str] = []
        self.at_work = 0
        self.most = 0

    async def work(self, owner: str) -> None:
        async with self.turns.turn(owner):
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


async def test_no_more_work_at_once_than_there_are_places() -> None:
    crowd = Crowd(places=2)
    await asyncio.gather(*crowd.come("abcaabbcc"))
    assert crowd.most == 2
    assert sorted(crowd.done) == [*"aaabbbccc"]


async def test_whoever_leaves_while_waiting_takes_no_place_along() -> None:
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
        assert not crowd.turns._waiting
        assert crowd.turns._free == 1


async def test_what_fails_gives_its_place_back() -> None:
    turns = Turns(1)
    with suppress(ValueError):
        async with turns.turn("a"):
            raise ValueError
    async with asyncio.timeout(1), turns.turn("b"):
        pass


async def test_whoever_gives_way_while_leaving_gives_back_no_place_that_it_had_not() -> None:
    turns = Turns(1)
    await turns.take("a")
    first, second = (asyncio.get_running_loop().create_task(turns.take("b")) for _ in range(2))
    await asyncio.sleep(0)
    assert turns.make_way("c")
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert not turns.is_free
    turns.give_back()
    await first
    turns.give_back()
    assert turns.is_free


async def test_nobody_gives_way_to_one_who_has_as_many() -> None:
    turns = Turns(1)
    await turns.take("a")
    tasks = [asyncio.get_running_loop().create_task(turns.take(owner)) for owner in "bbc"]
    await asyncio.sleep(0)
    assert not turns.make_way("b")
    assert not turns.make_way("c")
    assert turns.make_way("d")
    with pytest.raises(Crowded):
        await tasks[1]
    assert not turns.make_way("d")
