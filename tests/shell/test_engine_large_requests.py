"""A very large request is read beside the event loop, so that only its sender waits."""

import gc
import gzip
import io
import threading
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from proxy.core.backends.post import LONG, Post
from proxy.core.surfaces.responses.surface import ResponsesSurface
from proxy.shell.offload.threads import LARGE_BYTES
from tests.support.proxies import Proxy
from tests.support.sockets import HEAD, Line, ScriptedBackend, text

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


async def test_what_was_sent_to_the_backend_is_let_go_when_its_reply_begins(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """A stream may stay open for minutes, and nothing of it is sent again."""

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD + text("Hel"))
        await line.closed()

    backend.plays(plays)
    said = "long " * LONG
    async with proxy.post({"model": "m", "input": said, "stream": True}) as response:
        async for line in response.content:
            if b"output_text.delta" in line:
                break
        posts = [each for each in gc.get_objects() if type(each) is Post and each.url.startswith(backend.url)]
    assert [len(each.body) for each in posts] == [0]
