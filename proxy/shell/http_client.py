"""HTTP requests on kept connections: as much of a client as a proxy needs.

aiohttp's connector keeps the connections, resolves names, speaks TLS and parses what comes. Its session is left out: it
is made for what browsers do, and none of that may happen here. So no cookie is kept, no redirect followed and no proxy
or password of the environment used, for the key would travel along (S08-S10); and a short request costs a tenth less.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import aiohttp
from aiohttp.connector import Connection
from yarl import URL

READ_BYTES = 64 * 1024
"""aiohttp's own 256 KiB is no faster, and would hold four times as much for a client that reads slowly (F67)."""

KNOWN_PLACES = 256
"""Gemini's models have an address each, and their names come from clients."""

RACE_SECONDS = 1.0
"""A kept connection that the backend had closed already, or was just closing, shows it within a round trip. One that is
closed later than this was closed at work (F05)."""

INTERIM = range(100, 200)
SWITCHED = 101
"""The one of them that nothing follows; nobody asks for it here."""


class Answer:
    """The head of an answer, and its body as it comes. A connection whose body was read to its end is kept."""

    def __init__(
        self, connection: Connection, status: int, headers: Mapping[str, str], content: aiohttp.StreamReader
    ) -> None:
        self.status = status
        self.headers = headers
        self.content = content
        self.connection: Connection | None = connection
        """None when it has been given back."""
        content.on_eof(self._give_back)

    def _give_back(self) -> None:
        connection, self.connection = self.connection, None
        if connection is None:
            return
        if _is_writing(connection):  # the answer has not waited for the whole request
            _cut(connection)
        else:
            connection.release()

    def close(self) -> None:
        """A connection with an unread rest is never kept (R4)."""
        connection, self.connection = self.connection, None
        if connection is not None:
            _cut(connection)


class HttpClient:
    def __init__(self, user_agent: str) -> None:
        self._always = {"User-Agent": user_agent, "Accept-Encoding": "identity"}
        self._place = lru_cache(KNOWN_PLACES)(self._find)
        self._kept = _Connector(limit=0)
        self._fresh = _Connector(limit=0, force_close=True)

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
        place = self._place(url)
        request = (_head(method, place, headers, body), body or b"")
        clock = asyncio.get_running_loop().time
        started = clock()
        USED_BEFORE.set(True)
        try:
            return await _ask(self._kept, place, request, connect, until)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as failure:
            # The backend closed a kept connection just when it was taken from the pool: not one byte of an answer
            # came, so nothing is done twice (F06).
            late = clock() - started > RACE_SECONDS
            if late or not USED_BEFORE.get() or _has_begun(failure):
                raise
            return await _ask(self._fresh, place, request, connect, until)

    def _find(self, url: str) -> aiohttp.ClientRequest:
        """Where requests go, as connectors want to be told, and what all of them say there."""
        loop = asyncio.get_running_loop()
        return aiohttp.ClientRequest("GET", URL(url), headers=self._always, loop=loop)

    async def close(self) -> None:
        await self._kept.close()
        await self._fresh.close()


def _head(method: str, place: aiohttp.ClientRequest, headers: Mapping[str, str], body: bytes | None) -> bytes:
    told = place.headers.copy()
    told.update(headers)
    if body is not None:
        told["Content-Length"] = str(len(body))
    if not "".join(told.values()).isprintable():  # a line end in a value would begin another header (S12)
        raise ValueError("A header to the backend holds control characters.")
    lines = [f"{name}: {value}\r\n" for name, value in told.items()]
    return f"{method} {place.url.raw_path_qs} HTTP/1.1\r\n{''.join(lines)}\r\n".encode()


async def _ask(
    connector: aiohttp.BaseConnector,
    place: aiohttp.ClientRequest,
    request: Sequence[bytes],
    connect: float,
    until: float,
) -> Answer:
    try:
        connection = await connector.connect(place, [], _until_connected(connect))
    except TimeoutError as failure:
        raise aiohttp.ConnectionTimeoutError from failure
    protocol, transport = connection.protocol, connection.transport
    assert protocol is not None, "it was given just now"
    timer = asyncio.get_running_loop().call_at(until, protocol.set_exception, TimeoutError())
    try:
        protocol.set_response_params(read_until_eof=True, auto_decompress=False, read_bufsize=READ_BYTES)
        if transport is not None and not transport.is_closing():  # else it is read why
            transport.writelines(request)
        while True:
            message, content = await protocol.read()
            if message.code not in INTERIM or message.code == SWITCHED:
                return Answer(connection, message.code, message.headers, content)
    except BaseException:
        _cut(connection)
        raise
    finally:
        timer.cancel()


def _is_writing(connection: Connection) -> bool:
    transport = connection.transport
    return transport is not None and transport.get_write_buffer_size() > 0


def _cut(connection: Connection) -> None:
    """What has not left yet never will: a backend that takes nothing would hold the connection for it."""
    if _is_writing(connection) and connection.transport is not None:
        connection.transport.abort()
    connection.close()


def _has_begun(failure: aiohttp.ClientError) -> bool:
    """Had a part of a head come? aiohttp then hands over what of it can be read."""
    head = getattr(failure, "message", None)
    return head is not None and not isinstance(head, str)


@lru_cache(maxsize=64)
def _until_connected(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=seconds)


USED_BEFORE: ContextVar[bool] = ContextVar("used_before")
"""Was the connection of this task's request used before?"""


class _Connector(aiohttp.TCPConnector):
    async def _create_connection(self, *args: Any, **options: Any) -> Any:
        """What connectors have to provide: asked for whenever none of the kept connections will do."""
        USED_BEFORE.set(False)
        return await super()._create_connection(*args, **options)
