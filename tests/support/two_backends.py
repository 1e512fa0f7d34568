"""A proxy with a second backend in the place of its first, and what it is asked."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.support.proxies import Proxy, StartProxy
from tests.support.replies import read_stream
from tests.support.sockets import (
    ScriptedBackend,
    answer,
    reply,
    scripted,
    text,
)

HELLO = reply(text("Hello"))
ASKED = {"model": "m", "input": "Hi"}
STREAMED = ASKED | {"stream": True}

BUSY = answer(529, b"")
SOON = {"patience_seconds": 0.02}
NO_BREAKER = {"consecutive_failures": 1000, "minimum_requests": 1000}


@pytest.fixture
async def other() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        backend.answers(reply(text("There")))
        yield backend


StartBoth = Callable[..., Awaitable[Proxy]]


@pytest.fixture
def start_both(start_proxy: StartProxy, other: ScriptedBackend) -> StartBoth:
    """A proxy whose first backend has a second in its place; `there` are settings of that one."""

    async def start(there: dict[str, Any] | None = None, **sections: Any) -> Proxy:
        second = {"url": other.url, "profile": "default"} | (there or {})
        routing = {"fallbacks": {"*": ["there/spare"]}}
        return await start_proxy(backends={"there": second}, routing=routing, **sections)

    return start


async def said(proxy: Proxy, **headers: str) -> str:
    async with proxy.post(ASKED, **headers) as response:
        assert response.status == 200, await response.text()
        words: str = (await response.json())["output"][0]["content"][0]["text"]
        return words


async def status_of(proxy: Proxy, **body: Any) -> int:
    async with proxy.post(ASKED | body) as response:
        await response.read()
        status: int = response.status
        return status


async def strictly_read(proxy: Proxy) -> list[dict[str, Any]]:
    async with proxy.post(STREAMED) as response:
        assert response.status == 200, await response.text()
        return read_stream(await response.read())
