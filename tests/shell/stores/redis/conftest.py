"""A server of Redis that the tests of a file may stop, and the engine in it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from proxy.shell.stores.redis.live import RedisLive
from tests.support.redis_live import patient, prefix_of_its_own
from tests.support.redis_server import RedisProcess


@pytest.fixture(scope="module")
def one_process() -> Iterator[RedisProcess]:
    process = RedisProcess()
    yield process
    process.close()


@pytest.fixture
def process(one_process: RedisProcess) -> Iterator[RedisProcess]:
    """Empty, and running again for the next test."""
    with one_process.client() as client:
        client.flushall()
    yield one_process
    one_process.thaw()
    if not one_process.is_running:
        one_process.start()


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
async def live(process: RedisProcess, warnings: list[str]) -> AsyncIterator[RedisLive]:
    engine = patient(process.url, prefix_of_its_own(), warnings)
    yield engine
    await engine.close()


@pytest.fixture
async def hasty(process: RedisProcess) -> AsyncIterator[RedisLive]:
    """As in production, for servers that do not answer."""
    engine = RedisLive(process.url, prefix_of_its_own(), [].append)
    yield engine
    await engine.close()
