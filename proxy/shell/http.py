"""Answers over HTTP: one JSON body, one error envelope, or one stream of server-sent events.

Until the first byte of a stream went out a failure is a status with the OpenAI envelope; from then on the stream
itself tells it (R1). Every answer, whoever refused what, carries the request's id.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from proxy.core import jsontext, sse
from proxy.core.errors import Fault
from proxy.core.ids import Mint
from proxy.core.inbound.responses_encode import SSE
from proxy.core.redact import masked
from proxy.shell.body import CODINGS
from proxy.shell.tasks import Tasks

SERVER = "responses-proxy"
"""Fixed, and without a version: what runs here is nobody's business (S34)."""

REQUEST_ID_HEADERS = ("x-client-request-id", "x-request-id")
SAFE_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""Nothing that could end a header line or forge a log line (S13)."""

JSON_HEADERS = {"Content-Type": "application/json"}
STREAM_HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # nginx would collect a stream before it passes it on
}
WAYS_OUT: Mapping[str | None, Mapping[str, str]] = {
    "invalid_api_key": {"WWW-Authenticate": "Bearer"},
    "unsupported_media_type": {"Accept": "application/json"},
    "unsupported_encoding": {"Accept-Encoding": ", ".join(CODINGS)},
}
"""What HTTP wants to be told besides a status, by the code: how to show who asks, what a body may be. Which of the two
headers comes tells the two reasons for 415 apart."""
KEEP_ALIVE = sse.comment("keep-alive")

CONGESTED_BYTES = 64 * 1024
"""Waiting to be sent to a client: from here on it is waited for, and with it whoever feeds its stream (F67)."""


def request_id(headers: Mapping[str, str], mint: Mint) -> str:
    """The client's own, so that both sides can find the request in their logs; else one of ours."""
    for name in REQUEST_ID_HEADERS:
        given = headers.get(name, "")
        if SAFE_REQUEST_ID.fullmatch(given) and masked(given) == given:
            return given
    return mint.make("req")


def answer(body: Any, request_id: str, *, status: int = 200) -> web.Response:
    headers = _headers(request_id, JSON_HEADERS)
    return web.Response(body=jsontext.dumps(body), status=status, headers=headers)


def text(body: bytes, content_type: str, request_id: str) -> web.Response:
    return web.Response(body=body, headers=_headers(request_id, {"Content-Type": content_type}))


def _headers(request_id: str, kind: Mapping[str, str]) -> dict[str, str]:
    return {**kind, "Server": SERVER, "X-Request-Id": request_id}


def refuse(fault: Fault, request_id: str) -> web.Response:
    error = {
        "message": fault.message, "type": fault.type, "param": fault.param, "code": fault.code, **fault.details,
    }  # fmt: skip
    response = answer({"error": error}, request_id, status=fault.status)
    response.headers.update(fault.headers)
    response.headers.update(WAYS_OUT.get(fault.code, {}))
    if not fault.retryable:
        response.headers["X-Should-Retry"] = "false"
    return response


@dataclass(slots=True, frozen=True)
class Tempo:
    patience: float
    """After so long a stream opens, though nothing was said yet."""
    heartbeat: float
    """After so long a silence a sign of life is sent."""


