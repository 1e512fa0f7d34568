"""The connections of a process to a server that ends, stands still, or is another one than it was."""

import asyncio
from collections.abc import Iterator

import pytest

from proxy.shell.stores.postgres.address import Limits
from proxy.shell.stores.protocol import Outcome, StoreDown
from tests.support.postgres import Server
from tests.support.stores import postgres_at, record

HASTY = Limits(connections=2, seconds=0.5)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    server.make()
    server.start()
    yield server
    server.remove()


async def test_a_frozen_server_holds_up_nobody_for_long(server: Server) -> None:
    """U19, U22: every wait ends, nothing is left behind, and all goes on afterwards."""
    await server.ready()
    engine = postgres_at(server.url(), limits=HASTY)
    await engine.open()
    kept = record()
    await engine.save("t", kept)
    tasks = len(asyncio.all_tasks())
    server.freeze()
    for _ in range(2):
        async with asyncio.timeout(10):
            failed = await asyncio.gather(
                *(engine.save("t", record()) for _ in range(5)),
                *(engine.get("t", kept.id) for _ in range(5)),
                return_exceptions=True,
            )
        assert {isinstance(each, StoreDown) for each in failed} == {True}
        assert len(asyncio.all_tasks()) == tasks
    server.thaw()
    assert await engine.get("t", kept.id) == kept
    assert await engine.save("t", record()) is Outcome.DONE
    await engine.close()
