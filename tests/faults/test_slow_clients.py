"""Clients that leave, do not keep up, or ask much in one go (F66-F69, S35)."""

import asyncio
import tracemalloc
from typing import Any

import orjson
import pytest

from proxy.core.tenants import digest
from tests.support.outcomes import ASK, raw, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    reply,
    text,
)

MIB = 1 << 20


# ── clients that leave, or do not keep up ──


class Talk:
    """A backend that never stops talking, and notices when it is left."""

    def __init__(self, piece: bytes = b"") -> None:
        self.begun, self.left = asyncio.Event(), asyncio.Event()
        self.sent = 0
        self._piece = piece

    async def play(self, line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        self.begun.set()
        try:
            if self._piece:
                while not line.is_closing:
                    line.send(self._piece)
                    await line.drained()
                    self.sent += len(self._piece)
                    await asyncio.sleep(0)
            else:
                await line.closed()
        finally:
            self.left.set()


def posted(body: Any = ASK, head: str = "") -> bytes:
    data = orjson.dumps(body)
    lines = f"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(data)}\r\n\r\n"
    return lines.encode() + data


@pytest.mark.parametrize(
    ("body", "piece", "reads"),
    [
        (ASK | {"stream": False}, b"", False),
        (ASK, b"", True),
        (ASK, text("x" * 50_000), False),
    ],
    ids=["without a stream", "mid-stream", "mid-write"],
)
async def test_f66_a_client_that_leaves_takes_the_backends_work_along(
    body: dict[str, Any], piece: bytes, reads: bool, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F65, E5: within a second, and it is no failure of the backend's."""
    talk = Talk(piece)
    backend.plays(talk.play)
    async with raw(proxy) as (reader, writer):
        writer.write(posted(body))
        await talk.begun.wait()
        if reads:
            await reader.readuntil(b"output_text.delta")
        if piece:
            await stuck(talk)
    async with asyncio.timeout(1):
        await talk.left.wait()
    assert (await proxy.log.wait_for("request"))["status"] == 499


async def stuck(talk: Talk) -> None:
    """Until nobody takes what it says."""
    sent = -1
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(2 * PROMPTLY):
        while talk.sent > sent or not sent:
            sent = talk.sent
            while_ = loop.create_future()
            loop.call_later(0.3, while_.set_result, None)
            await while_


async def test_f67_a_slow_reader_slows_the_backend_and_costs_little(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """S26, S27: what is not taken is not read either, so that only the system's buffers fill."""
    talk = Talk(text("x" * 50_000))
    backend.plays(talk.play)
    async with raw(proxy, read_limit=1024) as (_, writer):
        tracemalloc.start()
        try:
            writer.write(posted(ASK | {"tools": []}))
            await stuck(talk)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert 0 < talk.sent < 32 * MIB
        # The text is kept for the reply's last event; besides it stand one read and what waits to be sent.
        assert kept < talk.sent + 4 * MIB
    async with asyncio.timeout(1):
        await talk.left.wait()


async def test_f68_a_client_that_closes_its_half_is_taken_for_gone(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """The one choice that leaves nothing running for nobody."""
    talk = Talk()
    backend.plays(talk.play)
    async with raw(proxy) as (_, writer):
        writer.write(posted())
        await talk.begun.wait()
        writer.write_eof()
        async with asyncio.timeout(1):
            await talk.left.wait()
    assert (await proxy.log.wait_for("request"))["status"] == 499


async def test_f69_requests_in_one_go_are_asked_one_after_another(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """However many were sent, one is under way; the answers come in their order."""
    asked = asyncio.Event()
    goes_on = asyncio.Event()

    async def plays(line: Line) -> None:
        while True:
            request = await line.request()
            asked.set()
            await goes_on.wait()
            line.send(reply(text(request.json["model"])))

    backend.plays(plays)
    async with raw(proxy) as (reader, writer):
        whole = ASK | {"stream": False}
        for number in range(50):
            last = "Connection: close\r\n" if number == 49 else ""
            writer.write(posted(whole | {"model": f"<{number}>"}, last))
        await asked.wait()
        await told_by(proxy, "/healthz")
        assert len(backend.received) == 1
        goes_on.set()
        async with asyncio.timeout(PROMPTLY):
            said = await reader.read()
    places = [said.index(b'"text":"<%d>"' % number) for number in range(50)]
    assert places == sorted(places)


async def told_by(proxy: Proxy, path: str) -> int:
    async with proxy.session.get(proxy.url + path) as response:
        return response.status


async def test_s35_opening_and_leaving_is_not_for_nothing(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    """Who opens and cancels again and again spends the quota, and holds no place."""
    key = "sk-tenant-0123456789"
    tenant = {"keys": [digest(key)], "requests_per_minute": 5}
    proxy = await start_proxy(tenants={"a": tenant})
    talk = Talk()
    backend.plays(talk.play)
    for _ in range(5):
        async with proxy.post(ASK, Authorization=f"Bearer {key}") as response:
            await response.content.readuntil(b"output_text.delta")
    assert await told(proxy, {"Authorization": f"Bearer {key}"}) == "429 rate_limit_exceeded"
    assert len(backend.received) == 5
