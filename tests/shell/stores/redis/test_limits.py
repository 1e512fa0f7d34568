"""Meters and queues with eight clients of one server, and by the server's own clock."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from proxy.shell.stores.protocol import Granted, Ticket, Want
from proxy.shell.stores.redis.live import RedisLive
from tests.support.redis_live import patient, prefix_of_its_own
from tests.support.redis_server import RedisProcess, shared_url

REQUESTS = Want("requests", 60)


@pytest.fixture
async def eight() -> AsyncIterator[list[RedisLive]]:
    prefix = prefix_of_its_own()
    engines = [patient(shared_url(), prefix) for _ in range(8)]
    yield engines
    await engines[0].forget("t")
    for engine in engines:
        await engine.close()


async def test_together_they_take_no_more_than_there_is(eight: list[RedisLive]) -> None:
    """U51: but for what flows in meanwhile."""

    async def take(engine: RedisLive) -> int:
        return sum([isinstance(await engine.take("t", [REQUESTS]), Granted) for _ in range(12)])

    assert sum(await asyncio.gather(*map(take, eight))) in (60, 61)


async def test_each_ticket_has_a_rank_of_its_own(eight: list[RedisLive]) -> None:
    """U56."""

    async def enter(number: int) -> None:
        for n in range(5):
            await eight[number].enter(f"w{number}", [Ticket("q", f"{number}.{n}")])

    await asyncio.gather(*map(enter, range(8)))
    ranks = [await engine.ranks(f"w{number}") for number, engine in enumerate(eight)]
    assert sorted(rank for mine in ranks for rank in mine.values()) == list(range(40))
    assert all(list(mine.values()) == sorted(mine.values()) for mine in ranks)
    await eight[0].leave([ticket for mine in ranks for ticket in mine])


async def test_what_is_lost_begins_anew(process: RedisProcess, live: RedisLive) -> None:
    """U24: limits start full, and whoever stood in a queue may enter it again."""
    a, b = Ticket("q", "a"), Ticket("q", "b")
    for _ in range(3):
        await live.take("t", [REQUESTS._replace(units=20)])
        await live.enter("v", [a])
        assert await live.enter("w", [b]) == {b: 1}
        with process.client() as client:
            client.flushall()
        assert await live.ranks("w") == {}
        assert await live.enter("w", [b]) == {b: 0}
        assert await live.enter("v", [a]) == {a: 1}
        answer = await live.take("t", [REQUESTS])
        assert isinstance(answer, Granted)
        assert 0 < answer.full_in[0] <= 1
        await live.leave([a, b])


@pytest.mark.parametrize("part", ["order", "holders", "workers"])
async def test_a_queue_of_which_a_part_is_lost_works_on(
    process: RedisProcess, live: RedisLive, part: str
) -> None:
    """As a server may do that is full."""
    a, b, c = (Ticket("q", name) for name in "abc")
    await live.enter("v", [a])
    await live.enter("w", [b])
    with process.client() as client:
        (key,) = client.scan_iter(f"*:{part}")
        client.delete(key)
    assert (await live.enter("v", [a]))[a] in (0, 1)
    assert (await live.enter("w", [b]))[b] in (0, 1)
    assert await live.enter("w", [c]) == {b: 1, c: 2}
    await live.leave([a, b, c])
