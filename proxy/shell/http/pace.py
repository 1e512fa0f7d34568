"""No connection keeps the event loop for itself, however much it sends and however fast.

uvloop reads a quarter of a megabyte at once, and up to 32 times before it serves another connection; a few bytes of
that may be an event, a ping or the head of an answer. Here large reads are processed in pieces. When the turn of a
connection is over, which all its reads in a row share, the rest is held and nothing more is read until all others have
had their turns (F79). A model that writes never sends so much, and a small read costs only a look at its length.

This is for aiohttp's protocols, of which it uses private names: see the room's `PRIVATE_NAMES`.
"""

import asyncio
from time import monotonic

from aiohttp.base_protocol import BaseProtocol

TURN_SECONDS = 0.01
PIECE_BYTES = 32 * 1024
"""A piece holds some seven hundred of the smallest events, which take a few milliseconds."""

EMPTY_VIEW = memoryview(b"")
"""An empty view that keeps no bytes alive; an empty slice of them would."""


class Paced(BaseProtocol):
    """A mixin in front of the protocol that processes the bytes."""

    has_paused = False
    """Has its reader ever been full?"""
    _held = EMPTY_VIEW
    """Bytes that were read and must wait."""
    _goes_on = False
    """Is it taking what is held, or about to?"""
    _turn_ends: float | None = None
    """When it has to stop, if it has had the loop since others had it."""

    def take(self, data: bytes) -> None:
        """Processes bytes."""
        super().data_received(data)
        if self.has_paused:
            self._parse_on()

    def _parse_on(self) -> None:
        """Makes aiohttp's parser continue. It remembers a pause that was asked for at the end of a chunk, and stops at
        the next chunk although there is room again, so the last chunks would never come."""
        if not (self._reading_paused or self._buffer_paused):
            super().data_received(b"")

    def data_received(self, data: bytes) -> None:
        """aiohttp also calls it without data, to continue with what it has."""
        if len(data) <= PIECE_BYTES and not (self._held and data):
            self.take(data)
        else:
            self._held = memoryview(bytes(self._held) + data)
            if not self._goes_on:
                self._go_on()

    def _go_on(self) -> None:
        self._goes_on = True
        until = self._turn_ends
        if until is None:
            until = self._turn_ends = monotonic() + TURN_SECONDS
            asyncio.get_running_loop().call_soon(self._end_turn)
        try:
            while self._held and not (self._reading_paused or self._buffer_paused):
                piece, self._held = self._held[:PIECE_BYTES], self._held[PIECE_BYTES:] or EMPTY_VIEW
                self.take(bytes(piece))
                if monotonic() > until:
                    break
        finally:
            self._goes_on = False
        if self._held:
            self._pause_transport_reading()
        if not (self._reading_paused or self._buffer_paused):
            self._resume_transport_reading()

    def _end_turn(self) -> None:
        self._turn_ends = None

    def pause_reading(self) -> None:
        self.has_paused = True
        super().pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Does nothing unless reading is paused. aiohttp calls it after each read, and would search for leftovers each
        time."""
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def _resume_transport_reading(self) -> None:
        """Processes the held bytes first when there is room again."""
        if not self._held:
            super()._resume_transport_reading()
        elif not self._goes_on:
            self._goes_on = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def stop_reading(self) -> None:
        """Stops reading for good."""
        self._pause_reading_for_buffer()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Processes what had come before."""
        held, self._held = self._held, EMPTY_VIEW
        if held:
            self.take(bytes(held))
        super().connection_lost(exc)
