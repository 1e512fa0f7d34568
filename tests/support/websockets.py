"""A client of the WebSocket: it asks turn by turn, and hears each to its end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType

from tests.support.proxies import Proxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    Script,
    ScriptedBackend,
    finish,
    text,
)

ENDINGS = {"response.completed", "response.failed", "response.incomplete", "error"}


class Talk:
    """A client that takes the first ending for the end of its turn, as the published ones do."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def ask(self, **body: Any) -> None:
        await self.socket.send_json({"type": "response.create", "model": "m", "input": "Hi"} | body)

    async def next(self) -> dict[str, Any]:
        said: dict[str, Any] = await self.socket.receive_json(timeout=PROMPTLY)
        return said

    async def until(self, *kinds: str) -> list[dict[str, Any]]:
        found = [await self.next()]
        while found[-1]["type"] not in kinds:
            found.append(await self.next())
        return found

    async def heard(self) -> list[dict[str, Any]]:
        """One turn."""
        found = await self.until(*ENDINGS)
        if found[-1]["type"] != "error":
            assert [said["sequence_number"] for said in found] == list(range(len(found)))
        return found

    async def turn(self, **body: Any) -> dict[str, Any]:
        """What a turn came to: the final response, or the refusal."""
        await self.ask(**body)
        last = (await self.heard())[-1]
        return last.get("response", last)

    async def refused(self, **body: Any) -> tuple[int, str]:
        """A turn of which nothing was streamed."""
        await self.ask(**body)
        (refusal,) = await self.heard()
        assert refusal.keys() - {"headers"} == {"type", "status", "error"}
        return refusal["status"], refusal["error"]["code"]

    async def closed(self) -> int | None:
        """Until the server's close, with nothing before it."""
        message = await self.socket.receive(timeout=PROMPTLY)
        assert message.type is WSMsgType.CLOSE, message
        return self.socket.close_code


@asynccontextmanager
async def talking(url: str, path: str = "/v1/responses", **options: Any) -> AsyncIterator[Talk]:
    async with aiohttp.ClientSession() as session, session.ws_connect(url + path, **options) as socket:
        yield Talk(socket)


@pytest.fixture
async def talk(proxy: Proxy) -> AsyncIterator[Talk]:
    async with talking(proxy.url) as talk:
        yield talk


def asked(backend: ScriptedBackend) -> list[list[tuple[str, Any]]]:
    """What the backend was told in each request: who said what."""
    return [
        [(message["role"], message.get("content")) for message in request.json["messages"]]
        for request in backend.received
    ]


def waits(goes_on: asyncio.Event, asked: asyncio.Event | None = None, *then: bytes) -> Script:
    """A backend that begins, and ends when it is told to."""

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        if asked is not None:
            asked.set()
        await goes_on.wait()
        line.send(*(then or (text("lo"), finish(), DONE, END)))

    return plays


async def refused(connecting: Awaitable[Any]) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        await connecting
    return refusal.value.status
