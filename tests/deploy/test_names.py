"""A container that is made anew may have another address: nginx asks for it again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from socket import inet_aton

import aiohttp

from tests.deploy.nginx import nginx
from tests.support.processes import free_port

HEAD_BYTES = 12
FOUND = b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00"
"""Flags, one question, one answer."""
ADDRESS = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x01\x00\x04"
"""Of the name in the question, for a second."""
SECONDS = 20.0


class Names(asyncio.DatagramProtocol):
    """One address for all names."""

    def __init__(self, address: str) -> None:
        self.address = address

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end = data.index(b"\0", HEAD_BYTES) + 5
        question = data[HEAD_BYTES:end]
        self._transport.sendto(data[:2] + FOUND + question + ADDRESS + inet_aton(self.address), addr)


@asynccontextmanager
async def naming(address: str) -> AsyncIterator[tuple[Names, int]]:
    made = asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Names(address), local_addr=("127.0.0.1", 0)
    )
    transport, names = await made
    try:
        yield names, transport.get_extra_info("sockname")[1]
    finally:
        transport.close()


async def _says(word: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n" + word)
    await writer.drain()
    writer.close()


async def test_nginx_follows_a_name_to_its_new_address(tmp_path: Path) -> None:
    port = free_port()
    async with AsyncExitStack() as stack:
        names, names_port = await stack.enter_async_context(naming("127.0.0.2"))
        for address, word in (("127.0.0.2", b"old"), ("127.0.0.3", b"new")):
            server = await asyncio.start_server(partial(_says, word), address, port)
            stack.callback(server.close)
        proxies = [f"proxy-1:{port}", f"proxy-2:{port}"]
        url = await asyncio.to_thread(stack.enter_context, nginx(tmp_path, proxies, names_port))
        session = await stack.enter_async_context(aiohttp.ClientSession())

        async def said() -> str:
            async with session.get(url) as response:
                return await response.text()

        async with asyncio.timeout(SECONDS):
            while await said() != "old":
                pass  # it has not heard of any yet
            names.address = "127.0.0.3"
            while [await said() for _ in range(4)] != ["new"] * 4:
                pass
