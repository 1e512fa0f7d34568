"""Who may open a WebSocket."""

import logging

import pytest

from proxy.shell.ops.logs import LibraryLines, make_log
from tests.support.proxies import Proxy
from tests.support.websockets import refused, talking


async def test_web_pages_of_other_origins_are_kept_out(proxy: Proxy) -> None:
    """Browsers let any page open a WebSocket to anywhere, a visitor's own machine included."""
    address = f"{proxy.url}/v1/responses"
    for origin in ("https://example.com", "null", f"{proxy.url}0", "http://[::1", ""):
        assert await refused(proxy.session.ws_connect(address, origin=origin)) == 403
    async with talking(proxy.url, origin=proxy.url) as talk:
        assert (await talk.turn())["status"] == "completed"


async def test_a_key_among_the_protocols_is_not_logged(proxy: Proxy) -> None:
    """S06: browsers can send no headers, so OpenAI's clients there put the key where aiohttp would quote it."""
    logger = logging.getLogger()
    handlers, logger.handlers = logger.handlers, [LibraryLines(make_log(stream=proxy.log.stream))]
    try:
        async with talking(proxy.url, protocols=["realtime", "openai-insecure-api-key.canary"]) as talk:
            assert (await talk.turn())["status"] == "completed"
    finally:
        logger.handlers = handlers
    assert "canary" not in proxy.log.text


@pytest.mark.parametrize(
    "wrong", [{"Sec-WebSocket-Version": "99"}, {"Sec-WebSocket-Key": "short"}, {"Connection": "close"}]
)
async def test_a_bad_handshake_is_a_bad_request(proxy: Proxy, wrong: dict[str, str]) -> None:
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    } | wrong
    async with proxy.session.get(f"{proxy.url}/v1/responses", headers=headers) as response:
        assert response.status == 400
        assert (await response.json())["error"]["code"] == "invalid_handshake"
