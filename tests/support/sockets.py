"""A scripted backend on a raw socket: it answers any bytes, in any pieces, or none, and resets when told to.

A script is a coroutine function that gets one connection and plays one part, as a test reads from top to bottom:

    async def cut_off(line: Line) -> None:
        await line.request()
        line.send(HEAD, chunk("Hel"))
        line.reset()

Nothing here understands HTTP beyond reading one request, so nothing here can mend what a test wants broken.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
PROMPTLY = 20.0
"""No test waits so long, unless it is about to fail."""


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


class Line:
    """One connection, from the backend's side."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, log: list[Received]
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._log = log

    async def request(self) -> Received:
        """The next request; EOFError when the other side has closed."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        received = Received(method, path, headers, body)
        self._log.append(received)
        return received

    def send(self, *data: bytes) -> None:
        self._writer.write(b"".join(data))

    async def drained(self) -> None:
        await self._writer.drain()

    @property
    def is_closing(self) -> bool:
        return self._writer.is_closing()

    async def closed(self) -> None:
        """Until the other side has gone."""
        async with asyncio.timeout(PROMPTLY):
            while await self._reader.read(65536):
                pass

    def reset(self) -> None:
        """A TCP reset, as from a crash: what was sent may still arrive."""
        sock: socket.socket = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()


Script = Callable[[Line], Awaitable[None]]


class ScriptedBackend:
    def __init__(self) -> None:
        self.received: list[Received] = []
        self.connections = 0
        self.failures: list[BaseException] = []
        self._scripts: list[Script] = []
        self._running: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

        self.root = ""

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def plays(self, *scripts: Script) -> None:
        """One script for each connection; the last one for all that follow."""
        self._scripts = list(scripts)

    def answers(self, *replies: bytes) -> None:
        """One reply for each request, on however many connections; the last one for all that follow."""
        left = list(replies)

        async def reply(line: Line) -> None:
            while True:
                await line.request()
                line.send(left.pop(0) if len(left) > 1 else left[0])

        self.plays(reply)

    async def start(self, port: int | None = 0) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port)
        self.root = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        assert self.failures == []

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        self.connections += 1
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        try:
            await script(Line(reader, writer, self.received))
        except (EOFError, ConnectionError, asyncio.CancelledError):
            pass  # the other side has gone, or the test is over
        except BaseException as failure:
            self.failures.append(failure)
        finally:
            self._running.discard(task)
            writer.close()


@asynccontextmanager
async def scripted(*scripts: Script) -> AsyncIterator[ScriptedBackend]:
    backend = ScriptedBackend()
    backend.plays(*scripts)
    await backend.start()
    try:
        yield backend
    finally:
        await backend.stop()


# ── bytes to say ──


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(payload: Any) -> bytes:
    """One server-sent event, as an HTTP chunk of its own."""
    return http_chunk(b"data: " + orjson.dumps(payload) + b"\n\n")


def delta(**fields: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]})


def text(content: str) -> bytes:
    return delta(content=content)


def finish(reason: str = "stop") -> bytes:
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


def usage(prompt: int = 3, completion: int = 5) -> bytes:
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return event({"choices": [], "usage": tokens})


DONE = http_chunk(b"data: [DONE]\n\n")


def reply(*pieces: bytes) -> bytes:
    """A whole stream that ends well."""
    return b"".join((HEAD, *pieces, finish(), usage(), DONE, END))


def answer(status: int, body: Any = b"", **headers: str) -> bytes:
    """Any HTTP answer of one piece; a body that is no bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    told = {"Content-Type": "application/json", "Content-Length": str(len(data))}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode() + data


async def silent_after_hello(line: Line) -> None:
    await line.request()
    line.send(HEAD, text("Hello"))
    await line.closed()
