"""The engine in Redis under the clock of the test."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from itertools import count, cycle
from typing import Any, TypeVar

from redis.asyncio import Redis

from proxy.shell.stores.protocol import StoreDown
from proxy.shell.stores.redis.live import RedisLive
from proxy.shell.stores.redis.script import Clocks
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from tests.support.redis_server import shared_url
from tests.support.stores import Terms

_numbers = count(1)
Done = TypeVar("Done")
PROMPTLY = 30.0


def prefix_of_its_own() -> str:
    return f"test-{os.getpid()}-{next(_numbers)}"


def patient(url: str, prefix: str, warnings: list[str] | None = None, **options: Any) -> RedisLive:
    """Waits for a server as long as a busy machine may need."""
    heard = [] if warnings is None else warnings
    return RedisLive(url, prefix, heard.append, wait_seconds=30, **options)


async def until_done(command: Callable[[], Awaitable[Done]]) -> Done:
    """What may be done twice, by an engine that waits no longer than in production."""
    async with asyncio.timeout(PROMPTLY):
        while True:
            with suppress(StoreDown):
                return await command()


class ClockedRedis:
    """Two clients of one server, in turn. The scripts read the time from keys, which the test's clock sets, and what
    the server itself would delete by the real time is deleted by that clock, where the others are swept."""

    def __init__(self, terms: Terms, most_log_bytes: int, seals: Seals = NO_SEALS) -> None:
        self._terms = terms
        self._prefix = prefix_of_its_own()
        self._clocks = f"{self._prefix}:date", f"{self._prefix}:steady"
        clocks = Clocks(*(f"local now = tonumber(redis.call('GET', '{key}'))\n" for key in self._clocks))
        self.warnings: list[str] = []
        self._engines = [
            RedisLive(shared_url(), self._prefix, self.warnings.append, clocks, most_log_bytes, seals=seals)
            for _ in range(2)
        ]
        self._next = cycle(self._engines)
        self._client = Redis.from_url(shared_url())

    async def open(self) -> None:
        for engine in self._engines:
            await engine.open()

    async def close(self) -> None:
        if keys := [key async for key in self._keys("*")]:
            await self._client.delete(*keys)
        await self._client.aclose()
        for engine in self._engines:
            await engine.close()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, **named: Any) -> Any:
            await self._tell_the_time()
            return await getattr(next(self._next), name)(*args, **named)

        return call

    async def _tell_the_time(self) -> None:
        times = self._terms.date, self._terms.steady
        await self._client.mset({key: f"{time:.17g}" for key, time in zip(self._clocks, times, strict=True)})

    async def sweep(self, most: int) -> int:
        await self._tell_the_time()
        swept = 0
        async for work in self._over():
            if swept < most:
                await work()
                swept += 1
        return swept + await next(self._next).sweep(most - swept)

    async def _over(self) -> AsyncIterator[Callable[[], Awaitable[Any]]]:
        date, steady = self._terms.date, self._terms.steady
        async for key in self._keys("t:*:log:*"):
            if not key.endswith(b":rows") and float(await self._client.hget(key, "until")) <= date:
                yield partial(self._client.delete, key, key + b":rows")
        async for key in self._keys("t:*:memos:*}"):
            for name, memo in (await self._client.hgetall(key)).items():
                if float(memo.partition(b":")[0]) <= date:
                    yield partial(self._client.hdel, key, name)
        async for key in self._keys("t:*:meters:*"):
            for unit, value in (await self._client.hgetall(key)).items():
                if max(map(float, value.split())) <= steady:
                    yield partial(self._client.hdel, key, unit)

    def _keys(self, pattern: str) -> AsyncIterator[bytes]:
        return self._client.scan_iter(f"{self._prefix}:{pattern}")  # type: ignore[no-any-return]
