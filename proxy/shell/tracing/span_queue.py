"""Spans that have ended, until they are sent: never more than so many, and no request ever waits for it.

While the collector is away, what waits stays where it is, and is tried again ever more seldom. What does not fit is
lost and counted. The log says once that the collector is away.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, Protocol

from proxy.shell.tracing.spans import Span

MOST_WAITING: Final = 4096
AT_ONCE: Final = 256
GATHER_SECONDS: Final = 1.0
"""Few large messages cost less than many small ones."""
PAUSE_SECONDS: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
"""After the first failure, and so on."""


class CollectorAway(Exception):
    """It may take the same spans later. Says why it has not."""


class CollectorRefused(Exception):
    """It will never take these spans. Says why."""


class QueueWatcher(Protocol):
    def sent(self, spans: int) -> None: ...

    def lost(self, spans: int) -> None: ...

    def went_down(self, reason: str) -> None:
        """Once for each outage."""

    def came_back(self) -> None: ...


class SpanQueue:
    def __init__(
        self,
        send: Callable[[Sequence[Span]], Awaitable[None]],
        watcher: QueueWatcher,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`send` raises CollectorAway or CollectorRefused."""
        self._send = send
        self._watcher = watcher
        self._sleep = sleep
        self._waiting: deque[Span] = deque()
        self._news = asyncio.Event()
        self._failures = 0

    def put(self, spans: Sequence[Span]) -> None:
        """All of one request, or none."""
        if len(self._waiting) + len(spans) > MOST_WAITING:
            self._watcher.lost(len(spans))
            return
        self._waiting.extend(spans)
        self._news.set()

    async def run(self) -> None:
        """For ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._sleep(GATHER_SECONDS)
            while self._waiting:
                if not await self._send_some():
                    await self._sleep(PAUSE_SECONDS[min(self._failures, len(PAUSE_SECONDS)) - 1])

    async def _send_some(self) -> bool:
        """Did the collector have its say?"""
        some = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
        try:
            await self._send(some)
        except CollectorAway as failure:
            self._failed(str(failure))
            self._waiting.extendleft(reversed(some))
            return False
        except CollectorRefused as failure:
            self._failed(str(failure))
            self._watcher.lost(len(some))
            return True
        except BaseException:
            self._waiting.extendleft(reversed(some))  # it is cancelled, and may be the last attempt's
            raise
        if self._failures:
            self._failures = 0
            self._watcher.came_back()
        self._watcher.sent(len(some))
        return True

    def _failed(self, reason: str) -> None:
        self._failures += 1
        if self._failures == 1:
            self._watcher.went_down(reason)

    async def flush(self, seconds: float) -> None:
        """Sends what waits, as long as all goes well and there is time. What is left is lost."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._waiting and await self._send_some():
                    pass
        if self._waiting:
            self._watcher.lost(len(self._waiting))
            self._waiting.clear()
