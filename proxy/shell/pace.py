"""No connection has the loop to itself, however much it sends and however fast.

uvloop reads a quarter of a megabyte at once, and up to 32 times before it looks at anybody else; a few bytes of that
may be an event, a ping or the head of an answer. So what is read at once is taken in pieces, and when the turn of this
connection is over the rest is held, and no more is read, until all others have had theirs (F79). A model that speaks
never sends so much: for what is small nothing is done but to look at its length.

This is for aiohttp's protocols, of which five private names are used; a test of each fails if it goes.
"""

import asyncio
from time import monotonic

from aiohttp.base_protocol import BaseProtocol

TURN_SECONDS = 0.01
PIECE_BYTES = 8 * 1024
"""Of the smallest events there are, so much holds some hundred and seventy: a few thousandths of a second's work."""


class Paced(BaseProtocol):
    """Stands before the protocol that takes the bytes."""

    _held = b""
    """What has been read and must wait."""
    _next: asyncio.Handle | None = None

    def take(self, data: bytes) -> None:
        """Does what there is to do with them."""
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        """aiohttp calls it, too, without any data, to go on with what it has."""
        if len(data) <= PIECE_BYTES and not (self._held and data):
            self.take(data)
        else:
            self._held += data
            if self._next is None:
                self._go_on()

    def _go_on(self) -> None:
        self._next = None
        until = monotonic() + TURN_SECONDS
        while self._held and not (self._reading_paused or self._buffer_paused):
            if monotonic() > until:
                self._next = asyncio.get_running_loop().call_soon(self._go_on)
                break
            piece, self._held = self._held[:PIECE_BYTES], self._held[PIECE_BYTES:]
            self.take(piece)
        if self._held:
            self._pause_transport_reading()
        elif not (self._reading_paused or self._buffer_paused):
            super()._resume_transport_reading()

    def _resume_transport_reading(self) -> None:
        """aiohttp has room again: first for what is here."""
        if not self._held:
            super()._resume_transport_reading()
        elif self._next is None:
            self._next = asyncio.get_running_loop().call_soon(self._go_on)

    def stop_reading(self) -> None:
        """For good."""
        self._pause_reading_for_buffer()

    def connection_lost(self, exc: BaseException | None) -> None:
        """What had come before counts."""
        if self._next is not None:
            self._next.cancel()
        held, self._held = self._held, b""
        if held:
            self.take(held)
        super().connection_lost(exc)
