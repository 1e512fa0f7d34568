"""HTTP requests on kept connections: as much of a client as a proxy needs.

aiohttp's connector keeps the connections, resolves names, speaks TLS and parses what comes. Its session is left out: it
is made for what browsers do, and none of that may happen here. So no cookie is kept, no redirect followed and no proxy
or password of the environment used, for the key would travel along (S08-S10); and a short request costs a tenth less.
"""

import asyncio
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Protocol

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError
from yarl import URL

from proxy.shell.http.deadlines import NEVER, Deadlines
from proxy.shell.http.head import head
from proxy.shell.http.pace import EMPTY_VIEW, Paced

READ_BYTES = 64 * 1024
"""aiohttp's default of 256 KiB is no faster, and would hold four times as much for a client that reads slowly (F67)."""

PIECE_BYTES = 64 * 1024
"""A larger request is sent in pieces, as fast as the backend takes them. To encrypt it at once would hold up all
others (F79), and TLS would not tell how much of it has left."""

KNOWN_ORIGINS = 256
"""So many are remembered. Gemini's models have an address each, and clients choose their names."""

RACE_SECONDS = 1.0
"""A kept connection that the backend had closed already, or was just closing, shows it within a round trip. One that is
closed later than this was closed at work (F05)."""

INTERIM = range(100, 200)
MAX_INTERIM = 100
"""Heads before the one of the answer. One is usual, a few tell of progress; a backend that sends nothing else keeps its
client busy and itself silent."""
SWITCHED = 101
"""The interim status after which no other head follows. The proxy never asks for it."""


HANDSHAKE_BROKEN_OFF = (ConnectionResetError, ConnectionAbortedError)
"""How a backend refuses this version of TLS, or does not speak TLS at all. A connection that was never made cannot be
reset: that is another error."""

CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class Listener(Protocol):
    """Empties a reader in the very callback that fills it."""

    def deliver(self) -> bool:
        """Takes a piece, and says whether there may be another."""

    def stop(self) -> None:
        """Ends: nothing more will come."""


