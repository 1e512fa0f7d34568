"""A relay between two who speak TCP, which can cut their connections, or carry nothing more either way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

Judge = Callable[[bytes], bool | None]


class Relay:
    port: int

    def __init__(self, target: int) -> None:
        self.target = target
        self.made = 0
        """Connections that were ever made."""
        self.cuts_at: Judge | None = None
        """Of what the client sends: is it carried on, and its answer is not?"""
        self._writers: set[asyncio.StreamWriter] = set()
        self._open = asyncio.Event()
        self._open.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.made += 1
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return writer.transport.abort()
        self._writers |= {writer, far_writer}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pump(reader, far_writer, writer))
            group.create_task(self._pump(far_reader, writer, None))

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: asyncio.StreamWriter | None
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._open.wait()
                writer.write(data)
                if client is not None and self.cuts_at is not None and self.cuts_at(data):
                    self.cuts_at = None
                    await writer.drain()
                    client.transport.abort()
        self._writers.discard(writer)
        writer.close()

    @property
    def is_open(self) -> bool:
        return self._open.is_set()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def halt(self) -> None:
        self._open.clear()

    def go_on(self) -> None:
        self._open.set()


@asynccontextmanager
async def relaying(target: int) -> AsyncIterator[Relay]:
    relay = Relay(target)
    server = await asyncio.start_server(relay.carry, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        relay.go_on()
        relay.cut()
        server.close()
