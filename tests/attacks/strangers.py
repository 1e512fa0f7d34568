"""Clients from other addresses than the usual one, and what they are told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from tests.support.proxies import Proxy
from tests.support.sockets import Line

OTHER = "127.0.0.2"
GOOD, BUSY = 200, 503


@asynccontextmanager
async def stranger(proxy: Proxy, address: str = OTHER) -> AsyncIterator[Proxy]:
    """The same proxy, asked from another address."""
    connector = aiohttp.TCPConnector(local_addr=(address, 0))
    async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
        yield Proxy(proxy.url, proxy.log, session)


async def silent(line: Line) -> None:
    while True:
        await line.request()
