"""F07, E7: so many at a backend, so many who wait, and an answer at once for all others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from proxy.core.errors import ProxyFault, Spared
from proxy.shell import concurrency as module
from proxy.shell.concurrency import ConcurrencyLimit, ConcurrencyRules, SlotCounts
from tests.support.sharers import slot
from tests.support.sockets import PROMPTLY

NARROW = ConcurrencyRules(slots=1, waiting=1, wait_seconds=PROMPTLY)


@pytest.fixture
async def inside() -> AsyncIterator[AsyncExitStack]:
    """Whoever enters stays until it is closed."""
    async with AsyncExitStack() as stack:
        yield stack


def waiting(limit: ConcurrencyLimit, entered: list[str], name: str, owner: str = "ann") -> asyncio.Task[None]:
    async def wait() -> None:
        async with slot(limit, owner):
            entered.append(name)

    return asyncio.get_running_loop().create_task(wait())


async def all_have_come_so_far() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_without_a_number_everybody_enters(inside: AsyncExitStack) -> None:
    limit = ConcurrencyLimit(ConcurrencyRules())
    for _ in range(module.MAX_EXCHANGES // 2):
        await inside.enter_async_context(slot(limit, "ann"))


async def test_attack_16_one_alone_has_half_of_all_exchanges(
    inside: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F07: beyond it a request fails at once, others find room, and so does who comes back when one has ended."""
    monkeypatch.setattr(module, "MAX_EXCHANGES", 4)
    limit = ConcurrencyLimit(ConcurrencyRules())
    async with slot(limit, "ann"):
        await inside.enter_async_context(slot(limit, "ann"))
        with pytest.raises(ProxyFault, match="Too many requests are under way") as refusal:
            await inside.enter_async_context(slot(limit, "ann"))
        assert (refusal.value.status, refusal.value.retry_after) == (503, 1)
        await inside.enter_async_context(slot(limit, "bob"))
    await inside.aclose()
    for owner in ("ann", "ann", "bob"):
        await inside.enter_async_context(slot(limit, owner))


async def test_attack_16_who_finds_no_place_has_none_of_the_share(
    inside: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_EXCHANGES", 4)
    limit = ConcurrencyLimit(ConcurrencyRules(slots=1))
    async with slot(limit, "ann"):
        for _ in range(3):
            with pytest.raises(Spared):
                await inside.enter_async_context(slot(limit, "ann"))
    await inside.enter_async_context(slot(limit, "ann"))


async def test_one_more_than_may_wait_hears_so_at_once(inside: AsyncExitStack) -> None:
    limit = ConcurrencyLimit(NARROW)
    await inside.enter_async_context(slot(limit, "ann"))
    entered: list[str] = []
    second = waiting(limit, entered, "second")
    await all_have_come_so_far()
    with pytest.raises(Spared, match="as many requests as it may have") as refusal:
        await inside.enter_async_context(slot(limit, "ann"))
    assert (refusal.value.status, refusal.value.retry_after) == (503, 1)
    await inside.aclose()
    await second
    assert entered == ["second"]


async def test_places_are_given_in_the_order_in_which_they_were_asked_for(inside: AsyncExitStack) -> None:
    limit = ConcurrencyLimit(ConcurrencyRules(slots=1, waiting=3))
    await inside.enter_async_context(slot(limit, "ann"))
    entered: list[str] = []
    tasks = []
    for name in ("a", "b", "c"):
        tasks.append(waiting(limit, entered, name))
        await all_have_come_so_far()
    await inside.aclose()
    await asyncio.gather(*tasks)
    assert entered == ["a", "b", "c"]


async def test_whoever_has_most_waiting_gives_way_and_keeps_nobody_waiting_behind_them(
    inside: AsyncExitStack,
) -> None:
    """attack-16: one tenant's requests filled the queue, and everybody else got 503."""
    limit = ConcurrencyLimit(ConcurrencyRules(slots=1, waiting=3))
    await inside.enter_async_context(slot(limit, "ann"))
    entered: list[str] = []
    tasks = []
    for name, owner in (
        ("a1", "ann"),
        ("a2", "ann"),
        ("a3", "ann"),
        ("b1", "bob"),
        ("b2", "bob"),
        ("c1", "cy"),
    ):
        tasks.append(waiting(limit, entered, name, owner))
        await all_have_come_so_far()
    await inside.aclose()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert entered == ["a1", "b1", "c1"]
    assert [isinstance(end, Spared) for end in ends] == [False, True, True, False, True, False]
    await inside.enter_async_context(slot(limit, "dan"))


async def test_nobody_waits_for_ever(inside: AsyncExitStack) -> None:
    limit = ConcurrencyLimit(ConcurrencyRules(slots=1, waiting=1, wait_seconds=0.01))
    await inside.enter_async_context(slot(limit, "ann"))
    for _ in range(2):  # the first one's place in the queue is free again
        with pytest.raises(Spared, match="in time"):
            await inside.enter_async_context(slot(limit, "ann"))


async def test_who_leaves_while_waiting_leaves_no_trace(inside: AsyncExitStack) -> None:
    """E5."""
    limit = ConcurrencyLimit(NARROW)
    await inside.enter_async_context(slot(limit, "ann"))
    entered: list[str] = []
    for _ in range(3):
        left = waiting(limit, entered, "left")
        await all_have_come_so_far()
        left.cancel()
        await asyncio.wait([left])
    stayed = waiting(limit, entered, "stayed")
    await all_have_come_so_far()
    await inside.aclose()
    await stayed
    assert entered == ["stayed"]


async def test_who_leaves_just_as_a_place_is_given_hands_it_on(inside: AsyncExitStack) -> None:
    limit = ConcurrencyLimit(ConcurrencyRules(slots=1, waiting=2))
    await inside.enter_async_context(slot(limit, "ann"))
    entered: list[str] = []
    first, second = waiting(limit, entered, "first"), waiting(limit, entered, "second")
    await all_have_come_so_far()
    await inside.aclose()
    first.cancel()
    async with asyncio.timeout(PROMPTLY):
        await asyncio.wait([first, second])
    assert entered == ["second"]


async def test_a_request_that_failed_gives_its_place_back() -> None:
    limit = ConcurrencyLimit(ConcurrencyRules(slots=1))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            async with slot(limit, "ann"):
                raise ZeroDivisionError


async def test_it_says_how_many_have_a_place_and_how_many_wait(inside: AsyncExitStack) -> None:
    limit = ConcurrencyLimit(ConcurrencyRules(slots=1, waiting=2))
    assert limit.slot_counts == SlotCounts(1, 0, 0)
    await inside.enter_async_context(slot(limit, "ann"))
    entered: list[str] = []
    second = waiting(limit, entered, "second")
    await all_have_come_so_far()
    assert limit.slot_counts == SlotCounts(1, 1, 1)
    second.cancel()
    await asyncio.wait([second])
    assert limit.slot_counts == SlotCounts(1, 1, 0)