class Channel:
    """The way back to one client: one JSON body, or a stream of events.

    The events of a stream are collected by `emit` and leave together, in one write per `flush`; the first of these
    opens it. One timer sees to the rest: that a stream opens when patience ends, and that silence is filled. A client
    which stops reading is its connection's business.
    """

    framing = SSE

    def __init__(self, request: web.BaseRequest, request_id: str, tempo: Tempo, tasks: Tasks) -> None:
        self.request_id = request_id
        self.response: web.StreamResponse | None = None
        """Made when the first byte is about to leave: until then there is a status to choose."""
        self.bytes_in = 0
        """What is answered, unpacked."""
        self.bytes_out = 0
        self.headers: dict[str, str] = {}
        """What the answer tells besides the usual ones, if it is known by the time it begins."""
        self.likely: dict[str, str] = {}
        """Likewise, but not certain before the reply begins: a stream that opens earlier does without them."""
        self._request = request
        self._tempo = tempo
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._frames: list[bytes] = []
        self.emit: Callable[[bytes], None] = self._frames.append
        self._transport = request.transport
        self._chunked = False
        """Is the body framed in chunks, so that any piece of it can be sent by itself?"""
        self._busy = False
        """A write is under way, has failed, or was the last: no heartbeat may come between."""
        self._last_write = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._heartbeat = tempo.heartbeat
        self._say_alive: Callable[[], None] | None = None
        """Emits an event in place of the comment."""

    def watch(self, event: Callable[[], None] | None = None, every: float | None = None) -> None:
        """From here on the client is not left in the dark. One that must see something `every` so often takes no
        comment for it, and is sent an `event`."""
        if event is not None and every is not None:
            self._say_alive = event
            self._heartbeat = min(every, self._heartbeat)
        self._timer = self._loop.call_later(self._tempo.patience, self._beat)

    @property
    def opened(self) -> bool:
        return self.response is not None

    async def answer(self, body: dict[str, Any]) -> None:
        """Sends the whole answer at once."""
        response = answer(body, self.request_id)
        self.bytes_out = response.content_length or 0
        await self._open(response)
        self._starts_to_write()
        await response.write_eof()

    @property
    def flows(self) -> bool:
        """May `push` be used: has the stream opened, and does its client keep up?"""
        transport = self._transport
        return self._chunked and transport is not None and transport.get_write_buffer_size() < CONGESTED_BYTES

    def push(self) -> bool:
        """Sends what was emitted without waiting. False when the client is slow, and `flush` should wait for it."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("The client has left.")
        frames = self._frames
        if frames:
            data = frames[0] if len(frames) == 1 else b"".join(frames)
            frames.clear()
            self.bytes_out += len(data)
            transport.write(b"%x\r\n%b\r\n" % (len(data), data))
            self._last_write = self._loop.time()
        return transport.get_write_buffer_size() < CONGESTED_BYTES

    async def flush(self) -> None:
        """Sends what was emitted. Waits while the client is slow, and with us whoever feeds us."""
        response = self.response or await self._open(self._stream())
        data = self._take()
        self._starts_to_write()
        await response.write(data)
        self._busy = False

    async def finish(self) -> None:
        """Sends the rest and ends the body with it, in one write."""
        response = self.response or await self._open(self._stream())
        data = self._take()
        self._starts_to_write()
        await response.write_eof(data)

    def stop(self) -> None:
        """From here on whoever answers the request has it to himself."""
        self._busy = True
        if self._timer is not None:
            self._timer.cancel()

    def abort(self) -> None:
        """Cuts the connection: better a visible break than an end that looks clean."""
        self.stop()
        if self._transport is not None:
            self._transport.abort()

    def _take(self) -> bytes:
        data = b"".join(self._frames)
        self._frames.clear()
        self.bytes_out += len(data)
        return data

    def _stream(self) -> web.StreamResponse:
        return web.StreamResponse(headers=_headers(self.request_id, STREAM_HEADERS))

    async def _open(self, response: web.StreamResponse) -> web.StreamResponse:
        self.response = response
        response.headers.update(self.headers | self.likely)
        await response.prepare(self._request)
        self._chunked = response.headers.get("Transfer-Encoding") == "chunked"
        return response

    def _starts_to_write(self) -> None:
        self._busy = True
        self._last_write = self._loop.time()

    def _beat(self) -> None:
        silence = self._loop.time() - self._last_write
        pause = self._heartbeat
        if self.opened and silence < pause:
            pause -= silence
        elif not self._busy:
            if self.opened:
                (self._say_alive or self._comment)()
            self._tasks.start(self._send_beat(), "heartbeat")
        self._timer = self._loop.call_later(pause, self._beat)

    def _comment(self) -> None:
        self.emit(KEEP_ALIVE)

    async def _send_beat(self) -> None:
        if self._busy:
            return
        if not self.opened:
            self.likely.clear()
        try:
            await self.flush()
        except ConnectionError:
            self.stop()  # the client has left, and its request is being cancelled
