"""One connection to a backend: requests go out, answers come in, and nothing else.

llhttp parses the answers, by `httptools`. aiohttp has the same parser, but gives each body to a reader of its own, and
calls that three times for each chunk of HTTP: for a reply that comes chunk by chunk this was a quarter of all work.

aiohttp's connectors make the connections; the methods without a docstring are those that they ask for.
"""

import asyncio
from collections.abc import Mapping

import aiohttp
from aiohttp.http import HttpProcessingError
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from multidict import CIMultiDict

from proxy.shell.http.answer_body import AnswerBody
from proxy.shell.http.deadlines import NEVER
from proxy.shell.http.pace import EMPTY_VIEW, Paced

PIECE_BYTES = 64 * 1024
"""A larger request is sent in pieces, as fast as the backend takes them. To encrypt it at once would hold up all
others (F79), and TLS would not tell how much of it has left."""

INTERIM = range(100, 200)
MAX_INTERIM = 100
"""Heads before the one of the answer. One is usual, a few tell of progress; a backend that sends nothing else keeps its
client busy and itself silent."""
SWITCHED = 101
"""The interim status after which no other head follows. The proxy never asks for it."""

MAX_FIELDS, MAX_FIELD_BYTES = 128, 8190
"""Of the head of an answer: as many headers, of this size each, as aiohttp takes from clients (S28)."""

MAX_FRAMING_BYTES = 64 * 1024
"""Bytes in a row that bring nothing of a head or a body: a header without an end, trailers, extensions of chunks."""


BegunAnswer = tuple[int, Mapping[str, str], AnswerBody]
"""Its status, its headers, and its body as it comes."""


class _Unasked(Exception):
    """An answer begins to which there is no request."""


class Wire(Paced):
    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(loop)
        self.closed: asyncio.Future[None] = loop.create_future()
        self._make_future = loop.create_future
        self.used = False
        """Has the connection brought an answer before?"""
        self.heard = False
        """Has anything come since the request was sent?"""
        self.until = NEVER
        """The wait for the head of an answer ends then."""
        self._asked = False
        """Is an answer to come, or coming?"""
        self._head: asyncio.Future[BegunAnswer] | None = None
        """Of the answer that is to come."""
        self._body: AnswerBody | None = None
        """Of the answer that is coming."""
        self._headers: CIMultiDict[str] = CIMultiDict()
        """Those of a head that have come."""
        self._interim = 0
        self._framing_bytes = 0
        self._ends_with_connection = False
        self._whole = False
        """Was the end of the answer read?"""
        self._keeps = True
        """May there be another request?"""
        self._arrived: list[bytes] = []
        self._rest = EMPTY_VIEW
        """The rest of a request, for which the transport had no room yet."""
        self.on_body = self._arrived.append
        self._http = HttpResponseParser(self)
        self._http.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    # ── a request ──

    def ask(self, head: bytes, body: bytes) -> asyncio.Future[BegunAnswer]:
        """Sends a request, and returns the head of the answer to come. Its body comes by itself."""
        if not self.is_connected():
            raise aiohttp.ServerDisconnectedError
        self._asked = True
        to_come = self._head = self._make_future()
        self.heard = False
        self._interim = self._framing_bytes = 0
        self._send(head, body)
        return to_come

    def check(self, now: float) -> float:
        if now < self.until:
            return self.until
        self._fail(TimeoutError())
        return NEVER

    def _send(self, head: bytes, body: bytes) -> None:
        assert self.transport is not None
        if not body:  # since Python 3.12, asyncio's own loop is never done with an empty piece
            self.transport.write(head)
        elif len(body) <= PIECE_BYTES:
            self.transport.writelines((head, body))
        else:
            view = memoryview(body)  # of which no piece is a copy
            self.transport.writelines((head, view[:PIECE_BYTES]))
            self._rest = view[PIECE_BYTES:]
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

    # ── what comes ──

    def take(self, data: bytes) -> None:
        self.heard = True
        failure = None
        try:
            self._http.feed_data(data)
        except HttpParserUpgrade:
            self._keeps = False
        except HttpParserError as error:
            failure = error
        body, arrived = self._body, self._arrived
        if body is not None and arrived:
            self._framing_bytes = 0
            body.feed(arrived[0] if len(arrived) == 1 else b"".join(arrived))
            arrived.clear()
        else:
            self._framing_bytes += len(data)
        if failure is not None or self._framing_bytes > MAX_FRAMING_BYTES:
            self._break_off(failure)
        if self._whole:
            self._end()

    def on_message_begin(self) -> None:
        if not self._asked or self._whole:
            raise _Unasked

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._body is not None:  # a trailer
            return
        if len(self._headers) == MAX_FIELDS or len(name) + len(value) > MAX_FIELD_BYTES:
            raise HttpProcessingError(message="the head is too large")
        # whatever bytes they hold, they are read somehow
        self._headers.add(name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape"))

    def on_headers_complete(self) -> None:
        status = self._http.get_status_code()
        headers, self._headers = self._headers, CIMultiDict()
        self._framing_bytes = 0
        if status in INTERIM and status != SWITCHED:
            self._interim += 1
            if self._interim > MAX_INTERIM:
                raise HttpProcessingError(message="too many interim answers")
            return
        framed = "Content-Length" in headers or "chunked" in headers.get("Transfer-Encoding", "").lower()
        self._ends_with_connection = not framed
        body = self._body = AnswerBody(self)
        self.used = True
        waiting, self._head = self._head, None
        if waiting is not None and not waiting.done():
            waiting.set_result((status, headers, body))

    def on_message_complete(self) -> None:
        if self._body is not None:
            self._whole = True
            self._keeps = self._keeps and self._http.should_keep_alive()

    def _end(self) -> None:
        """The answer has come, and there may be another request."""
        body, self._body, self._asked, self._whole = self._body, None, False, False
        assert body is not None
        body.end()

    def _break_off(self, failure: Exception | None) -> None:
        """What comes cannot be read, or was not asked for."""
        self._keeps = False
        if not self._whole:
            self._fail(HttpProcessingError(message=str(failure or "no answer is so long")))
        if self.transport is not None:
            self.transport.abort()

    def _fail(self, failure: Exception) -> None:
        if self._body is not None:
            self._body.fail(aiohttp.ClientPayloadError(str(failure)))
        elif self._head is not None and not self._head.done():
            self._head.set_exception(failure)

    # ── as fast as it is read ──

    def hold(self) -> None:
        self._pause_reading_for_buffer()

    def go_on(self) -> None:
        self._resume_reading_for_buffer()

    # ── the connection ──

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._keeps = False
        if exc is None and self._body is not None and self._ends_with_connection:
            self._end()
        else:
            self._fail(
                aiohttp.ClientOSError(*exc.args)
                if isinstance(exc, OSError)
                else aiohttp.ServerDisconnectedError()
            )
        if not self.closed.done():
            self.closed.set_result(None)

    def is_connected(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    @property
    def should_close(self) -> bool:
        return not self._keeps or self._asked

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()
            self.transport = None

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()
            self.transport = None
