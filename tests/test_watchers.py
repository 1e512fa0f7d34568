"""Who watches is what the settings ask for."""

from tests.support.proxies import StartProxy, backend, start_proxy

__all__ = ["backend", "start_proxy"]


async def test_by_default_nobody_watches(start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    await proxy.stream()
    assert proxy.log.request["status"] == 200
