"""The whole proxy in this process, on real sockets, between a scripted backend and an ordinary client."""

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson
import pytest

from proxy import app
from proxy.settings.root import Settings
from proxy.shell.http.upstream import Upstream
from proxy.shell.ops.logs import make_log
from tests.support.sockets import PROMPTLY, ScriptedBackend, reply, scripted, text


class LogLines:
    """Everything that was logged, as it would stand in a file."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self._written = asyncio.Event()
        self.stream.write = self._write  # type: ignore[method-assign]

    def _write(self, text: str) -> int:
        self._written.set()
        return io.StringIO.write(self.stream, text)

    async def wait_for(self, event: str, times: int = 1) -> dict[str, Any]:
        async with asyncio.timeout(PROMPTLY):
            while len(self.named(event)) < times:
                self._written.clear()
                await self._written.wait()
        return self.named(event)[-1]

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.text.splitlines()]

    def named(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]

    @property
    def request(self) -> dict[str, Any]:
        """The one summary that there is."""
        (line,) = self.named("request")
        return line


@dataclass
class Event:
    name: str
    data: Any


@dataclass
class Proxy:
    url: str
    log: LogLines
    session: aiohttp.ClientSession

    def post(self, body: Any, **headers: str) -> Any:
        """To be entered: `async with proxy.post({...}) as response`."""
        return self.session.post(f"{self.url}/v1/responses", json=body, headers=headers)

    async def stream(self, **body: Any) -> list[Event]:
        async with self.post({"model": "m", "input": "Hi", "stream": True} | body) as response:
            assert response.status == 200, await response.text()
            return events(await response.read())

    async def refused(self, **body: Any) -> tuple[int, dict[str, Any]]:
        async with self.post({"model": "m", "input": "Hi"} | body) as response:
            return response.status, (await response.json())["error"]


def events(data: bytes) -> list[Event]:
    """What a client makes of a stream; comments are kept under their own name."""
    found = []
    for block in data.split(b"\n\n"):
        if block.startswith(b":"):
            found.append(Event("comment", block[1:].strip().decode()))
        elif block.startswith(b"data: [DONE]"):
            found.append(Event("done", None))
        elif block:
            name, payload = block.split(b"\n")
            found.append(Event(name.removeprefix(b"event: ").decode(), orjson.loads(payload[6:])))
    return found


def names(found: list[Event]) -> list[str]:
    return [event.name for event in found]


def final(found: list[Event]) -> dict[str, Any]:
    response: dict[str, Any] = next(
        event.data["response"]
        for event in found
        if event.name in ("response.completed", "response.failed", "response.incomplete")
    )
    return response


@pytest.fixture
async def backend() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        backend.answers(reply(text("Hello")))
        yield backend


StartProxy = Callable[..., Awaitable[Proxy]]


@pytest.fixture
async def start_proxy(backend: ScriptedBackend) -> AsyncIterator[StartProxy]:
    """Starts proxies before the scripted backend; sections of settings by name."""
    async with AsyncExitStack() as stack:

        async def start(**sections: dict[str, Any]) -> Proxy:
            settings = Settings.model_validate(
                {
                    "server": {"port": 0, "grace_seconds": 0} | sections.pop("server", {}),
                    "backend": {"url": backend.url, "profile": "default"} | sections.pop("backend", {}),
                    "store": {"url": "memory:"} | sections.pop("store", {}),
                    **sections,
                }
            )
            log = LogLines()
            logger = make_log(settings.logs.level, "json", stream=log.stream)
            session = await stack.enter_async_context(aiohttp.ClientSession(auto_decompress=False))
            url = await stack.enter_async_context(app.running(settings, logger))
            return Proxy(url, log, session)

        yield start


@pytest.fixture
async def proxy(start_proxy: StartProxy) -> Proxy:
    return await start_proxy()


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    upstream = Upstream("0")
    yield upstream
    await upstream.close()
