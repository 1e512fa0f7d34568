"""The way back for one turn on a WebSocket: a message for each event, on a socket that others have used before."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.surfaces.framing import SOCKET
from proxy.core.surfaces.responses.socket_messages import on_lane
from proxy.shell.http.heartbeat import Heartbeat, StreamTiming
from proxy.shell.ops.tasks import Tasks


class SocketStream:
    framing = SOCKET
    flows = False
    """Messages go through the socket's own writer, which waits."""

    def __init__(
        self,
        send: Callable[[bytes], Awaitable[None]],
        cut: Callable[[], None],
        request_id: str,
        timing: StreamTiming,
        tasks: Tasks,
    ) -> None:
        """`send`: sends one message. `cut`: cuts the connection."""
        self.request_id = request_id
        self.opened = False
        self.bytes_out = 0
        self.headers: dict[str, str] = {}
        self.likely: dict[str, str] = {}
        """A message has no headers, so a client sees none of both."""
        self.lane: str | None = None
        self._send = send
        self._cut = cut
        self._heartbeat = Heartbeat(timing, tasks)
        self._messages: list[bytes] = []
        self.emit: Callable[[bytes], None] = self._messages.append
        self._in_order = asyncio.Lock()
        """A heartbeat may be sending too: while one message waits, the next one would overtake it."""

    def start_timers(self, event: Callable[[], None] | None = None, every: float | None = None) -> None:
        """See `Heartbeat.start`."""
        self._heartbeat.start(self, event, every)

    async def answer(self, body: dict[str, Any]) -> None:
        self.emit(jsontext.dumps(body))
        await self.finish()

    def push(self) -> bool:
        """Nothing can be sent without waiting."""
        return False

    async def flush(self) -> None:
        await self._send_all()
        self._heartbeat.end_write()

    async def finish(self, *, broken: bool = False) -> None:
        await self._send_all()

    async def _send_all(self) -> None:
        """Sends messages one by one: if the turn is interrupted here, the rest is sent before its ending."""
        self.opened = True
        self._heartbeat.begin_write()
        async with self._in_order:
            while self._messages:
                message = on_lane(self._messages.pop(0), self.lane)
                self.bytes_out += len(message)
                await self._send(message)

    def stop(self) -> None:
        self._heartbeat.stop()

    def abort(self) -> None:
        self.stop()
        self._cut()

    def comment(self) -> None:
        """Does nothing, because pings fill the silence on a socket, also between turns."""
