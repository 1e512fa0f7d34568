"""Hands over what the backend sends in the very callback that receives it.

Between the arrival of a byte and a reading task stand a future and a turn of the event loop; for a stream of single
chunks that is a quarter of all its cost. For a while the push reader therefore listens to the connection itself, and
empties its reader after each callback. An end, a failure, or a taker that wants no more ends that, and is left to the
plain reader.
"""

import asyncio

from proxy.shell.http.client import Answer, Wire
from proxy.shell.http.pace import PIECE_BYTES
from proxy.shell.http.transport import Take


class PushReader:
    """Reads one reply on one connection."""

    def __init__(self, answer: Answer, take: Take) -> None:
        self._content = answer.content
        wire = answer.connection.protocol if answer.connection is not None else None
        self._wire = wire if isinstance(wire, Wire) else None
        self._take = take
        self._at_end = False
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Runs until the taker wants no more, or something else than data is to be read."""
        wire = self._wire
        if wire is None:
            return  # the whole reply has come already
        try:
            self._content.on_eof(self._note_end)
            while self.deliver():  # noqa: ASYNC110 - nobody is waited for
                await asyncio.sleep(0)
            wire.push_reader = self
            await self._over
        finally:
            if wire.push_reader is self:  # else the next reply on it has come to it before us
                wire.push_reader = None

    def deliver(self) -> bool:
        """Hands over a piece of what is there, and says whether there may be more. A reader that is emptied asks for
        what did not fit, and gets it at once, so a reader that gives less than a piece has nothing left."""
        if self._over.done():
            return False
        content, whole = self._content, False
        try:
            if data := content.read_nowait(PIECE_BYTES):
                whole = len(data) == PIECE_BYTES
                if not self._take(data):
                    self.stop()
        except BaseException as failure:
            if failure is content.exception():  # the reader's own, which it will tell
                self.stop()
            else:
                self._over.set_exception(failure)
        if self._at_end and content.at_eof():
            self.stop()
        return whole and not self._over.done()

    def _note_end(self) -> None:
        """Notes the end, before the last bytes were handed over."""
        self._at_end = True

    def stop(self) -> None:
        if not self._over.done():
            self._over.set_result(None)