class _StaleConnection(Exception):
    """The backend closed a kept connection just when it was taken from the pool. No byte of an answer came, so nothing
    is done twice when the request is sent on another connection (F06)."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure


class Answer:
    """The head of an answer, and its body as it comes. A connection whose body was read to its end is kept."""

    def __init__(
        self, connection: Connection, status: int, headers: Mapping[str, str], content: aiohttp.StreamReader
    ) -> None:
        self.status = status
        self.headers = headers
        self.content = content
        self.connection: Connection | None = connection
        """None after it was given back."""
        content.on_eof(self._give_back)

    def _give_back(self) -> None:
        connection, self.connection = self.connection, None
        if connection is None:
            return
        if _wire(connection).is_sending:  # the answer has not waited for the whole request
            _cut(connection)
        else:
            connection.release()

    def close(self) -> None:
        """A connection with an unread rest is never kept (E4)."""
        connection, self.connection = self.connection, None
        if connection is not None:
            _cut(connection)


class Origin(aiohttp.ClientRequest):
    """Scheme, host and port of a backend, in the form that connectors want, with the headers of all requests to it."""

    def __init__(self, user_agent: str, url: str) -> None:
        super().__init__("GET", URL(url), loop=asyncio.get_running_loop())
        self.target = self.url.raw_path_qs
        self.always = {
            "Host": self.headers["Host"],
            "User-Agent": user_agent,
            "Accept": "*/*",
            "Accept-Encoding": "identity",  # a compressed stream arrives in lumps
        }
        self._key = super().connection_key

    @property
    def connection_key(self) -> ConnectionKey:
        """The key, computed once."""
        return self._key


class HttpClient:
    def __init__(self, user_agent: str, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._origin_of = lru_cache(KNOWN_ORIGINS)(partial(Origin, user_agent))
        self._kept = _Connector()
        self._fresh = _Connector(keep=False)

    async def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        connect: float,
        until: float,
    ) -> Answer:
        """Waits for the head of an answer, whatever its status, `until` the loop's clock says so. Raises what stands
        in `failures`. `headers` replace what is usual, if spelled As-Here."""
        origin = self._origin_of(url)
        fields = {**origin.always, **headers}
        if body is not None:
            fields["Content-Length"] = str(len(body))
        request = head(f"{method} {origin.target} HTTP/1.1", fields), body or b""
        clock = asyncio.get_running_loop().time
        started = clock()
        connect = min(connect, until - started)
        try:
            return await self._ask(self._kept, origin, request, connect, until)
        except _StaleConnection as tired:
            if clock() - started > RACE_SECONDS:
                raise tired.failure from None
            return await self._ask(self._fresh, origin, request, connect, until)

    async def _ask(
        self,
        connector: aiohttp.BaseConnector,
        origin: Origin,
        request: tuple[bytes, bytes],
        connect: float,
        until: float,
    ) -> Answer:
        connection = await _connected(connector, origin, connect)
        wire = _wire(connection)
        wire.until = until
        self._deadlines.add(wire, until)
        try:
            wire.set_response_params(read_until_eof=True, auto_decompress=False, read_bufsize=READ_BYTES)
            wire.has_paused = False  # not in the eyes of this new parser
            wire.send(*request)
            for _ in range(MAX_INTERIM + 1):
                message, content = await wire.read()
                if message.code not in INTERIM or message.code == SWITCHED:
                    wire.used = True
                    return Answer(connection, message.code, message.headers, content)
            raise HttpProcessingError(message="too many interim answers")
        except BaseException as failure:
            _cut(connection)
            if wire.used and isinstance(failure, CLOSED) and not _has_begun(failure):
                raise _StaleConnection(failure) from failure
            raise
        finally:
            self._deadlines.remove(wire)

    async def close(self) -> None:
        await self._kept.close()
        await self._fresh.close()


async def _connected(connector: aiohttp.BaseConnector, origin: Origin, seconds: float) -> Connection:
    while True:
        try:
            connection = await connector.connect(origin, [], _until_connected(seconds))
        except TimeoutError as failure:
            raise aiohttp.ConnectionTimeoutError from failure
        except aiohttp.ClientConnectorError as failure:
            if origin.is_ssl() and isinstance(failure.os_error, HANDSHAKE_BROKEN_OFF):
                raise aiohttp.ClientConnectorSSLError(origin.connection_key, failure.os_error) from failure
            raise
        wire = _wire(connection)
        if not (wire.used and wire.should_close):
            return connection
        _cut(connection)  # what came unasked would be taken for the answer (E4)


def _wire(connection: Connection) -> "Wire":
    wire = connection.protocol
    assert isinstance(wire, Wire), "as long as it was not given back"
    return wire


def _cut(connection: Connection) -> None:
    """Cuts a connection at once. A regular close would wait for a backend that reads nothing."""
    if connection.transport is not None:
        connection.transport.abort()
    connection.close()


def _has_begun(failure: BaseException) -> bool:
    """Had a part of a head come? aiohttp then puts what it could read of it into the failure."""
    head = getattr(failure, "message", None)
    return head is not None and not isinstance(head, str)


@lru_cache(maxsize=64)
def _until_connected(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=seconds)


class Wire(Paced, ResponseHandler):
    push_reader: Listener | None = None
    """Takes everything that comes, as soon as it has been read."""
    used = False
    """Has the connection brought an answer before?"""
    until = NEVER
    """The wait for the head of an answer ends then."""
    _rest = EMPTY_VIEW
    """The rest of a request, for which the transport had no room yet."""

    def take(self, data: bytes) -> None:
        super().take(data)
        if data and self.push_reader is not None:
            while self.push_reader.deliver():
                pass

    def eof_received(self) -> None:
        super().eof_received()
        if self.push_reader is not None:
            self.push_reader.deliver()

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        if self.push_reader is not None:
            self.push_reader.stop()

    def check(self, now: float) -> float:
        if now < self.until:
            return self.until
        self.set_exception(TimeoutError())
        return NEVER

    def send(self, head: bytes, body: bytes) -> None:
        if self.transport is None or self.transport.is_closing():
            return  # `read` tells why
        self.transport.writelines((head, body[:PIECE_BYTES]))
        if len(body) > PIECE_BYTES:
            self._rest = memoryview(body)[PIECE_BYTES:]
            self._send_rest()

    def _send_rest(self) -> None:
        while self._rest and self.transport is not None and not self.writing_paused:
            piece, self._rest = self._rest[:PIECE_BYTES], self._rest[PIECE_BYTES:] or EMPTY_VIEW
            self.transport.write(piece)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._send_rest()

    @property
    def is_sending(self) -> bool:
        transport = self.transport
        return transport is not None and (bool(self._rest) or transport.get_write_buffer_size() > 0)


class _Connector(aiohttp.TCPConnector):
    def __init__(self, *, keep: bool = True) -> None:
        super().__init__(limit=0, force_close=not keep)
        self._factory = partial(Wire, loop=self._loop)  # type: ignore[assignment]  # of a subclass
