"""Proxies on a database of their own, which a test may stop, freeze or crash."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.postgres import Server
from tests.support.sockets import ScriptedBackend
from tests.support.worker_processes import Workers

WAIT_SECONDS = 0.5


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    await asyncio.to_thread(server.make)
    server.start()
    await server.ready()
    yield server
    await asyncio.to_thread(server.remove)


@pytest.fixture
async def workers(server: Server, backend: ScriptedBackend, tmp_path: Path) -> AsyncIterator[Workers]:
    workers = Workers(tmp_path, backend, server.url(user="postgres:secret"))
    workers.set(store={"url": workers.store, "wait_seconds": WAIT_SECONDS})
    async with workers.stack:
        yield workers
