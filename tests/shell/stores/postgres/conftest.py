"""A server of PostgreSQL for one test, which may end or freeze it."""

from collections.abc import AsyncIterator

import pytest

from tests.support.postgres import Server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    server.make()
    server.start()
    await server.ready()
    yield server
    server.remove()
