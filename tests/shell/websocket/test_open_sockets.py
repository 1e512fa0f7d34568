"""How many WebSockets may be open."""

import pytest

from tests.support.proxies import StartProxy
from tests.support.websockets import refused, talking


async def test_connections_are_not_taken_without_a_bound(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.websocket.open_sockets.MAX_OPEN", 2)  # of which one alone may have half
    proxy = await start_proxy()
    async with talking(proxy.url):
        address = f"{proxy.url}/v1/responses"
        assert await refused(proxy.session.ws_connect(address)) == 503
        assert proxy.log.named("refusal")[0]["code"] == "server_is_overloaded"
    await proxy.log.wait_for("websocket")
    async with talking(proxy.url) as other:
        assert (await other.turn())["status"] == "completed"
