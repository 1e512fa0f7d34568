"""HTTP requests on kept connections: as much of a client as a proxy needs.

aiohttp's connector makes the connections: it resolves names and speaks TLS. Its session is left out: it is made for
what browsers do, and none of that may happen here. So no cookie is kept, no redirect followed and no proxy or password
of the environment used, for the key would travel along (S08-S10); and a short request costs a tenth less. Connections
that wait for another request are kept here, which saves a hundredth of it.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from yarl import URL

from proxy.shell.http.answer_body import AnswerBody
from proxy.shell.http.deadlines import NEVER, Deadlines
from proxy.shell.http.head import END, opening
from proxy.shell.http.wire import Wire

LENGTH = "Content-Length"

KEPT_SECONDS = 15.0
"""A connection waits so long for another request: less than servers wait for one."""

KNOWN_ORIGINS = 256
"""So many are remembered. Gemini's models have an address each, and clients choose their names."""

RACE_SECONDS = 1.0
"""A kept connection that the backend had closed already, or was just closing, shows it within a round trip. One that is
closed later than this was closed at work (F05)."""

HANDSHAKE_BROKEN_OFF = (ConnectionResetError, ConnectionAbortedError)
"""How a backend refuses this version of TLS, or does not speak TLS at all. A connection that was never made cannot be
reset: that is another error."""

CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class _StaleConnection(Exception):
    """The backend closed a kept connection just when it was taken from the pool. No byte of an answer came, so nothing
    is done twice when the request is sent on another connection (F06)."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure


class KeptConnections:
    """Connections to one server that wait for another request, the one that has waited longest first."""

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._waiting: deque[tuple[Connection, float]] = deque()
        """Each with the time until which it is kept."""

    def add(self, connection: Connection) -> None:
        until = self._deadlines.now() + KEPT_SECONDS
        self._waiting.append((connection, until))
        self._deadlines.add(self, until)

    def take(self) -> Connection | None:
        while self._waiting:
            connection, _ = self._waiting.popleft()
            wire = _wire(connection)
            if wire.is_connected() and not wire.should_close:
                return connection
            _cut(connection)  # what came unasked would be taken for the answer (E4)
        return None

    def check(self, now: float) -> float:
        while self._waiting:
            connection, until = self._waiting[0]
            if now < until:
                return until
            self._waiting.popleft()
            connection.close()
        self._deadlines.remove(self)
        return NEVER

    def close(self) -> None:
        self.check(NEVER)


class Answer:
    """The head of an answer, and its body as it comes. A connection whose body was read to its end is kept."""

    __slots__ = ("_kept", "body", "connection", "headers", "status")

    def __init__(
        self,
        kept: KeptConnections,
        connection: Connection,
        status: int,
        headers: Mapping[str, str],
        body: AnswerBody,
    ) -> None:
        self._kept = kept
        self.status = status
        self.headers = headers
        self.body = body
        self.connection: Connection | None = connection
        """None after it was given back."""
        body.when_whole(self._give_back)

    def _give_back(self) -> None:
        connection, self.connection = self.connection, None
        if connection is None:
            return
        wire = _wire(connection)
        if wire.is_sending:  # the answer has not waited for the whole request
            _cut(connection)
        elif wire.should_close:
            connection.close()
        else:
            self._kept.add(connection)

    def close(self) -> None:
        """A connection with an unread rest is never kept (E4)."""
        connection, self.connection = self.connection, None
        if connection is not None:
            _cut(connection)


class Origin(aiohttp.ClientRequest):
    """Scheme, host and port of a backend, in the form that connectors want, with the headers of all requests to it."""

    def __init__(self, user_agent: str, kept: Callable[[ConnectionKey], KeptConnections], url: str) -> None:
        super().__init__("GET", URL(url), loop=asyncio.get_running_loop())
        self.target = self.url.raw_path_qs
        self.always = {
            "Host": self.headers["Host"],
            "User-Agent": user_agent,
            "Accept": "*/*",
            "Accept-Encoding": "identity",  # a compressed stream arrives in lumps
        }
        self._key = super().connection_key
        self.kept = kept(self._key)
        self._headers: Mapping[str, str] = {}
        self._opening = ""
        self._head = b""

    @property
    def connection_key(self) -> ConnectionKey:
        """The key, computed once."""
        return self._key

    def head(self, method: str, headers: Mapping[str, str]) -> bytes:
        """A head but for its length. It is made anew when other headers come, which are nearly always those of one
        target. They replace what is usual, if spelled As-Here."""
        first_line = f"{method} {self.target} HTTP/1.1"
        if headers is not self._headers or first_line != self._opening:
            told = {**self.always, **headers}
            told.pop(LENGTH, None)
            self._head = opening(first_line, told)
            self._headers, self._opening = headers, first_line
        return self._head


class HttpClient:
    def __init__(self, user_agent: str, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._kept: defaultdict[ConnectionKey, KeptConnections] = defaultdict(
            partial(KeptConnections, deadlines)
        )
        self._origin_of = lru_cache(KNOWN_ORIGINS)(partial(Origin, user_agent, self._kept.__getitem__))
        self._connector = _Connector()

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
        in `failures`."""
        origin = self._origin_of(url)
        length = b"" if body is None else b"%b: %d\r\n" % (LENGTH.encode(), len(body))
        request = origin.head(method, headers) + length + END, body or b""
        started = self._deadlines.now()
        if (kept := origin.kept.take()) is not None:
            try:
                return await self._ask(origin, kept, request, until)
            except _StaleConnection as tired:
                if self._deadlines.now() - started > RACE_SECONDS:
                    raise tired.failure from None
        connection = await _connected(self._connector, origin, min(connect, until - started))
        return await self._ask(origin, connection, request, until)

    async def _ask(
        self, origin: Origin, connection: Connection, request: tuple[bytes, bytes], until: float
    ) -> Answer:
        wire = _wire(connection)
        wire.until = until
        self._deadlines.add(wire, until)
        try:
            return Answer(origin.kept, connection, *await wire.ask(*request))
        except BaseException as failure:
            _cut(connection)
            if wire.used and isinstance(failure, CLOSED) and not wire.heard:
                raise _StaleConnection(failure) from failure
            raise
        finally:
            self._deadlines.remove(wire)

    async def close(self) -> None:
        await self._connector.close()  # before the others, for it waits only for what was not given back
        for kept in self._kept.values():
            kept.close()


async def _connected(connector: aiohttp.BaseConnector, origin: Origin, seconds: float) -> Connection:
    try:
        return await connector.connect(origin, [], _until_connected(seconds))
    except TimeoutError as failure:
        raise aiohttp.ConnectionTimeoutError from failure
    except aiohttp.ClientConnectorError as failure:
        if origin.is_ssl() and isinstance(failure.os_error, HANDSHAKE_BROKEN_OFF):
            raise aiohttp.ClientConnectorSSLError(origin.connection_key, failure.os_error) from failure
        raise


def _wire(connection: Connection) -> Wire:
    """There is one as long as the connection was not given back."""
    return connection.protocol  # type: ignore[return-value]  # the factory makes no others


def _cut(connection: Connection) -> None:
    """Cuts a connection at once. A regular close would wait for a backend that reads nothing."""
    if connection.transport is not None:
        connection.transport.abort()
    connection.close()


@lru_cache(maxsize=64)
def _until_connected(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=seconds)


class _Connector(aiohttp.TCPConnector):
    def __init__(self) -> None:
        super().__init__(limit=0, force_close=True)
        self._factory = Wire  # type: ignore[assignment]  # has all that is asked of aiohttp's own
