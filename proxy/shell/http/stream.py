"""Sends one client its answer over HTTP: the events of a reply, or the whole of it.

It bypasses aiohttp's responses, which would cost more than all the rest of a short answer.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any

from aiohttp.helpers import rfc822_formatted_time
from aiohttp.http import HttpVersion11
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import StreamResponse

from proxy.core import jsontext, sse
from proxy.core.surfaces.framing import SSE
from proxy.shell.http.answers import JSON, SERVER
from proxy.shell.http.head import opening, whole
from proxy.shell.http.heartbeat import Heartbeat, StreamTiming
from proxy.shell.ops.tasks import Tasks

EVENTS = "text/event-stream"
STREAMED = {
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # nginx would collect a stream before it passes it on
}
KEEP_ALIVE = sse.comment("keep-alive")

CONGESTED_BYTES = 64 * 1024
"""When so much waits to be sent to a client, the engine waits for the client before it reads on (F67)."""


class HttpStream:
    """The way back to one client: one JSON body, or a stream of events.

    The events of a stream are collected by `emit` and leave together, in one write per `flush`; the first of these
    opens it. `connection` cuts off a client that stops reading.
    """

    framing = SSE

    def __init__(self, request: BaseRequest, request_id: str, timing: StreamTiming, tasks: Tasks) -> None:
        self.request_id = request_id
        self.opened = False
        """Has the first byte left? Until then a status can be chosen."""
        self.bytes_out = 0
        self.headers: dict[str, str] = {}
        """Headers besides the usual ones, if they are known when the answer begins."""
        self.likely: dict[str, str] = {}
        """Headers that are not certain before the reply begins: a stream that opens earlier leaves them out."""
        self._request = request
        self._heartbeat = Heartbeat(timing, tasks)
        self._frames: list[bytes] = []
        self.emit: Callable[[bytes], None] = self._frames.append
        self._transport = request.transport
        self._chunked = request.version >= HttpVersion11
        """Is a stream framed in chunks? To older clients the end of the connection ends it."""
        self._keeps = request.keep_alive
        """Is the connection kept for another request?"""

    def start_timers(self, event: Callable[[], None] | None = None, every: float | None = None) -> None:
        """See `Heartbeat.start`."""
        self._heartbeat.start(self, event, every)

    def answer(self, body: dict[str, Any]) -> Coroutine[Any, Any, None]:
        """Sends the whole answer at once."""
        data = jsontext.dumps(body)
        self.bytes_out = len(data)
        return self._send(self._head(JSON, len(data)) + data)

    @property
    def flows(self) -> bool:
        """May `push` be used: has the stream opened, and does its client keep up?"""
        transport = self._transport
        return self.opened and transport is not None and transport.get_write_buffer_size() < CONGESTED_BYTES

    def push(self) -> bool:
        """Sends what was emitted without waiting. Returns False if the client is slow, and `flush` should wait for
        it."""
        transport = self._connected()
        if self._frames:
            transport.write(self._framed(self._take()))
            heartbeat = self._heartbeat
            heartbeat.last_write = heartbeat.now()
        return transport.get_write_buffer_size() < CONGESTED_BYTES

    async def flush(self) -> None:
        """Sends what was emitted, and waits while the client is slow."""
        self._heartbeat.begin_write()
        await self._send(self._begin() + self._framed(self._take()))
        self._heartbeat.end_write()

    async def finish(self, *, broken: bool = False) -> None:
        """Sends the rest and the end of the body, in one write. With `broken` the connection closes and the body has no
        end, which every client takes for a failure."""
        self._heartbeat.begin_write()
        self._keeps = self._keeps and not broken
        end = b"0\r\n\r\n" if self._chunked and not broken else b""
        await self._send(self._begin() + self._framed(self._take()) + end)

    @property
    def response(self) -> StreamResponse:
        """Returns what aiohttp is told was the answer, which has left already."""
        assert self.opened
        return KEPT if self._keeps else CLOSED

    def stop(self) -> None:
        """Ends the heartbeat, so that nothing is written that the engine did not ask for."""
        self._heartbeat.stop()

    def abort(self) -> None:
        """Cuts the connection, because a visible break is better than an end that looks clean."""
        self.stop()
        if self._transport is not None:
            self._transport.abort()

    def comment(self) -> None:
        self.emit(KEEP_ALIVE)

    def _take(self) -> bytes:
        frames = self._frames
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        frames.clear()
        self.bytes_out += len(data)
        return data

    def _framed(self, data: bytes) -> bytes:
        """Frames data as a chunk. Nothing stays nothing, because an empty chunk would be the last."""
        return b"%x\r\n%b\r\n" % (len(data), data) if self._chunked and data else data

    def _begin(self) -> bytes:
        return b"" if self.opened else self._head(EVENTS)

    def _head(self, kind: str, length: int | None = None) -> bytes:
        self.opened = True
        usual = _usual(kind, self._chunked, rfc822_formatted_time())
        framing = ""
        if length is not None:
            framing = f"Content-Length: {length}\r\n"
        elif self._chunked:
            framing = "Transfer-Encoding: chunked\r\n"
        else:
            self._keeps = False
        if self._keeps != self._chunked:  # else it is what the version means by itself
            framing += f"Connection: {'keep-alive' if self._keeps else 'close'}\r\n"
        id = f"X-Request-Id: {self.request_id}\r\n"  # nothing in it ends a line, see `answers.request_id_of`
        return whole(usual, id, {**self.headers, **self.likely}, framing)

    def _connected(self) -> asyncio.WriteTransport:
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("The client has left.")
        return transport

    def _send(self, data: bytes) -> Coroutine[Any, Any, None]:
        self._connected().write(data)
        return self._request.writer.drain()


@lru_cache(maxsize=4)
def _usual(kind: str, newer: bool, date: str) -> bytes:
    """The beginning of all heads of a kind in one second. `newer`: is the client's version of HTTP the newer one?"""
    told = {"Content-Type": kind, **(STREAMED if kind == EVENTS else {}), "Server": SERVER, "Date": date}
    return opening("HTTP/1.1 200 OK" if newer else "HTTP/1.0 200 OK", told)


class _Sent(StreamResponse):
    """An answer that has left already."""

    def __init__(self, *, keep_alive: bool) -> None:
        super().__init__()
        self._keeps = keep_alive

    @property
    def keep_alive(self) -> bool:
        return self._keeps

    async def prepare(self, request: BaseRequest) -> None:
        pass

    async def write_eof(self, data: bytes = b"") -> None:
        pass


KEPT, CLOSED = _Sent(keep_alive=True), _Sent(keep_alive=False)
