"""Where the answer of a run goes: into its log, if it has one. Nobody is connected."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from proxy.core.surfaces.framing import LOG

OPENING: Final = 2
"""Events that tell of a response before a backend is asked: it is created, and queued."""


class LogChannel:
    framing = LOG
    opened = True
    """What goes wrong from here on is told in the log, and in the record."""
    flows = True

    def __init__(
        self,
        request_id: str,
        write: Callable[[Sequence[bytes]], None],
        end: Callable[[Sequence[bytes]], Awaitable[None]],
        abort: Callable[[], None],
    ) -> None:
        """`end`: gets the last events but the very last, which follows from the record."""
        self.request_id = request_id
        self.headers: dict[str, str] = {}
        self.likely: dict[str, str] = {}
        self.bytes_out = 0
        self._events: list[bytes] = []
        self.emit: Callable[[bytes], None] = self._events.append
        self._write = write
        self._end = end
        self.abort = abort
        self._holds = True
        """Is the response queued? Then the rest of what was emitted waits."""
        self._written = 0

    def start_timers(self, event: Callable[[], None] | None = None, every: float | None = None) -> None:
        """Nobody waits here who would have to be kept awake."""

    def release(self) -> None:
        """A backend is asked."""
        self._holds = False

    async def answer(self, body: dict[str, Any]) -> None:
        """The record is the answer."""

    def push(self) -> bool:
        most = OPENING - self._written if self._holds else len(self._events)
        events = self._events[:most]
        if events:
            del self._events[:most]
            self._written += len(events)
            self.bytes_out += sum(map(len, events))
            self._write(events)
        return True

    async def flush(self) -> None:
        self.push()

    def rest(self) -> None:
        """The reply has ended, whether or not a backend was asked."""
        self.release()
        self.push()

    async def finish(self, *, broken: bool = False) -> None:
        self.release()
        *events, _ = self._events
        self._events.clear()
        await self._end(events)

    def drop(self) -> None:
        """What nobody was told is not told any more."""
        self._events.clear()

    def stop(self) -> None:
        """There are no timers."""
