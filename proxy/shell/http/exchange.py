"""One request under way at the backend: the bytes of its answer as they come, and limits on the waits for them.

Four waits are limited (E7): *connect*; *first byte*, until the reply shows something meaningful; *idle*, between
two reads; *total*. A chunk does not even cost a reading of the clock: an exchange checks whether any chunk came only
when one of the limits might have been reached, so it notices at the second check that a backend has fallen silent.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Final

import aiohttp

from proxy.core.errors import BackendFault, Fault, Garbled, Silent
from proxy.shell.http.client import Answer
from proxy.shell.http.content_coding import Decompressor, decompressor
from proxy.shell.http.deadlines import NEVER, Deadlines
from proxy.shell.http.failures import NOT_BEGUN, fault_of
from proxy.shell.http.pace import PIECE_BYTES
from proxy.shell.http.transport import Take, Timeouts

FIRST_BYTES = 4096
"""Reads are this short until a reply begins, so that its first word need not wait for the translation of the rest."""

FINISHING_SECONDS = 3.0
"""The wait for usage after the finish of the model: no client should wait long for a number (F43)."""

READ: Final[Mapping[str, str]] = {}

NOT_ENDED = "did not finish its answer in time"
SILENT = "stopped answering"
ENOUGH = "has said enough"


class _Enough(Exception):
    """The wait for usage is over, which is no fault."""


class HttpExchange:
    """An exchange over the network, see `transport`."""

    def __init__(
        self,
        answer: Answer,
        timeouts: Timeouts,
        started: float,
        deadlines: Deadlines,
        ended: Callable[[Answer, bool], None],
    ) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._broken: Fault | None = None
        self._decompressor: Decompressor | None = None
        try:
            self._decompressor = decompressor(answer.headers)
        except Garbled as unreadable:  # its status is not
            self._broken = unreadable
        self._pieces: Iterator[bytes] = iter(())
        self._answer = answer
        self._ended: Callable[[Answer, bool], None] | None = ended
        self._idle = timeouts.idle
        self._waiting_since: float | None = None
        """Only a read waits for the backend: while a slow client is written to, nobody is late."""
        self._bytes_seen = 0
        """The bytes that had come at the last check. Chunks that are pushed are not timed one by one."""
        self._begin_by = started + timeouts.first_byte
        self._end_by = started + timeouts.total
        self._enough_by = NEVER
        self._deadlines = deadlines
        deadlines.add(self, started + min(timeouts.first_byte, timeouts.idle, timeouts.total))

    def read(self) -> Coroutine[Any, Any, bytes]:
        """Returns what has come since the last read, b"" at the end. A failure is raised after the last bytes."""
        return self._received() if self._decompressor is None else self._unpacked(self._decompressor)

    async def _unpacked(self, decompressor: Decompressor) -> bytes:
        while (piece := next(self._pieces, None)) is None:
            data = await self._received()
            if not data:
                return b""
            self._pieces = decompressor.pieces(data)
        await asyncio.sleep(0)  # many pieces may come of one packet, and others wait
        return piece

    async def _received(self) -> bytes:
        if self._broken is not None:
            raise self._broken
        self._waiting_since = self._deadlines.now()
        most = PIECE_BYTES if self._begin_by == NEVER else FIRST_BYTES
        try:
            data = await self._answer.body.read(most)
            if len(data) == most:
                await asyncio.sleep(0)  # there is more, and whoever is told of it has no end to wait for
            return data
        except _Enough:
            return b""
        except (aiohttp.ClientError, OSError) as failure:
            raise fault_of(failure, answering=True) from failure
        finally:
            self._waiting_since = None

    async def push_to(self, take: Take) -> None:
        """Hands over what comes, as soon as it comes, as long as `take` wants more and all goes well. Ends, failures
        and compressed answers are left to `read`."""
        if self._broken is not None or self._decompressor is not None:
            return
        self._waiting_since = self._deadlines.now()
        try:
            await self._answer.body.push_to(take)
        finally:
            self._waiting_since = None

    async def read_at_most(self, limit: int) -> bytes:
        """Returns the beginning of the body, without what is beyond the limit, broken or late."""
        body = bytearray()
        try:
            while len(body) < limit and (data := await self.read()):
                body += data
        except BackendFault:
            pass
        return bytes(body[:limit])

    def begun(self) -> None:
        """Ends the wait for the first byte: the reply shows something meaningful, which a comment is not (F30). The
        head has been read by then, and the rest may take long."""
        self._begin_by = NEVER
        self.headers = self._answer.headers = READ

    def finishing(self, so_it_seems: bool) -> None:
        """Tells whether only usage may follow. Then `read` ends by itself soon, unless something else comes."""
        if so_it_seems != (self._enough_by < NEVER):
            self._enough_by = self._deadlines.now() + FINISHING_SECONDS if so_it_seems else NEVER
            self._deadlines.add(self, self._enough_by)

    def release(self) -> None:
        """Ends the exchange after a complete reply. If the body ends soon, the connection is pooled, else closed."""
        self._end(linger=True)

    def close(self) -> None:
        """Ends the exchange, unless it was released. A connection with an unread rest is never pooled (E4)."""
        self._end(linger=False)

    def _end(self, linger: bool) -> None:
        if self._ended is not None:
            self._deadlines.remove(self)
            self._ended(self._answer, linger)
            self._ended = None

    def check(self, now: float) -> float:
        heard = self._answer.body.total_bytes
        if heard != self._bytes_seen and self._waiting_since is not None:  # at some time since the last look
            self._waiting_since = now
        self._bytes_seen = heard
        waiting_since = now if self._waiting_since is None else self._waiting_since
        due, complaint = min(
            (self._begin_by, NOT_BEGUN),
            (self._end_by, NOT_ENDED),
            (self._enough_by, ENOUGH),
            (waiting_since + self._idle, SILENT),
        )
        if due > now:
            return due
        self._answer.body.fail(_Enough() if complaint is ENOUGH else Silent(f"The backend {complaint}."))
        return NEVER
