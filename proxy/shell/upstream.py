"""The way to the backend: its connections, and how many may be under way.

Nothing of the environment leaks into a request: no cookies, no proxies, no netrc; and no redirect is followed, because
the key would travel along (S08-S10).
"""

import asyncio
import io
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import aiohttp

from proxy.core.errors import Garbled
from proxy.core.outbound.dialects import Call
from proxy.shell.exchange import Exchange, Limits
from proxy.shell.failures import exhausted, fault_of
from proxy.shell.packing import unpacker

READ_BYTES = 64 * 1024
"""aiohttp's own 256 KiB is no faster, and would hold four times as much for a client that reads slowly (F67)."""

MAX_EXCHANGES = 1024
"""Envoy's limit per upstream. Beyond it a request is refused at once, never queued without bound (F07)."""

LINGER_SECONDS = 1.0
"""How long a body that was read to its last event may take to end, so that its connection can be pooled."""

RACE_SECONDS = 1.0
"""A kept connection that the backend had closed already, or was just closing, shows it within a round trip. One that is
closed later than this was closed at work (F05)."""

LARGE_BODY_BYTES = 1024 * 1024
"""aiohttp writes bytes in one piece; a larger request is given as a file, which goes out piece by piece."""

MAX_PAGE_BYTES = 8 * 1024 * 1024
"""The longest model list known, with prices and descriptions of several hundred models, is a tenth of this."""


@dataclass(slots=True, frozen=True)
class Page:
    """The answer to a small question, read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Upstream:
    def __init__(self, version: str) -> None:
        self._headers = {"Accept-Encoding": "identity", "User-Agent": f"responses-proxy/{version}"}
        self._under_way = 0
        self._lingering: set[aiohttp.ClientResponse] = set()
        self._pooled = self._session(force_close=False)
        self._fresh = self._session(force_close=True)

    def _session(self, *, force_close: bool) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=_Connector(limit=0, force_close=force_close),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            headers=self._headers,
            read_bufsize=READ_BYTES,
            auto_decompress=False,
        )

    async def send(self, call: Call, limits: Limits) -> Exchange:
        """POST, and wait for the head of the answer, whatever its status. Whoever gets it closes it."""
        if self._under_way >= MAX_EXCHANGES:
            raise exhausted("Too many requests are under way: try again later.")
        started = asyncio.get_running_loop().time()
        self._under_way += 1
        try:
            response = await self._post(call, limits)
        except BaseException:
            self._under_way -= 1
            raise
        return Exchange(response, limits, started, self._ended)

    async def _post(self, call: Call, limits: Limits) -> aiohttp.ClientResponse:
        USED_BEFORE.set(True)
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            async with asyncio.timeout(limits.first_byte):
                try:
                    return await self._attempt(self._pooled, call, limits)
                except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as failure:
                    # The backend closed a kept connection just when it was taken from the pool: not one byte of
                    # an answer came, so nothing is done twice (F06).
                    late = clock() - started > RACE_SECONDS
                    if late or not USED_BEFORE.get() or _has_begun(failure):
                        raise
                    return await self._attempt(self._fresh, call, limits)
        except (aiohttp.ClientError, OSError) as failure:
            raise fault_of(failure, answering=False) from failure

    async def _attempt(
        self, session: aiohttp.ClientSession, call: Call, limits: Limits
    ) -> aiohttp.ClientResponse:
        large = len(call.body) > LARGE_BODY_BYTES
        return await session.post(
            call.url,
            data=io.BytesIO(call.body) if large else call.body,
            headers=call.headers,
            allow_redirects=False,
            timeout=_until_connected(limits.connect),
        )

    def _ended(self, response: aiohttp.ClientResponse, linger: bool) -> None:
        self._under_way -= 1
        if linger and not response.closed:
            self._lingering.add(response)
            asyncio.get_running_loop().call_later(LINGER_SECONDS, self._linger_no_more, response)
        else:
            response.close()

    def _linger_no_more(self, response: aiohttp.ClientResponse) -> None:
        self._lingering.discard(response)
        response.close()

    async def fetch(self, url: str, headers: Mapping[str, str], seconds: float) -> Page:
        """GET something small, in one piece. Raises faults."""
        limits = aiohttp.ClientTimeout(total=seconds)
        try:
            async with self._pooled.get(
                url, headers=headers, allow_redirects=False, timeout=limits
            ) as response:
                body, unpack = bytearray(), unpacker(response.headers)
                async for data in response.content.iter_any():
                    for piece in unpack.pieces(data) if unpack else (data,):
                        body += piece
                        if len(body) > MAX_PAGE_BYTES:
                            response.close()
                            raise Garbled("The backend's page does not end.")
                return Page(response.status, response.headers, bytes(body))
        except (aiohttp.ClientError, OSError) as failure:
            raise fault_of(failure, answering=False) from failure

    async def close(self) -> None:
        for response in list(self._lingering):
            self._linger_no_more(response)
        await self._pooled.close()
        await self._fresh.close()


@lru_cache(maxsize=64)
def _until_connected(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=seconds)


USED_BEFORE: ContextVar[bool] = ContextVar("used_before")
"""Was the connection of this task's request used before? aiohttp's tracing tells it too, for a tenth of the
cost of a short request."""


class _Connector(aiohttp.TCPConnector):
    async def _create_connection(self, *args: Any, **options: Any) -> Any:
        """What connectors have to provide: asked for whenever none of the kept connections will do."""
        USED_BEFORE.set(False)
        return await super()._create_connection(*args, **options)


def _has_begun(failure: aiohttp.ClientError) -> bool:
    """Had a part of a head come? aiohttp then hands over what of it can be read."""
    head = getattr(failure, "message", None)
    return head is not None and not isinstance(head, str)
