"""Which paths there are, with which methods, and what is said everywhere else."""

import aiohttp
import pytest

from proxy.core.surfaces.native.surface import NativeSurface
from proxy.core.tenants import digest
from tests.support.asking import refused
from tests.support.proxies import Proxy, StartProxy


@pytest.mark.parametrize("path", ["/v1/responses", "/responses", "/v1/responses/"])
async def test_responses_are_made_with_and_without_a_version(proxy: Proxy, path: str) -> None:
    async with proxy.session.post(proxy.url + path, json={"model": "m", "input": "Hi"}) as response:
        assert response.status == 200


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/chat", "/v2/responses", "/v1/responsesx", "/debug"])
async def test_elsewhere_there_is_nothing(proxy: Proxy, path: str) -> None:
    """S30: no debugging door either."""
    status, error, _ = await refused(proxy, "GET", path)
    assert (status, error["type"], error["code"]) == (404, "invalid_request_error", "not_found")
    assert proxy.log.named("refusal")[0]["path"] == path


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/responses", "POST"),
        ("PUT", "/v1/responses", "POST"),
        ("POST", "/v1/models", "GET, HEAD"),
        ("DELETE", "/v1/models/m", "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_told_the_right_one(
    proxy: Proxy, method: str, path: str, allowed: str
) -> None:
    status, error, allow = await refused(proxy, method, path)
    assert (status, error["code"], allow) == (405, "method_not_allowed", allowed)
    assert proxy.log.named("refusal")[0]["method"] == method


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_count_of_tokens_is_no_response(proxy: Proxy, method: str) -> None:
    status, error, allow = await refused(proxy, method, "/v1/responses/input_tokens")
    assert (status, error["code"], allow) == (405, "method_not_allowed", "POST")


async def test_a_websocket_is_declined_in_the_one_way_that_codex_understands(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server={"websocket": False})
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    status, error, _ = await refused(proxy, "GET", "/v1/responses", **headers)
    assert (status, error["code"]) == (426, "upgrade_required")
    with pytest.raises(aiohttp.WSServerHandshakeError) as declined:
        await proxy.session.ws_connect(f"{proxy.url}/v1/responses")
    assert declined.value.status == 426


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v1/models", "/v1/models/m", "/openapi.json"])
async def test_what_can_be_looked_at_has_a_head_too(start_proxy: StartProxy, method: str, path: str) -> None:
    proxy = await start_proxy(backend={"models": {"m": "b"}})
    async with proxy.session.request(method, proxy.url + path) as response:
        assert response.status == 200
        assert int(response.headers["Content-Length"]) > 0
        assert bool(await response.read()) is (method == "GET")


@pytest.mark.parametrize(
    ("method", "path", "told"),
    [
        ("POST", "/native/v1/chat/completions", {"native": "invalid_api_key"}),
        ("PUT", "/native/v1/chat/completions", {"native": "invalid_api_key"}),
        ("POST", "/v1/chat/completions", {"error": "invalid_api_key"}),
        ("GET", "/v1/models", {"error": "invalid_api_key"}),
        ("GET", "/native", {"error": "not_found"}),
    ],
)
async def test_an_error_is_told_in_the_envelope_of_the_path(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch, method: str, path: str, told: dict[str, str]
) -> None:
    """Before it is known who asks."""
    monkeypatch.setattr(NativeSurface, "error", lambda _, fault: {"native": {"code": fault.code}})
    proxy = await start_proxy(tenants={"a": {"keys": [digest("key-of-a")]}})
    async with proxy.session.request(method, proxy.url + path) as response:
        assert {name: error["code"] for name, error in (await response.json()).items()} == told
