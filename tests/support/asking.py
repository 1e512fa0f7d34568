"""Single questions to a proxy, in HTTP or in raw bytes."""

import asyncio

from tests.support.proxies import Proxy


async def refused(proxy: Proxy, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    async with proxy.session.request(method, proxy.url + path, headers=headers) as response:
        return response.status, (await response.json())["error"], response.headers.get("Allow", "")


async def spoken(proxy: Proxy, data: bytes) -> bytes:
    """The answer to raw bytes, until the connection is closed."""
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    async with asyncio.timeout(5):
        said = await reader.read()
    writer.close()
    return said
