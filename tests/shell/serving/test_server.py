"""The front door: requests in their order, and our own mistakes."""

import asyncio

import orjson
import pytest

from proxy.core.backends import listing
from tests.support.asking import spoken
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import Line, ScriptedBackend

ASK = {"model": "m", "input": "Hi", "stream": True}


async def test_requests_in_one_go_are_answered_in_order(proxy: Proxy) -> None:
    """F69."""
    said = await spoken(
        proxy,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    assert said.index(b" 200 ") < said.index(b" 404 ")


async def test_a_client_that_closes_its_half_is_taken_for_gone(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F68: the one choice that leaves nothing running for nobody."""
    asked = asyncio.Event()

    async def silent(line: Line) -> None:
        await line.request()
        asked.set()
        await line.closed()

    backend.plays(silent)
    body = orjson.dumps(ASK)
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    await asked.wait()
    writer.write_eof()
    assert (await proxy.log.wait_for("request"))["status"] == 499
    writer.close()


async def test_a_bug_of_ours_is_500_and_its_traceback_stays_here(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F80."""
    monkeypatch.setattr(listing, "served", lambda *_: 1 / 0)
    proxy = await start_proxy(backend={"models": {"a": "b"}})
    async with proxy.session.get(f"{proxy.url}/v1/models") as response:
        assert response.status == 500
        error = (await response.json())["error"]
        assert error == {
            "message": "The proxy failed on this request.",
            "type": "server_error",
            "param": None,
            "code": "server_error",
        }
        (line,) = proxy.log.named("unhandled_exception")
        assert line["request_id"] == response.headers["X-Request-Id"]
        assert "ZeroDivisionError" in line["exception"]
