"""What the backend sends, handed over in the very callback that receives it.

Between a byte's arrival and a reading task stand a future and a turn of the event loop; for a stream of single chunks
that is a quarter of all its cost. So for a while somebody listens to the connection itself: once it has done all its
work, what it has read is emptied. Whatever is out of the ordinary, an end, a failure, a reader who wants no more, ends
that and is left to whoever reads in the plain way.
"""

import asyncio
from collections.abc import Callable

from proxy.shell.http_client import Answer, Wire
from proxy.shell.pace import PIECE_BYTES

Take = Callable[[bytes], bool]
"""Is given what came. Says whether it wants more."""

FILLS_NO_READER = 1 / 32
"""Of a reader's limit. aiohttp stops reading at twice as many bytes, or at a sixteenth of it in pieces: whoever held
less was never stopped, and has nothing more to give."""


class Tap:
    """On one connection, for one reply."""

    def __init__(self, answer: Answer, take: Take) -> None:
        self._content = answer.content
        wire = answer.connection.protocol if answer.connection is not None else None
        self._wire = wire if isinstance(wire, Wire) else None
        self._take = take
        self._small = self._content.get_read_buffer_limits()[0] * FILLS_NO_READER
        self._at_end = False
        self._emptying = False
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Until the taker wants no more, or something else than data is to be read."""
        wire = self._wire
        if wire is None:
            return  # the whole reply has come already
        try:
            self._content.on_eof(self._note_end)
            while self.pour():  # noqa: ASYNC110 - nobody is waited for
                await asyncio.sleep(0)
            wire.tap = self
            await self._over
        finally:
            if wire.tap is self:  # else the next reply on it has come to it before us
                wire.tap = None

    def pour(self) -> bool:
        """Hands over what is there, up to a piece of it. Whether there may be more: emptying a full reader may fill it
        again in the same moment."""
        if self._over.done():
            return False
        content, size = self._content, 0
        try:
            if data := content.read_nowait(PIECE_BYTES):
                size = len(data)
                if not self._take(data):
                    self.stop()
        except BaseException as failure:
            if failure is content.exception():  # the reader's own, which it will tell
                self.stop()
            else:
                self._over.set_exception(failure)
        if self._at_end and content.at_eof():
            self.stop()
        # A full reader is emptied piece by piece, and fills again meanwhile: then a small piece is not the last.
        self._emptying = size >= self._small or (self._emptying and size > 0)
        return self._emptying and not self._over.done()

    def _note_end(self) -> None:
        """Before what came last was handed over."""
        self._at_end = True

    def stop(self) -> None:
        if not self._over.done():
            self._over.set_result(None)
