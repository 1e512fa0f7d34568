"""A very large request is read beside the event loop, so that only its sender waits."""

import asyncio
import gc
import gzip
import io
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from proxy.core.surfaces.responses.surface import ResponsesSurface
from proxy.shell.offload.threads import LARGE_BYTES
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import HEAD, Line, ScriptedBackend, text
from tests.support.two_tenants import KEYS, TENANTS

# ── very large requests ──


@pytest.fixture
def aside(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each request that was read: was it in another thread?"""
    threads: list[bool] = []
    read = ResponsesSurface.read

    def noting(*said: Any) -> Any:
        threads.append(threading.current_thread() is not threading.main_thread())
        return read(*said)

    monkeypatch.setattr(ResponsesSurface, "read", noting)
    return threads


VERY_MUCH = orjson.dumps({"model": "m", "input": "Hi" * LARGE_BYTES})


async def in_chunks() -> AsyncIterator[bytes]:
    yield VERY_MUCH


@pytest.mark.parametrize(
    ("data", "coding", "large"),
    [
        (orjson.dumps({"model": "m", "input": "Hi"}), "identity", False),
        (VERY_MUCH, "identity", True),
        (in_chunks, "identity", True),
        (gzip.compress(VERY_MUCH), "gzip", True),
    ],
    ids=["little", "much", "much in chunks", "much in little"],
)
async def test_f79_who_sends_very_much_waits_beside_the_others(
    proxy: Proxy, aside: list[bool], data: Any, coding: str, large: bool
) -> None:
    """It is understood in another thread, however it came, and the answer is the same."""
    body = io.BytesIO(data) if isinstance(data, bytes) else data()
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=body, headers=headers) as response:
        assert response.status == 200, await response.text()
    assert aside == [large]


async def test_f79_so_does_who_sends_it_over_a_websocket(proxy: Proxy, aside: list[bool]) -> None:
    async with proxy.session.ws_connect(f"{proxy.url}/v1/responses") as socket:
        await socket.send_str('{"type": "response.create",' + VERY_MUCH[1:].decode())
        assert (await socket.receive_json())["type"] == "response.created"
    assert aside == [True]


# ── while a reply is under way ──

SPOKEN = "many words and "


def said() -> str:
    return SPOKEN * 100


def holding() -> list[str | bytes | bytearray]:
    """Whatever in this process holds what was said."""
    gc.collect()
    everything: list[Any] = gc.get_objects()
    seen = set(map(id, everything))
    for each in everything:  # which grows meanwhile: words are no containers, and only found in them
        for found in gc.get_referents(each):
            if id(found) not in seen:
                seen.add(id(found))
                everything.append(found)
    words = [each for each in everything if isinstance(each, (str, bytes, bytearray))]
    return [each for each in words if (SPOKEN if isinstance(each, str) else SPOKEN.encode()) * 2 in each]


@asynccontextmanager
async def begun(proxy: Proxy, path: str, body: dict[str, Any]) -> AsyncIterator[None]:
    """Has a stream begin, and keeps nothing of what it has sent."""
    reader, writer = await asyncio.open_connection(*proxy.url.removeprefix("http://").split(":"))
    data = orjson.dumps({"model": "m", "stream": True, **body})
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {KEYS['ann']}\r\nContent-Length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
    body.clear()
    del data
    await reader.readuntil(b"Hel")
    try:
        yield
    finally:
        writer.close()


def items() -> list[dict[str, Any]]:
    """With the result of a tool that is too long for its tenant: what the backend is asked is not what was sent."""
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "long"}
    return [{"role": "user", "content": said()}, call, result]


def messages() -> list[dict[str, Any]]:
    return [{"role": "user", "content": said()}]


@pytest.mark.parametrize(
    ("path", "asked", "kept"),
    [
        ("/v1/responses", lambda: {"input": said(), "store": False}, []),
        ("/v1/responses", lambda: {"input": items(), "store": False}, []),
        ("/v1/responses", lambda: {"input": items()}, [str]),
        ("/v1/chat/completions", lambda: {"messages": messages()}, []),
        ("/native/v1/chat/completions", lambda: {"messages": messages()}, []),
    ],
    ids=["text", "items", "stored", "chat", "native"],
)
async def test_what_was_said_is_let_go_when_the_reply_begins(
    backend: ScriptedBackend,
    start_proxy: StartProxy,
    path: str,
    asked: Callable[[], dict[str, Any]],
    kept: list[type],
) -> None:
    """A stream may stay open for minutes, and nothing of it is sent again. What is to be stored stays once."""

    async def begins(line: Line) -> None:
        await line.request()
        backend.received.clear()
        line.send(HEAD + text("Hel"))
        await line.closed()

    backend.plays(begins)
    proxy = await start_proxy(tenants={"ann": TENANTS["ann"] | {"tool_result_max_bytes": 1}})
    async with begun(proxy, path, asked()):
        assert list(map(type, holding())) == kept
