"""F07, R7: so many at a backend, so many who wait, and an answer at once for all others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from proxy.core.errors import Spared
from proxy.shell.gate import Gate, Room
from tests.shell.backend import PROMPTLY

NARROW = Room(places=1, waiting=1, wait_seconds=PROMPTLY)


@pytest.fixture
async def inside() -> AsyncIterator[AsyncExitStack]:
    """Whoever enters stays until it is closed."""
    async with AsyncExitStack() as stack:
        yield stack


def waiting(gate: Gate, entered: list[str], name: str) -> asyncio.Task[None]:
    async def wait() -> None:
        async with gate.place():
            entered.append(name)

    return asyncio.get_running_loop().create_task(wait())


async def all_have_come_so_far() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_without_a_number_everybody_enters(inside: AsyncExitStack) -> None:
    gate = Gate(Room())
    for _ in range(2000):
        await inside.enter_async_context(gate.place())


async def test_one_more_than_may_wait_hears_so_at_once(inside: AsyncExitStack) -> None:
    gate = Gate(NARROW)
    await inside.enter_async_context(gate.place())
    entered: list[str] = []
    second = waiting(gate, entered, "second")
    await all_have_come_so_far()
    with pytest.raises(Spared, match="as many requests as it may have") as refusal:
        await inside.enter_async_context(gate.place())
    assert (refusal.value.status, refusal.value.retry_after) == (503, 1)
    await inside.aclose()
    await second
    assert entered == ["second"]


async def test_places_are_given_in_the_order_in_which_they_were_asked_for(inside: AsyncExitStack) -> None:
    gate = Gate(Room(places=1, waiting=3))
    await inside.enter_async_context(gate.place())
    entered: list[str] = []
    tasks = []
    for name in ("a", "b", "c"):
        tasks.append(waiting(gate, entered, name))
        await all_have_come_so_far()
    await inside.aclose()
    await asyncio.gather(*tasks)
    assert entered == ["a", "b", "c"]


async def test_nobody_waits_for_ever(inside: AsyncExitStack) -> None:
    gate = Gate(Room(places=1, waiting=1, wait_seconds=0.01))
    await inside.enter_async_context(gate.place())
    for _ in range(2):  # the first one's place in the queue is free again
        with pytest.raises(Spared, match="in time"):
            await inside.enter_async_context(gate.place())


async def test_who_leaves_while_waiting_leaves_no_trace(inside: AsyncExitStack) -> None:
    """R5."""
    gate = Gate(NARROW)
    await inside.enter_async_context(gate.place())
    entered: list[str] = []
    for _ in range(3):
        left = waiting(gate, entered, "left")
        await all_have_come_so_far()
        left.cancel()
        await asyncio.wait([left])
    stayed = waiting(gate, entered, "stayed")
    await all_have_come_so_far()
    await inside.aclose()
    await stayed
    assert entered == ["stayed"]


async def test_who_leaves_just_as_a_place_is_given_hands_it_on(inside: AsyncExitStack) -> None:
    gate = Gate(Room(places=1, waiting=2))
    await inside.enter_async_context(gate.place())
    entered: list[str] = []
    first, second = waiting(gate, entered, "first"), waiting(gate, entered, "second")
    await all_have_come_so_far()
    await inside.aclose()
    first.cancel()
    async with asyncio.timeout(PROMPTLY):
        await asyncio.wait([first, second])
    assert entered == ["second"]


async def test_a_request_that_failed_gives_its_place_back() -> None:
    gate = Gate(Room(places=1))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            async with gate.place():
                raise ZeroDivisionError
