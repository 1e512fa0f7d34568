"""What the backend sends, handed over in the very callback that receives it.

Between a byte's arrival and a reading task stand a future and a turn of the event loop; for a stream of single chunks
that is a quarter of all its cost. So for a while another protocol stands before aiohttp's own: it lets that do all its
work, then empties what it has read. Only asyncio's public interface is used, and whatever is out of the ordinary, an
end, a failure, a reader who wants no more, puts everything back and is left to whoever reads in the plain way.
"""

import asyncio
from collections.abc import Callable

from proxy.shell.http_client import Answer

Take = Callable[[bytes], bool]
"""Is given what came. Says whether it wants more."""

FILLS_NO_READER = 1 / 32
"""Of a reader's limit. aiohttp stops reading at twice as many bytes, or at a sixteenth of it in pieces: whoever held
less was never stopped, and has nothing more to give."""


class Tap(asyncio.Protocol):
    """On one connection, for one reply."""

    def __init__(self, answer: Answer, take: Take) -> None:
        self._content = answer.content
        connection = answer.connection
        self._transport = connection.transport if connection is not None else None
        self._inner: asyncio.Protocol | None = connection.protocol if connection is not None else None
        self._take = take
        self._small = self._content.get_read_buffer_limits()[0] * FILLS_NO_READER
        self._at_end = False
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Until the taker wants no more, or something else than data is to be read."""
        if self._inner is None or self._transport is None:
            return  # the whole reply has come already
        self._transport.set_protocol(self)
        try:
            self._content.on_eof(self._note_end)
            self.pour()
            await self._over
        finally:
            self._transport.set_protocol(self._inner)

    def pour(self) -> None:
        """Hands over what is there. Emptying a full reader may fill it again in the same moment."""
        if self._over.done():
            return
        content = self._content
        try:
            while data := content.read_nowait():
                if not self._take(data):
                    self._stop()
                    return
                if len(data) < self._small:
                    break
        except BaseException as failure:
            if failure is content.exception():  # the reader's own, which it will tell
                self._stop()
            else:
                self._over.set_exception(failure)
        if self._at_end and content.at_eof():
            self._stop()

    def _note_end(self) -> None:
        """Before what came last was handed over."""
        self._at_end = True

    def _stop(self) -> None:
        if not self._over.done():
            self._over.set_result(None)

    # ── what asyncio tells ──

    def data_received(self, data: bytes) -> None:
        assert self._inner is not None
        self._inner.data_received(data)
        self.pour()

    def eof_received(self) -> bool | None:
        assert self._inner is not None
        keep_open = self._inner.eof_received()
        self.pour()
        return keep_open

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._inner is not None
        self._inner.connection_lost(exc)
        self._stop()

    def pause_writing(self) -> None:
        assert self._inner is not None
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        assert self._inner is not None
        self._inner.resume_writing()
