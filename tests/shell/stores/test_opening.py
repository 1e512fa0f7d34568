"""Opening: a store that is away does not keep the process from starting, one that cannot be used does."""

import asyncio

import pytest

from proxy.shell.stores.opening import PAUSE_SECONDS, Opening
from proxy.shell.stores.protocol import StoreDown, StoreUnreadable


class Store:
    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.refused: list[str] = []
        self.slept: list[float] = []
        self.opened = asyncio.Event()
        self.frozen = asyncio.Event()
        self.frozen.set()

    async def open(self) -> None:
        await self.frozen.wait()
        if answer := self.answers.pop(0):
            raise answer
        self.opened.set()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def opening(self) -> Opening:
        return Opening(self.open, self.refused.append, self.sleep)


async def test_a_store_that_is_there_is_open() -> None:
    opening = Store(None).opening()
    assert await opening.begin(5) is True
    assert opening.has_opened
    await opening.close()


async def test_one_that_cannot_be_used_ends_the_start() -> None:
    with pytest.raises(StoreUnreadable, match="later version"):
        await Store(StoreUnreadable("later version")).opening().begin(5)


async def test_one_that_is_away_is_tried_for() -> None:
    store = Store(StoreDown(), StoreDown(), StoreDown(), None)
    opening = store.opening()
    assert await opening.begin(5) is False
    assert not opening.has_opened
    await store.opened.wait()
    await asyncio.sleep(0)
    assert opening.has_opened
    assert store.slept == [PAUSE_SECONDS] * 3
    await opening.close()


async def test_one_that_does_not_answer_opens_when_it_does() -> None:
    """U09: a frozen process holds its lock."""
    store = Store(None)
    store.frozen.clear()
    opening = store.opening()
    assert await opening.begin(0.01) is False
    store.frozen.set()
    await store.opened.wait()
    await opening.close()


async def test_one_that_came_late_and_cannot_be_used_is_told() -> None:
    store = Store(StoreDown(), StoreUnreadable("damaged"))
    opening = store.opening()
    assert await opening.begin(5) is False
    for _ in range(5):
        await asyncio.sleep(0)
    assert store.refused == ["damaged"]
    await opening.close()


async def test_closing_ends_the_tries() -> None:
    store = Store(*[StoreDown()] * 1000)
    opening = store.opening()
    await opening.begin(5)
    await opening.close()
    left = len(store.answers)
    await asyncio.sleep(0)
    assert len(store.answers) == left
