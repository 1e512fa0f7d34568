"""No connection has the loop to itself, however much it sends and however fast.

uvloop reads a quarter of a megabyte at once, and up to 32 times before it looks at anybody else; a few bytes of that
may be an event, a ping or the head of an answer. So what is read at once is taken in pieces, and when the turn of this
connection is over the rest is held, and no more is read, until all others have had theirs (F79). A model that speaks
never sends so much: for what is small nothing is done but to look at its length.

This is for aiohttp's protocols, of which it uses private names: see the room's `PRIVATE_NAMES`.
"""

import asyncio
from time import monotonic

from aiohttp.base_protocol import BaseProtocol

TURN_SECONDS = 0.01
PIECE_BYTES = 32 * 1024
"""Of the smallest events there are, so much holds some seven hundred: a few thousandths of a second's work."""


NOTHING = memoryview(b"")
"""Unlike what is left of a read when nothing is left, it does not keep what was read."""


class Paced(BaseProtocol):
    """Stands before the protocol that takes the bytes."""

    has_paused = False
    """Was there ever more than its reader had room for?"""
    _held = NOTHING
    """What has been read and must wait."""
    _goes_on = False
    """Its turn is, or will come by itself."""

    def take(self, data: bytes) -> None:
        """Does what there is to do with them."""
        super().data_received(data)
        if self.has_paused:
            self._parse_on()

    def _parse_on(self) -> None:
        """aiohttp's parser remembers a pause asked for at the end of a chunk until the next, and stops there though
        there is room again. Nobody else would tell it: the last chunks would never come."""
        if not (self._reading_paused or self._buffer_paused):
            super().data_received(b"")

    def data_received(self, data: bytes) -> None:
        """aiohttp calls it, too, without any data, to go on with what it has."""
        if len(data) <= PIECE_BYTES and not (self._held and data):
            self.take(data)
        else:
            self._held = memoryview(bytes(self._held) + data)
            if not self._goes_on:
                self._go_on()

    def _go_on(self) -> None:
        self._goes_on = True
        until = monotonic() + TURN_SECONDS
        try:
            while self._held and not (self._reading_paused or self._buffer_paused):
                piece, self._held = self._held[:PIECE_BYTES], self._held[PIECE_BYTES:] or NOTHING
                self.take(bytes(piece))
                if monotonic() > until:
                    break
        finally:
            self._goes_on = False
        if self._held:
            self._pause_transport_reading()
        if not (self._reading_paused or self._buffer_paused):
            self._resume_transport_reading()

    def pause_reading(self) -> None:
        self.has_paused = True
        super().pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Asked for after each piece that was read: aiohttp would look each time for what a pause has left over."""
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def _resume_transport_reading(self) -> None:
        """There is room again: first for what is here."""
        if not self._held:
            super()._resume_transport_reading()
        elif not self._goes_on:
            self._goes_on = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def stop_reading(self) -> None:
        """For good."""
        self._pause_reading_for_buffer()

    def connection_lost(self, exc: BaseException | None) -> None:
        """What had come before counts."""
        held, self._held = self._held, NOTHING
        if held:
            self.take(bytes(held))
        super().connection_lost(exc)
