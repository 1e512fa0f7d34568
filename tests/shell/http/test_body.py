"""Reading what a client sends: limits of size and time, codings, and JSON that is none (F70-F73, S16-S18)."""

import asyncio
import gzip
import io
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import StreamReader, web
from aiohttp.test_utils import make_mocked_request

from proxy.core.errors import ClientFault
from proxy.shell.http import body as module
from proxy.shell.http import connection
from tests.support.proxies import Proxy, StartProxy

MIB = 1024 * 1024
REQUEST = b'{"model": "m", "input": "Hi"}'


async def post(
    proxy: Proxy, data: bytes | io.BytesIO | AsyncIterator[bytes], **headers: str
) -> tuple[int, dict[str, str | None], bool]:
    """Status, error, and whether the connection is closed after it."""
    told = {"Content-Type": "application/json"} | {name.replace("_", "-"): it for name, it in headers.items()}
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=data, headers=told) as response:
        said = await response.json()
        return response.status, said.get("error"), response.headers.get("Connection") == "close"


# ── content type and JSON ──


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/x+json"]
)
async def test_json_by_any_name(proxy: Proxy, kind: str) -> None:
    assert (await post(proxy, REQUEST, Content_Type=kind))[0] == 200


async def test_a_web_page_must_name_the_type_so_that_its_browser_asks_first(proxy: Proxy) -> None:
    """Of other origins that is; nobody answers the question, so it ends there."""
    async with connected(proxy) as raw:
        head = POST + b"Origin: http://elsewhere\r\nConnection: close\r\n"
        raw.writer.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(REQUEST), REQUEST))
        assert b"unsupported_media_type" in await raw.read_answer()


async def test_no_content_type_is_no_objection(proxy: Proxy) -> None:
    async with proxy.session.post(
        f"{proxy.url}/v1/responses", data=REQUEST, skip_auto_headers=["Content-Type"]
    ) as response:
        assert response.status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_another_content_type_is_415(proxy: Proxy, kind: str) -> None:
    status, error, _ = await post(proxy, REQUEST, Content_Type=kind)
    assert (status, error["code"]) == (415, "unsupported_media_type")
    assert kind in error["message"]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b'{"model": undefined}', b"[" * 100_000])
async def test_what_is_no_json_is_400(proxy: Proxy, data: bytes) -> None:
    """F72, and S18 for the last one."""
    status, error, _ = await post(proxy, data)
    assert (status, error["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("data", [b"[]", b'"text"', b"3", b"null"])
async def test_what_is_no_object_is_400(proxy: Proxy, data: bytes) -> None:
    status, error, _ = await post(proxy, data)
    assert (status, error["type"]) == (400, "invalid_request_error")
    assert "object" in error["message"]


async def test_a_bad_request_leaves_the_connection_as_it_was(proxy: Proxy) -> None:
    assert (await post(proxy, b"{"))[2] is False


# ── size ──


async def chunked(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def test_a_body_over_the_limit_is_413_and_the_end_of_the_connection(start_proxy: StartProxy) -> None:
    """F71: whether the length is told before or found out on the way."""
    proxy = await start_proxy(server={"body_limit_mib": 1})
    for data in (io.BytesIO(b" " * (MIB + 1)), chunked(b" " * MIB, b" ")):
        status, error, closed = await post(proxy, data)
        assert (status, error["code"], closed) == (413, "request_too_large", True)


async def test_a_body_of_just_the_limit_is_read(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server={"body_limit_mib": 1})
    assert (await post(proxy, REQUEST.ljust(MIB)))[0] == 200
    assert (await post(proxy, chunked(REQUEST.ljust(MIB))))[0] == 200


# ── codings ──


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", gzip.compress(REQUEST)),
        ("deflate", zlib.compress(REQUEST)),
        ("GZIP", gzip.compress(REQUEST)),
        ("identity", REQUEST),
        ("", REQUEST),
    ],
)
async def test_a_compressed_body_is_read(proxy: Proxy, coding: str, data: bytes) -> None:
    """F73."""
    assert (await post(proxy, data, Content_Encoding=coding))[0] == 200


@pytest.mark.parametrize("coding", ["zstd", "br", "gzip, gzip"])
async def test_another_coding_is_415(proxy: Proxy, coding: str) -> None:
    """F73. And the way out stands where HTTP wants it, for programs."""
    status, error, _ = await post(proxy, REQUEST, Content_Encoding=coding)
    assert (status, error["code"]) == (415, "unsupported_encoding")
    assert "gzip or deflate, or none" in str(error["message"])
    told = await headers_of_415(proxy, Content_Encoding=coding)
    assert (told["Accept-Encoding"], "Accept" in told) == ("gzip, deflate", False)


async def test_a_media_type_is_not_mistaken_for_a_coding(proxy: Proxy) -> None:
    """RFC 9110, 12.5.3: a client that reads `Accept-Encoding` would try again without packing, and in vain."""
    told = await headers_of_415(proxy, Content_Type="text/plain")
    assert (told["Accept"], "Accept-Encoding" in told) == ("application/json", False)


async def headers_of_415(proxy: Proxy, **headers: str) -> Mapping[str, str]:
    told = {"Content-Type": "application/json"} | {name.replace("_", "-"): it for name, it in headers.items()}
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=REQUEST, headers=told) as response:
        assert response.status == 415
        return response.headers


