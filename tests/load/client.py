"""A client that costs little: it keeps what comes, and when it came. What it means is asked when all is over."""

import asyncio
import re
import time
from bisect import bisect_left
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
STAMPED = re.compile(rb"(\d{6})([0-9a-f]{16})")
NANOSECONDS = 1e9


@dataclass(eq=False)
class Answer:
    asked: int
    """Times are nanoseconds of the clock that both ends read."""
    status: int = 0
    body: bytearray = field(default_factory=bytearray)
    whole: bool = False
    """Did it end as HTTP says that answers end?"""
    left: bool = False
    """Was it the client who went?"""
    ended: int = 0
    _arrivals: list[int] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def arrived(self, now: int) -> None:
        self._arrivals.append(now)
        self._sizes.append(len(self.body))

    @property
    def seconds(self) -> float:
        return (self.ended - self.asked) / NANOSECONDS

    def piece_times(self, pieces: int) -> list[tuple[int, int]]:
        """When each piece was sent, and when it was here. Later copies of the text are not looked at."""
        times: list[tuple[int, int]] = []
        for found in STAMPED.finditer(self.body):
            if int(found[1]) == len(times):
                times.append((int(found[2], 16), self._arrivals[bisect_left(self._sizes, found.end())]))
                if len(times) == pieces:
                    break
        return times


class Connection(asyncio.Protocol):
    """One connection, for one request after another."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._answer: Answer | None = None
        self.is_open = False

    @classmethod
    async def to(cls, url: str) -> "Connection":
        parts = urlsplit(url)
        _, connection = await asyncio.get_running_loop().create_connection(cls, parts.hostname, parts.port)
        return connection

    async def ask(self, request: bytes, leave_after: int | None = None) -> Answer:
        """Its answer, however it ends. `leave_after`: so many bytes of the body are enough."""
        self._answer = Answer(time.monotonic_ns())
        self._received = bytearray()
        self._leave_after = leave_after
        self._ended: asyncio.Future[Answer] = self._loop.create_future()
        self._transport.write(request)
        return await self._ended

    def close(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.is_open = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._end()

    def data_received(self, data: bytes) -> None:
        answer = self._answer
        if answer is None:
            self._transport.abort()  # nobody asked
            return
        self._received += data
        if not answer.status and not self._head(answer):
            return
        if self._chunked:
            self._unchunk(answer)
        else:
            answer.body += self._received
            self._received.clear()
            answer.whole = len(answer.body) >= self._length
        answer.arrived(time.monotonic_ns())
        if answer.whole:
            self._end()
        elif self._leave_after is not None and len(answer.body) >= self._leave_after:
            answer.left = True
            self.is_open = False
            self._transport.abort()

    def _head(self, answer: Answer) -> bool:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = bytes(self._received[:end])
        del self._received[: end + 4]
        answer.status = int(head[9:12])
        self._chunked = CHUNKED.search(head) is not None
        length = LENGTH.search(head)
        self._length = int(length[1]) if length else 0
        return True

    def _unchunk(self, answer: Answer) -> None:
        received, at = self._received, 0
        while (line := received.find(b"\r\n", at)) >= 0:
            size = int(received[at:line], 16)
            end = line + 2 + size
            if len(received) < end + 2:
                break
            answer.body += received[line + 2 : end]
            at = end + 2
            if size == 0:
                answer.whole = True
                break
        del received[:at]

    def _end(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not self._ended.done():
            answer.ended = time.monotonic_ns()
            self._ended.set_result(answer)
