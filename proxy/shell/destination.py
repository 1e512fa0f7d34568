"""Where the answer to a request goes, as the engine sees it.

An HTTP response, the messages of a WebSocket, and the log of work in the background are such destinations
(`http.stream`, `websocket.stream`, `runs.log_channel`). Nothing here demands that somebody is connected.
"""

from collections.abc import Callable
from typing import Any, Protocol

from proxy.core.surfaces.framing import Framing


class Destination(Protocol):
    """One JSON body, or a stream of events.

    What is emitted is collected, and leaves with the next `push`, `flush` or `finish`; the first of these opens the
    stream.
    """

    request_id: str
    headers: dict[str, str]
    """Headers besides the usual ones, if they are known when the answer begins."""
    likely: dict[str, str]
    """Headers that are not certain before the reply begins: a stream that opens earlier leaves them out."""
    bytes_out: int
    emit: Callable[[bytes], None]

    @property
    def framing(self) -> Framing:
        """How an event becomes bytes here."""

    @property
    def opened(self) -> bool:
        """Has the first byte left? Until then an error may be raised instead of being told in the stream."""

    @property
    def flows(self) -> bool:
        """May `push` be used: has the stream opened, and does its client keep up?"""

    def start_timers(self, event: Callable[[], None] | None = None, every: float | None = None) -> None:
        """Starts the timers: the stream opens when patience ends, and silence is filled with comments. A client that
        ignores comments gets an `event` every `every` seconds."""

    async def answer(self, body: dict[str, Any]) -> None:
        """Sends the whole answer at once."""

    def push(self) -> bool:
        """Sends what was emitted without waiting. Returns False if `flush` should wait for the client."""

    async def flush(self) -> None:
        """Sends what was emitted, and waits while the client is slow."""

    async def finish(self, *, broken: bool = False) -> None:
        """Sends the rest, and ends the stream. `broken`: its end must look like a failure."""

    def stop(self) -> None:
        """Stops the timers: from here on nothing is sent that the engine did not ask for."""

    def abort(self) -> None:
        """Cuts the connection, because a visible break is better than an end that looks clean."""