@pytest.mark.parametrize("data", [b"not gzip", gzip.compress(REQUEST)[:-9], gzip.compress(REQUEST) + b"more"])
async def test_broken_compression_is_400(proxy: Proxy, data: bytes) -> None:
    status, error, _ = await post(proxy, data, Content_Encoding="gzip")
    assert status == 400
    assert "gzip" in error["message"]


async def test_the_limit_holds_for_what_is_unpacked(start_proxy: StartProxy) -> None:
    """S17: a thousand to one."""
    proxy = await start_proxy(server={"body_limit_mib": 1})
    bomb = gzip.compress(b" " * (64 * MIB))
    assert len(bomb) < MIB
    status, error, _ = await post(proxy, bomb, Content_Encoding="gzip")
    assert (status, error["code"]) == (413, "request_too_large")


# ── time, and bodies that do not come ──


class Raw:
    """A client on a bare socket, for requests that no library would send."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def read_answer(self) -> bytes:
        async with asyncio.timeout(5):
            return await self.reader.read()


@asynccontextmanager
async def connected(proxy: Proxy) -> AsyncIterator[Raw]:
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    yield Raw(reader, writer)
    writer.close()


POST = b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n"
HEAD = POST + b"Content-Type: application/json\r\n"


async def test_a_body_that_takes_too_long_is_408_and_the_end_of_the_connection(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F70, S26."""
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(connection, "LINGERING_SECONDS", 0.05)
    async with connected(proxy) as raw:
        raw.writer.write(HEAD + b"Content-Length: 100\r\n\r\n{")
        answer = await raw.read_answer()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"Connection: close" in answer


async def test_every_byte_buys_time(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large body on a slow line is no attack."""
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(module, "SLOWEST_BYTES_PER_SECOND", 1)
    loop = asyncio.get_running_loop()
    later = loop.create_future()
    async with connected(proxy) as raw:
        raw.writer.write(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(REQUEST))
        raw.writer.write(REQUEST[:-1])
        loop.call_later(0.15, later.set_result, None)
        await later
        raw.writer.write(REQUEST[-1:])
        assert (await raw.read_answer()).startswith(b"HTTP/1.1 200 ")


async def test_a_large_body_is_asked_for_by_those_who_wait_to_be_asked(proxy: Proxy) -> None:
    async with connected(proxy) as raw:
        raw.writer.write(HEAD + b"Expect: 100-continue\r\nConnection: close\r\n")
        raw.writer.write(b"Content-Length: %d\r\n\r\n" % len(REQUEST))
        assert await raw.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.writer.write(REQUEST)
        assert (await raw.read_answer()).startswith(b"HTTP/1.1 200 ")


async def test_who_knows_of_no_invitation_gets_none(proxy: Proxy) -> None:
    """Whatever comes first is the answer to a client of HTTP/1.0."""
    async with connected(proxy) as raw:
        head = HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Expect: 100-continue\r\n"
        raw.writer.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(REQUEST), REQUEST))
        assert (await raw.read_answer()).startswith(b"HTTP/1.0 200 ")


async def test_a_body_that_would_be_refused_is_not_asked_for(proxy: Proxy) -> None:
    async with connected(proxy) as raw:
        raw.writer.write(HEAD + b"Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n")
        assert (await raw.reader.readline()).startswith(b"HTTP/1.1 413 ")


async def test_a_body_that_breaks_off_is_400() -> None:
    protocol = make_mocked_request("POST", "/").protocol
    payload = StreamReader(protocol, 1024, loop=asyncio.get_running_loop())
    payload.set_exception(web.RequestPayloadError())
    with pytest.raises(ClientFault, match="broken"):
        await module.read_body(make_mocked_request("POST", "/", payload=payload), MIB, lambda _: None)
