"""The body of a backend's answer: kept until it is read, or handed over in the very callback that receives it.

Between the arrival of a byte and a reading task stand a future and a turn of the event loop; for a stream of single
chunks that is a quarter of all its cost. For a while, therefore, somebody may take what comes at once. An end, a
failure, or a taker that wants no more ends that, and the rest is read.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from proxy.shell.http.pace import PIECE_BYTES
from proxy.shell.http.transport import Take

FULL_BYTES = 128 * 1024
"""When so much was not read, the backend waits (F67)."""


class Flow(Protocol):
    def hold(self) -> None:
        """Reads nothing more from the backend."""

    def go_on(self) -> None:
        """Reads again."""


class AnswerBody:
    def __init__(self, flow: Flow) -> None:
        self.total_bytes = 0
        """The bytes that have come."""
        self._flow = flow
        self._held = False
        """Does the backend wait?"""
        self._kept = bytearray()
        """What has come, and was not read."""
        self._over = False
        self._failure: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        """Of whoever reads, or has what comes handed over: there is one of them at a time."""
        self._take: Take | None = None
        self._whole = False
        self._when_whole: Callable[[], None] | None = None

    # ── from the connection ──

    def feed(self, data: bytes) -> None:
        self.total_bytes += len(data)
        if self._take is not None:
            self._hand_over(self._take, data)
        elif not self._over:  # else nobody reads it any more
            self._keep(data)

    def _hand_over(self, take: Take, data: bytes) -> None:
        try:
            if not take(data):
                self._wake()
        except BaseException as failure:
            self._wake(failure)

    def _keep(self, data: bytes) -> None:
        self._kept += data
        if not self._held and len(self._kept) > FULL_BYTES:
            self._held = True
            self._flow.hold()
        self._wake()

    def end(self) -> None:
        """All has come. What was not read stays here, and the connection is free for others."""
        self._over = self._whole = True
        self._let_go()
        self._wake()
        call, self._when_whole = self._when_whole, None
        if call is not None:
            call()

    def fail(self, failure: Exception) -> None:
        """Nothing more is to be waited for: whoever reads gets the failure after the last bytes."""
        if not self._over:
            self._over, self._failure = True, failure
            self._let_go()
            self._wake()

    def _let_go(self) -> None:
        if self._held:
            self._held = False
            self._flow.go_on()

    def _wake(self, failure: BaseException | None = None) -> None:
        """Goes on with the one who waits, and hands nothing over any more."""
        self._take = None
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if failure is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(failure)

    # ── to whoever reads ──

    def when_whole(self, call: Callable[[], None]) -> None:
        """Calls it as soon as all has come, be it read or not."""
        if self._whole:
            call()
        else:
            self._when_whole = call

    async def read(self, most: int) -> bytes:
        """Returns what has come since the last read, b"" at the end. A failure is raised after the last bytes."""
        while not self._kept:
            if self._failure is not None:
                raise self._failure
            if self._over:
                return b""
            await self._wait()
        return self._next(most)

    async def push_to(self, take: Take) -> None:
        """Hands over what comes, until `take` wants no more, or nothing more is to come. Raises what it raises."""
        while self._kept:
            if not take(self._next(PIECE_BYTES)):
                return
            if self._kept:
                await asyncio.sleep(0)
        if not self._over:
            self._take = take
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._take = self._waiter = None

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _next(self, most: int) -> bytes:
        if len(self._kept) <= most:
            data, self._kept = bytes(self._kept), bytearray()  # one that was emptied would keep its room
        else:
            data = bytes(self._kept[:most])
            del self._kept[:most]
        if len(self._kept) <= FULL_BYTES // 2:
            self._let_go()
        return data
