"""Connections to backends that wait for another request: who gets them, and how long they wait (F06)."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from proxy.shell.http import client as module
from proxy.shell.http.client import Answer, HttpClient
from proxy.shell.http.deadlines import Deadlines
from tests.support.sockets import END, HEAD, PROMPTLY, Line, ScriptedBackend, reply, text

MOST = 1 << 20


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    client = HttpClient("a proxy", Deadlines())
    yield client
    await client.close()


async def ask(client: HttpClient, backend: ScriptedBackend, path: str = "chat") -> Answer:
    until = asyncio.get_running_loop().time() + PROMPTLY
    return await client.ask("POST", f"{backend.url}/{path}", {}, b"{}", connect=PROMPTLY, until=until)


async def read(answered: Answer) -> None:
    async with asyncio.timeout(PROMPTLY):
        while await answered.body.read(MOST):
            pass


async def test_all_addresses_of_a_server_share_its_connections(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    for path in ("chat", "models", "chat"):
        await read(await ask(client, backend, path))
    assert backend.connections == 1


async def answers_once(closed: asyncio.Event, line: Line) -> None:
    await line.request()
    line.send(reply(text("first")))
    await line.closed()
    closed.set()


async def test_a_connection_that_waits_too_long_is_closed(
    client: HttpClient, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT_SECONDS", 0.01)
    closed = asyncio.Event()
    backend.plays(partial(answers_once, closed))
    await read(await ask(client, backend))
    await asyncio.wait_for(closed.wait(), PROMPTLY)


async def test_a_connection_that_is_closing_is_not_used_again(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """F06: its end was read, and is not yet told."""
    go_on = asyncio.Event()

    async def ends_later(line: Line) -> None:
        while True:
            await line.request()
            line.send(HEAD)
            await go_on.wait()
            line.send(END)

    backend.plays(ends_later)
    answered = await ask(client, backend)
    go_on.set()
    assert answered.connection is not None
    transport = answered.connection.transport
    await read(answered)
    assert transport is not None
    transport.close()
    await read(await ask(client, backend))
    assert backend.connections == 2


async def test_no_connection_waits_when_all_is_over(backend: ScriptedBackend) -> None:
    closed = asyncio.Event()
    backend.plays(partial(answers_once, closed))
    client = HttpClient("a proxy", Deadlines())
    await read(await ask(client, backend))
    await client.close()
    await asyncio.wait_for(closed.wait(), PROMPTLY)
