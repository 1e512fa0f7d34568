"""Signs of life: what the client of a stream sees while the model says nothing.

Each request has one timer for two tasks: it opens the stream when patience ends, so that no program between gives the
request up, and it fills every longer silence in it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from proxy.shell.ops.tasks import Tasks


@dataclass(slots=True, frozen=True)
class StreamTiming:
    patience: float
    """Seconds after which a stream opens although the model has said nothing."""
    heartbeat: float
    """Seconds of silence after which a sign of life is sent."""


class Beating(Protocol):
    """A stream that has a heartbeat."""

    opened: bool
    likely: dict[str, str]

    def comment(self) -> None:
        """Emits a comment, which clients ignore."""

    async def flush(self) -> None: ...


class Heartbeat:
    """The timer of one stream. It refers to the stream only while it runs: a circle of two would stay in memory until
    the garbage collector runs."""

    __slots__ = ("_event", "_pause", "_stream", "_tasks", "_timer", "_timing", "busy", "last_write", "now")

    def __init__(self, timing: StreamTiming, tasks: Tasks) -> None:
        self.busy = False
        """A write is under way, has failed, or was the last. No heartbeat may come between."""
        self.now = monotonic
        self.last_write = 0.0
        self._timing = timing
        self._tasks = tasks
        self._stream: Beating | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pause = timing.heartbeat
        self._event: Callable[[], None] | None = None

    def start(self, stream: Beating, event: Callable[[], None] | None, every: float | None) -> None:
        """Starts the timer: the stream opens after `patience`, and silence is filled with comments. A client that
        ignores comments gets an `event` every `every` seconds."""
        if event is not None and every is not None:
            self._event = event
            self._pause = min(every, self._pause)
        self._stream = stream
        self._timer = asyncio.get_running_loop().call_later(self._timing.patience, self.beat)

    def stop(self) -> None:
        self.busy = True
        self._stream = self._event = None
        if self._timer is not None:
            self._timer.cancel()

    def begin_write(self) -> None:
        self.busy = True
        self.last_write = self.now()

    def end_write(self) -> None:
        self.busy = False

    def beat(self) -> None:
        stream = self._stream
        if stream is None:
            return
        silence = self.now() - self.last_write
        pause = self._pause
        if stream.opened and silence < pause:
            pause -= silence
        elif not self.busy:
            if stream.opened:
                (self._event or stream.comment)()
            self._tasks.start(self._send(stream), "heartbeat")
        self._timer = asyncio.get_running_loop().call_later(pause, self.beat)

    async def _send(self, stream: Beating) -> None:
        if self.busy:
            return
        if not stream.opened:
            stream.likely.clear()
        try:
            await stream.flush()
        except ConnectionError:
            self.stop()  # the client has left, and its request is being cancelled
