"""Errors as answers of their own: one envelope, one line, and nothing quoted."""

import orjson
import pytest

from proxy.core.tenants import digest
from tests.support.asking import spoken
from tests.support.proxies import Proxy, StartProxy


@pytest.mark.parametrize(
    ("garbage", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nBad canary: x\r\n\r\n", 400),
        (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
        ),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: canary" + b"x" * 10_000 + b"\r\n\r\n", 431),
        (b"GET /?canary" + b"x" * 10_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: canary\r\n" * 200 + b"\r\n", 431),
        (b"GET /v1/models\r\n\r\n", 400),
        (b"GET /healthz HTTP/0.9\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n", 400),
    ],
    ids=[
        *("words", "TLS", "a bad header", "two lengths", "a long header", "a long target", "many headers"),
        *("no version", "an old version", "a new version"),
    ],
)
async def test_what_is_no_http_is_refused_like_anything_else(
    proxy: Proxy, garbage: bytes, status: int
) -> None:
    """S12, S34, attack-30: the same envelope, the same Server header, and the connection is closed. The log knows it by
    the id that the client was told, and quotes nothing, for keys stand in heads (S06)."""
    head, _, body = (await spoken(proxy, garbage)).partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 %d " % status, b"HTTP/1.0 %d " % status))
    assert b"Server: responses-proxy" in head
    assert b"aiohttp" not in head
    assert orjson.loads(body)["error"]["type"] == "invalid_request_error"
    (line,) = proxy.log.named("refusal")
    assert line["status"] == status
    assert f"X-Request-Id: {line['request_id']}".encode() in head
    assert "canary" not in proxy.log.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models", 401),
        ("GET", "/v1/responses/resp_1", 404),
        ("GET", "/v1/models/none", 404),
        ("GET", "/metrics", 403),
        ("OPTIONS", "/v1/responses", 405),
    ],
)
async def test_every_refusal_has_one_line(
    method: str, path: str, status: int, start_proxy: StartProxy
) -> None:
    """A client that asks why can be answered: by the id that it was told."""
    proxy = await start_proxy(tenants={"a": {"keys": [digest("key-of-a")]}})
    key = {} if status == 401 else {"Authorization": "Bearer key-of-a"}
    async with proxy.session.request(method, proxy.url + path, headers=key) as response:
        assert response.status == status
        (line,) = proxy.log.named("refusal")
    assert line["request_id"] == response.headers["X-Request-Id"]
    assert (line["method"], line["path"], line["status"]) == (method, path, status)
    assert not proxy.log.named("request")


async def test_what_the_engine_tells_is_told_once(proxy: Proxy) -> None:
    assert (await proxy.refused(model=5))[0] == 400
    assert proxy.log.request["status"] == 400
    assert not proxy.log.named("refusal")
