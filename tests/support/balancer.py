"""A balancer of connections, which knows of its nodes what a person or Kubernetes tells it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from urllib.parse import urlsplit

PIECE_BYTES = 65536


class Balancer:
    """Each new connection goes to the next node, and on to another where one cannot be reached. One that leaves keeps
    its connections."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.url = ""
        self._turns = count()
        self._carrying: set[asyncio.Task[None]] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._carrying.add(task)
        try:
            # Nobody waits for this task, and whoever cancels it is about to close all.
            with suppress(asyncio.CancelledError, ConnectionRefusedError):
                there, back = await self._node()
                async with asyncio.TaskGroup() as group:
                    group.create_task(_carry(reader, back))
                    group.create_task(_carry(there, writer))
        finally:
            writer.close()
            self._carrying.discard(task)

    async def _node(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        first = next(self._turns)
        for number in range(first, first + len(self.nodes)):
            node = urlsplit(self.nodes[number % len(self.nodes)])
            with suppress(ConnectionRefusedError):
                return await asyncio.open_connection(node.hostname, node.port)
        raise ConnectionRefusedError("no node is there")

    async def close(self) -> None:
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An end by force is passed on as an end, too: else who asked would wait for ever."""
    try:
        with suppress(ConnectionError):
            while (piece := await reader.read(PIECE_BYTES)) and not writer.is_closing():
                writer.write(piece)
                await writer.drain()
    finally:
        writer.close()


@asynccontextmanager
async def balancing(*nodes: str) -> AsyncIterator[Balancer]:
    balancer = Balancer()
    balancer.nodes = list(nodes)
    server = await asyncio.start_server(balancer.connected, "127.0.0.1", 0)
    balancer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield balancer
    finally:
        server.close()
        await balancer.close()
