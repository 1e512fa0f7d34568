"""The way to backends over the network: requests to them, and small questions."""

import asyncio
from collections.abc import Mapping
from contextlib import closing

from proxy.core.backends.post import Post
from proxy.core.errors import Garbled, OwnWords
from proxy.shell.http.client import Answer, HttpClient
from proxy.shell.http.content_coding import decompressor
from proxy.shell.http.deadlines import Deadlines
from proxy.shell.http.exchange import HttpExchange
from proxy.shell.http.failures import FAILURES, fault_of
from proxy.shell.http.pace import PIECE_BYTES
from proxy.shell.http.transport import Page, Timeouts

LINGER_SECONDS = 1.0
"""The time that a body has to end after its last event was read. Then its connection is pooled."""

MAX_PAGE_BYTES = 8 * 1024 * 1024
"""The longest model list known, with prices and descriptions of several hundred models, is a tenth of this."""


class Upstream:
    def __init__(self, version: str) -> None:
        self._deadlines = Deadlines()
        self._http = HttpClient(f"responses-proxy/{version}", self._deadlines)
        self._lingering: set[Answer] = set()

    async def send(self, post: Post, timeouts: Timeouts) -> HttpExchange:
        """Sends a POST, and waits for the head of the answer, whatever its status. The caller closes the exchange."""
        started = self._deadlines.now()
        try:
            answer = await self._http.ask(
                "POST",
                post.url,
                post.headers,
                post.body,
                connect=timeouts.connect,
                until=started + timeouts.first_byte,
            )
        except FAILURES as failure:
            raise fault_of(failure, answering=False) from failure
        return HttpExchange(answer, timeouts, started, self._deadlines, self._ended)

    def _ended(self, answer: Answer, linger: bool) -> None:
        if linger and answer.connection is not None:
            self._lingering.add(answer)
            asyncio.get_running_loop().call_later(LINGER_SECONDS, self._linger_no_more, answer)
        else:
            answer.close()

    def _linger_no_more(self, answer: Answer) -> None:
        self._lingering.discard(answer)
        answer.close()

    async def fetch(self, url: str, headers: Mapping[str, str], seconds: float) -> Page:
        """Gets something small, in one piece. Raises faults."""
        until = self._deadlines.now() + seconds
        try:
            async with asyncio.timeout_at(until):
                answer = await self._http.ask("GET", url, headers, connect=seconds, until=until)
                with closing(answer):
                    return Page(answer.status, answer.headers, await _body(answer))
        except FAILURES as failure:
            raise fault_of(failure, answering=False) from failure

    async def close(self) -> None:
        for answer in list(self._lingering):
            self._linger_no_more(answer)
        await self._http.close()
        self._deadlines.close()


async def _body(answer: Answer) -> bytes:
    body, unpack = bytearray(), decompressor(answer.headers)
    while data := await answer.body.read(PIECE_BYTES):
        for piece in unpack.pieces(data) if unpack else (data,):
            body += piece
            if len(body) > MAX_PAGE_BYTES:
                raise Garbled(OwnWords("The backend's page does not end."))
    return bytes(body)
