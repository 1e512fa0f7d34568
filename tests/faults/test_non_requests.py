"""Requests that are none, or come too slowly, too large or packed (F70-F73)."""

import asyncio
import gzip
import zlib
from collections.abc import Callable

import orjson
import pytest

from proxy.shell.http import body as body_module
from proxy.shell.http import connection, connections
from tests.support.outcomes import ASK, raw, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import PROMPTLY, Line, ScriptedBackend, reply, text

MIB = 1 << 20


# ── requests that are none ──


async def test_f70_a_body_that_drips_is_408(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """S26: each byte buys a millisecond, not a minute."""
    monkeypatch.setattr(body_module, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(connection, "LINGERING_SECONDS", 0.05)
    async with raw(proxy) as (reader, writer):
        writer.write(b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
        said = asyncio.get_running_loop().create_task(reader.readline())
        while not said.done():
            writer.write(b"{")
            await asyncio.wait([said], timeout=0.05)
        assert (await said).startswith(b"HTTP/1.1 408 ")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.05)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.05)


HEALTHY = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("before", [b"", HEALTHY], ids=["the first", "the second"])
async def test_f70_a_head_that_drips_is_not_waited_for(before: bytes, start_proxy: StartProxy) -> None:
    """S26, attack-18: a head that does not come to its end in time is 408, whatever comes of it meanwhile."""
    proxy = await start_proxy()
    async with raw(proxy) as (reader, writer):
        if before:
            writer.write(before)
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b'"ok"}')
        writer.write(b"GET /healthz HTTP/1.1\r\nX: ")
        # Not to its end: who goes on behind the answer may find the connection reset
        said = asyncio.get_running_loop().create_task(reader.readuntil(b"}}"))
        async with asyncio.timeout(PROMPTLY):
            while not said.done():
                writer.write(b"x")
                await asyncio.wait([said], timeout=0.01)
    head, _, body = (await said).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 408 ")
    assert orjson.loads(body)["error"]["code"] == "request_timeout"
    assert [line["status"] for line in proxy.log.named("refusal")] == [408]


@pytest.mark.usefixtures("hurried")
async def test_f70_half_a_head_behind_a_request_has_no_more_time_than_another(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    """It was waited for as for the next request of a connection, 75 s. One that came to its end owes nothing."""
    proxy, asked, may_end = await start_proxy(), asyncio.Event(), asyncio.Event()

    async def play(line: Line) -> None:
        for _ in range(2):
            await line.request()
            asked.set()
            await may_end.wait()
            line.send(reply(text("Hello")))

    backend.plays(play)
    body = orjson.dumps({"model": "m", "input": "Hi"})
    ask = b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def sent_behind(writer: asyncio.StreamWriter, *pieces: bytes) -> None:
        writer.write(ask)
        await asked.wait()
        for piece in pieces:
            writer.write(piece)
            async with raw(proxy) as (reader, other):  # who is served now came later
                other.write(HEALTHY)
                await reader.readuntil(b'"ok"}')

    async with asyncio.timeout(PROMPTLY), raw(proxy) as (whole, first), raw(proxy) as (half, second):
        await sent_behind(first, HEALTHY[:10], HEALTHY[10:])
        await sent_behind(second, HEALTHY[:10], HEALTHY[10:30])
        may_end.set()
        await whole.readuntil(b'"ok"}')
        await half.readuntil(b"HTTP/1.0 408 ")
        first.write(HEALTHY)
        await whole.readuntil(b'"ok"}')


@pytest.mark.usefixtures("hurried")
async def test_f70_nobody_is_waited_for_who_says_nothing(start_proxy: StartProxy) -> None:
    """attack-18: it is closed without a word, while connections that had a request are kept."""
    proxy = await start_proxy()
    async with raw(proxy) as (reader, writer), raw(proxy) as (silent, _):
        writer.write(HEALTHY)
        await reader.readuntil(b'"ok"}')
        async with asyncio.timeout(PROMPTLY):
            assert await silent.read() == b""
        writer.write(HEALTHY)
        await reader.readuntil(b'"ok"}')


@pytest.mark.parametrize("framing", ["Content-Length: 2097152\r\n", "Transfer-Encoding: chunked\r\n"])
async def test_f71_a_body_over_the_limit_is_413_and_the_end(framing: str, start_proxy: StartProxy) -> None:
    """S16: refused before it is parsed, and if its length is told, before it is read."""
    proxy = await start_proxy(server={"body_limit_mib": 1})
    async with raw(proxy) as (reader, writer):
        writer.write(f"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n".encode())
        if "chunked" in framing:
            writer.write(b"%x\r\n%b\r\n" % (MIB + 1, b"[" * (MIB + 1)))
        async with asyncio.timeout(PROMPTLY):
            head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"Connection: close" in head


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"{", None),
        (b"[]", None),
        (b'{"input": "Hi"}', "model"),
        (b'{"model": 7, "input": "Hi"}', "model"),
        (b'{"model": "m", "input": 7}', "input"),
        (b'{"model": "m", "input": [{"type": "message", "role": "user", "content": [{"type": "input_text"}]}]}',
         "input[0].content[0].text"),
        (b'{"model": "m", "input": "Hi", "tools": [{"type": "function"}]}', "tools[0].name"),
        (b'{"model": "m", "input": "Hi", "temperature": "hot"}', "temperature"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [True, False])
async def test_f72_what_is_wrong_is_400_and_named(
    body: bytes, param: str | None, stream: bool, backend: ScriptedBackend, proxy: Proxy
) -> None:
    data = body.replace(b"{", b'{"stream": true, ', 1) if stream and b":" in body else body
    headers = {"Content-Type": "application/json"}
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=data, headers=headers) as response:
        error = (await response.json())["error"]
    assert (response.status, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert backend.received == []


async def test_f72_unknown_fields_do_not_matter(proxy: Proxy) -> None:
    assert await told(proxy, frobnicate={"x": [1]}, prompt_cache_retention="24h") == "completed | Hello"


@pytest.mark.parametrize(
    ("coding", "pack", "status"),
    [
        ("gzip", gzip.compress, 200),
        ("deflate", zlib.compress, 200),
        ("zstd", bytes, 415),
        ("br", bytes, 415),
        ("gzip, gzip", bytes, 415),
    ],
)
async def test_f73_a_packed_body_is_read_or_refused(
    coding: str, pack: Callable[[bytes], bytes], status: int, proxy: Proxy
) -> None:
    """S17: one layer, of the codings that can be unpacked in bounded pieces."""
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    data = pack(orjson.dumps(ASK))
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=data, headers=headers) as response:
        assert response.status == status
