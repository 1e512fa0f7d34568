"""A web page whose name was made to mean this machine is a stranger, whatever it asks for (attack-09, S31)."""

import asyncio

import aiohttp
import pytest

from tests.support.outcomes import raw
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import PROMPTLY, ScriptedBackend
from tests.support.two_tenants import TENANTS, shown_by

EVIL = {"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
ASKED = [
    ("POST", "/v1/responses", {}),
    ("GET", "/v1/responses", UPGRADE),
    ("POST", "/v1/responses/compact", {}),
    ("POST", "/v1/chat/completions", {}),
    ("POST", "/native/v1/chat/completions", {}),
    ("GET", "/v1/models", {}),
    ("GET", "/v1/models/m", {}),
    ("GET", "/metrics", {}),
    ("GET", "/healthz", {}),
    ("GET", "/readyz", {}),
    ("GET", "/openapi.json", {}),
    ("GET", "/nowhere", {}),
]


async def asked(proxy: Proxy, method: str, path: str, **headers: str) -> tuple[int, str | None]:
    body = {"model": "m", "input": "Hi"} if method == "POST" else None
    async with proxy.session.request(method, proxy.url + path, json=body, headers=headers) as response:
        said = await response.json() if response.content_type == "application/json" else {}
        return response.status, (said.get("error") or {}).get("code")


@pytest.mark.parametrize(("method", "path", "headers"), ASKED)
async def test_attack_09_a_strangers_name_is_served_nothing(
    method: str, path: str, headers: dict[str, str], proxy: Proxy, backend: ScriptedBackend
) -> None:
    assert await asked(proxy, method, path, **headers, **EVIL) == (403, "host_not_allowed")
    assert backend.received == []
    (line,) = proxy.log.named("refusal")
    assert line["host"] == "evil.example:8080"
    assert "server.allowed_hosts" in line["error"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.8.8.8:99", "[::1]:8080"])
async def test_attack_09_this_machines_names_are_served_as_before(host: str, proxy: Proxy) -> None:
    """And a WebSocket to them from a page of this origin."""
    assert (await asked(proxy, "POST", "/v1/responses", Host=host))[0] == 200
    socket = {"Host": host, "Origin": f"http://{host}"}
    async with proxy.session.ws_connect(f"{proxy.url}/v1/responses", headers=socket) as opened:
        assert not opened.closed
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await proxy.session.ws_connect(f"{proxy.url}/v1/responses", headers=socket | {"Origin": "http://x"})


async def test_attack_09_a_name_that_is_configured_is_served(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server={"allowed_hosts": ["host.docker.internal"]})
    assert (await asked(proxy, "GET", "/healthz", Host="Host.Docker.Internal:8080"))[0] == 200
    assert (await asked(proxy, "GET", "/healthz", Host="localhost"))[0] == 200
    assert (await asked(proxy, "GET", "/healthz", Host="evil.example"))[0] == 403


async def test_attack_09_who_needs_a_key_or_a_clear_word_is_asked_for_by_any_name(
    start_proxy: StartProxy,
) -> None:
    """As in a container, and behind another server."""
    open_to_all = await start_proxy(server={"open": True})
    assert (await asked(open_to_all, "POST", "/v1/responses", Host="proxy.lan"))[0] == 200
    tenants = await start_proxy(tenants=TENANTS)
    assert (await asked(tenants, "POST", "/v1/responses", Host="proxy.lan", **shown_by("ann")))[0] == 200
    chosen = await start_proxy(server={"open": True, "allowed_hosts": ["proxy.lan"]})
    assert (await asked(chosen, "POST", "/v1/responses", Host="proxy.lan"))[0] == 200
    assert (await asked(chosen, "POST", "/v1/responses", Host="evil.example"))[0] == 403


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.0\r\n\r\n", b" 200 "),
        (b"GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n", b" 403 "),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", b" 40"),
        (b"GET /healthz HTTP/1.1\r\nHost: \r\n\r\n", b" 403 "),
    ],
)
async def test_attack_09_who_tells_no_host_is_no_browser(head: bytes, status: bytes, proxy: Proxy) -> None:
    async with asyncio.timeout(PROMPTLY), raw(proxy) as (reader, writer):
        writer.write(head)
        assert status in (await reader.readline())
