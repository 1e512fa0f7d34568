"""One client's connection. It is aiohttp's, except where aiohttp hides an error, uses its own words, or mixes things
up.

It uses some of aiohttp's private names: see the room's `PRIVATE_NAMES`.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import StreamReader
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpVersion, HttpVersion10, HttpVersion11, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.web_protocol import RequestHandler, RequestPayloadError
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import StreamResponse
from aiohttp.web_server import Server
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from proxy.core.tenants import neighbourhood
from proxy.shell.http.connections import Connections
from proxy.shell.http.malformed import HeadTooLate, UnknownVersion
from proxy.shell.http.pace import Paced

KEEP_ALIVE_SECONDS = 75.0
"""A connection is kept this long between two requests, as in nginx (S26)."""

LINGERING_SECONDS = 5.0
"""After an early refusal the rest of a body is read and dropped for this long, so that the refusal arrives."""

STALLED_SECONDS = 60.0
"""A client that reads nothing for this long is cut off, because its stream holds a slot at the backend (S26, F67)."""

SPOKEN = (HttpVersion11, HttpVersion10)
"""aiohttp's parser takes 0.9 and 2.0 as well, and a line without any version for one of the former."""

RefuseMalformed = Callable[[BaseRequest, BaseException | None], StreamResponse]
"""Returns the answer to bytes that are no request, by what is wrong with them."""


Handler = Callable[[BaseRequest], Awaitable[StreamResponse]]


NEVER_WHOLE = RawRequestMessage(
    "UNKNOWN", "/", HttpVersion(0, 0), CIMultiDictProxy(CIMultiDict()), (), True, None, False, False, URL("/")
)
"""Stands for a request whose head came only in part, so that it is refused like any other."""


class Connection(Paced, RequestHandler):
    def __init__(
        self, manager: "Acceptor", refuse_malformed: RefuseMalformed, connections: Connections
    ) -> None:
        super().__init__(
            manager,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            lingering_time=LINGERING_SECONDS,
            access_log=None,  # type: ignore[arg-type]  # the engine's summary is better
            auto_decompress=False,  # see `body`
        )
        self._refuse_malformed = refuse_malformed
        self._connections = connections
        self._stall_timer: asyncio.TimerHandle | None = None
        self.address = ""
        """The address for which the client stands in shares; all requests on the connection have it."""
        self._early = False
        """Has a part of another head come while a request was answered?"""
        self.listener: Callable[[int], None] | None = None
        """Is called with the number of bytes whenever some arrive."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.address = neighbourhood(str((self.peername or ("",))[0]))
        if not self._connections.enter(self):
            self.drop()

    def drop(self) -> None:
        """Closes it without a word, because there is no request to answer."""
        if self.transport is not None:
            self.transport.abort()

    # ── slow clients ──

    def pause_writing(self) -> None:
        super().pause_writing()
        if self.transport is not None:
            self._start_stall_timer(self.transport)

    def _start_stall_timer(self, transport: asyncio.WriteTransport) -> None:
        waiting = transport.get_write_buffer_size()
        self._stall_timer = asyncio.get_running_loop().call_later(
            STALLED_SECONDS, self._check_stalled, transport, waiting
        )

    def _check_stalled(self, transport: asyncio.WriteTransport, waited: int) -> None:
        """Cuts a client off that has read nothing since the last check. A large answer may take long otherwise."""
        if transport.get_write_buffer_size() < waited:
            self._start_stall_timer(transport)
        else:
            transport.abort()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_stall_timer()

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._connections.leave(self)
        self._stop_stall_timer()

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()

    async def _drain_helper(self) -> None:
        """Lets a wait for a slow client be interrupted before a last event is sent (F74). In aiohttp all waits of a
        connection share one future: if it is cancelled once, it cancels those that follow."""
        if self.writing_paused:
            await asyncio.shield(super()._drain_helper())

    # ── what is no request ──

    def take(self, data: bytes) -> None:
        """Reports broken framing of a body to its reader. aiohttp queues the failure behind the request, as if it were
        the next one, and the reader would wait for the rest of the body until its time is over."""
        current = self._current_request
        answering, whole = current is not None and current.content.is_eof(), len(self._messages)
        super().take(data)
        if data and not self._messages and (self._waiter is not None or not self._request_count):
            self._connections.begun(self)
        if data and answering:
            self._early = len(self._messages) == whole
        if self.listener is not None:
            self.listener(len(data))
        if self._messages and not isinstance(self._messages[-1][0], RawRequestMessage):
            self._break_bodies()

    def request_ended(self) -> None:
        """Of the next one a part may have come."""
        self._connections.idle(self)
        if self._early and not self._messages:
            self._early = False
            self._connections.begun(self)

    def hurry(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            self._messages.append((NEVER_WHOLE, EMPTY_PAYLOAD))
            waiter.set_result(None)

    def _break_bodies(self) -> None:
        bodies = [body for _, body in self._messages]
        if self._current_request is not None:
            bodies.append(self._current_request.content)
        for body in bodies:
            if not body.is_eof():
                body.set_exception(RequestPayloadError("broken framing"))
                body.feed_eof()  # nobody needs to wait for the rest of it

    def handle_error(
        self,
        request: BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> StreamResponse:
        if isinstance(exc, ConnectionError):
            raise exc  # the client has left, and there is nobody to tell
        response = self._refuse_malformed(request, exc)
        response.force_close()
        return response


def connection_of(request: BaseRequest) -> Connection:
    connection = request.protocol
    assert isinstance(connection, Connection)
    return connection


class Refused(BaseRequest):
    why: type[Exception]


class Foreign(Refused):
    """A request of another version of HTTP. It is answered in version 1.0, which needs no knowledge of the other."""

    why = UnknownVersion


class Unfinished(Refused):
    """A request whose head never ended."""

    why = HeadTooLate


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: RequestHandler,
    writer: AbstractStreamWriter,
    task: "asyncio.Task[None]",
) -> BaseRequest:
    loop = asyncio.get_running_loop()
    if message.version in SPOKEN:
        return BaseRequest(message, payload, protocol, writer, task, loop)
    kind = Unfinished if message is NEVER_WHOLE else Foreign
    return kind(message._replace(version=HttpVersion10), payload, protocol, writer, task, loop)


class Acceptor(Server):
    def __init__(self, handler: Handler, refuse_malformed: RefuseMalformed, connections: Connections) -> None:
        super().__init__(self._handle, request_factory=_request, handler_cancellation=True)
        self._answer = handler
        self._refuse_malformed = refuse_malformed
        self._all = connections

    async def _handle(self, request: BaseRequest) -> StreamResponse:
        connection = connection_of(request)
        if isinstance(request, Refused):
            return connection.handle_error(request, exc=request.why())
        self._all.busy(connection)
        try:
            return await self._answer(request)
        finally:
            connection.request_ended()

    def __call__(self) -> RequestHandler:
        return Connection(self, self._refuse_malformed, self._all)
