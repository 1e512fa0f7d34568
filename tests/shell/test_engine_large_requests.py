"""A very large request is read beside the event loop, so that only its sender waits."""

import gzip
import io
import threading
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from proxy.core.surfaces.responses.surface import ResponsesSurface
from proxy.shell.offload.threads import LARGE_BYTES
from tests.support.proxies import Proxy

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
