"""A pooler in transaction mode, as small as can be: every transaction of a client goes to the next free connection.

So nothing lasts that a session would keep: no prepared statement, no lock, no setting. That is what PgBouncer does.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

SSL = 80877103
VERSION = 196608
READY, IDLE = b"Z", b"I"


def message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def pair(name: str, value: str) -> bytes:
    return f"{name}\x00{value}\x00".encode()


SETTINGS = {"server_version": "13.0", "client_encoding": "UTF8", "standard_conforming_strings": "on"}
WELCOME = (
    message(b"R", bytes(4))
    + b"".join(message(b"S", pair(*each)) for each in SETTINGS.items())
    + message(b"K", bytes(8))
    + message(READY, IDLE)
)


@dataclass
class Line:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def next(self) -> tuple[bytes, bytes]:
        """The kind of a message, and all of it."""
        head = await self.reader.readexactly(5)
        return head[:1], head + await self.reader.readexactly(int.from_bytes(head[1:], "big") - 4)


class Pooler:
    port: int

    def __init__(self, target: int, user: str, database: str, search_path: str) -> None:
        self._target = target
        settings = {"user": user, "database": database, "search_path": search_path}
        self._greeting = b"".join(pair(*each) for each in settings.items()) + b"\x00"
        self._free: asyncio.Queue[Line] = asyncio.Queue()
        self._lines: list[Line] = []
        self.transactions = 0

    async def connect(self, number: int) -> None:
        for _ in range(number):
            line = Line(*await asyncio.open_connection("127.0.0.1", self._target))
            body = VERSION.to_bytes(4, "big") + self._greeting
            line.writer.write((len(body) + 4).to_bytes(4, "big") + body)
            while (await line.next())[0] != READY:
                pass
            self._lines.append(line)
            self._free.put_nowait(line)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Line(reader, writer)
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                if int.from_bytes((await reader.readexactly(size - 4))[:4], "big") != SSL:
                    break
                writer.write(b"N")
            writer.write(WELCOME)
            while True:
                kind, first = await client.next()
                if kind == b"X":
                    break
                line = await self._free.get()
                await self._carry(client, line, first)
                self._free.put_nowait(line)
        writer.close()

    async def _carry(self, client: Line, line: Line, first: bytes) -> None:
        """One transaction, however many messages it has."""
        self.transactions += 1
        line.writer.write(first)
        asking = asyncio.ensure_future(self._ask(client, line))  # noqa: TID251 - held here
        while True:
            kind, data = await line.next()
            client.writer.write(data)
            if kind == READY and data[5:] == IDLE:
                break
        asking.cancel()
        await asyncio.wait({asking})

    async def _ask(self, client: Line, line: Line) -> None:
        while True:
            line.writer.write((await client.next())[1])

    def close(self) -> None:
        for line in self._lines:
            line.writer.close()


@asynccontextmanager
async def pooling(target: int, search_path: str, number: int = 2) -> AsyncIterator[Pooler]:
    pooler = Pooler(target, "postgres", "postgres", search_path)
    await pooler.connect(number)
    server = await asyncio.start_server(pooler.serve, "127.0.0.1", 0)
    pooler.port = server.sockets[0].getsockname()[1]
    try:
        yield pooler
    finally:
        server.close()
        pooler.close()
