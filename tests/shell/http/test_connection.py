"""What a connection tells of its own: bodies whose framing breaks, and clients that have left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from proxy.shell.http import connection as module
from proxy.shell.http.connection import Acceptor
from proxy.shell.http.connections import Connections
from tests.support.proxies import Proxy
from tests.support.sockets import PROMPTLY, Line, ScriptedBackend, reply, text

ASK = b'{"model": "m", "input": "Hi"}'
POST = b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
INVITED = CHUNKED + b"Expect: 100-continue\r\n\r\n"
WHOLE = POST + b"Content-Length: %d\r\n\r\n%b" % (len(ASK), ASK)


@asynccontextmanager
async def connected(proxy: Proxy) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    async with asyncio.timeout(PROMPTLY):
        yield reader, writer
    writer.close()


@pytest.mark.parametrize("begun", [b"", b"5\r\n{    \r\n"], ids=["no chunk", "a chunk"])
async def test_a_body_whose_framing_breaks_is_400_at_once(begun: bytes, proxy: Proxy) -> None:
    """S12, F70: whoever reads it has taken the request for a good one by then, and need not wait for its rest."""
    async with connected(proxy) as (reader, writer):
        writer.write(INVITED)
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(begun)
        writer.write(b"nonsense\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"Connection: close" in head
    assert orjson.loads(body)["error"]["code"] == "invalid_framing", "one answer, and nothing behind it"
    assert proxy.log.request["status"] == 400
    assert not proxy.log.named("library")


async def test_so_is_one_that_was_waiting_for_its_turn(backend: ScriptedBackend, proxy: Proxy) -> None:
    """F69."""
    goes_on = asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(reply(text("Hello")))

    async def send(data: bytes) -> None:
        writer.write(data)
        async with proxy.session.get(f"{proxy.url}/healthz") as response:  # by then it has been read
            assert response.status == 200

    backend.plays(slow)
    async with connected(proxy) as (reader, writer):
        for data in (WHOLE, CHUNKED + b"\r\n", b"nonsense\r\n"):
            await send(data)
        goes_on.set()
        said = await reader.read()
    assert [said.count(b" %d " % status) for status in (200, 400)] == [1, 1]
    assert b"invalid_framing" in said


async def test_what_follows_a_whole_body_is_no_part_of_it(proxy: Proxy) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(WHOLE)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"nonsense\r\n\r\n")
        said = await reader.read()
    assert proxy.log.request["status"] == 200
    assert b"HTTP/1.0 400 " in said


async def test_whoever_has_left_is_told_nothing() -> None:
    """F66: nor is it counted as a refusal."""

    def refuse(*_: object) -> web.Response:
        raise AssertionError("refused")

    connection = Acceptor(None, refuse, Connections(2, print))()
    with pytest.raises(ConnectionResetError):
        connection.handle_error(make_mocked_request("POST", "/"), 500, ConnectionResetError())


async def test_a_large_answer_may_take_long_as_long_as_it_is_taken(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S26, F67: no client with a slow line is taken for one that does not read."""
    monkeypatch.setattr(module, "STALLED_SECONDS", 0.5)
    backend.answers(reply(*[text("😀" * 1_000_000)] * 6))
    loop = asyncio.get_running_loop()
    async with connected(proxy) as (reader, writer):
        writer.write(WHOLE)
        head = await reader.readuntil(b"\r\n\r\n")
        began, taken = loop.time(), b""
        while loop.time() < began + 1:
            taken += await reader.readexactly(200_000)
            await asyncio.sleep(0.02)  # a slow line
        size = int(head.partition(b"Content-Length: ")[2].split()[0])
        taken += await reader.readexactly(size - len(taken))
    assert orjson.loads(taken)["status"] == "completed"
