"""The events of a log as rows: each row goes on with what was packed before it, and every few rows it begins anew.

So packing makes a thirteenth of it, and who reads from somewhere in the middle unpacks a few rows too many at most.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from proxy.shell.stores.sealing.seals import NO_SEALS, BoundTo, Reason, Seals, What

ROWS_OF_A_STREAM: Final = 32
WINDOW_BITS: Final = -12
"""4 KiB, without a header: as good for events as the largest window, at a sixteenth of the memory."""

MEMORY_LEVEL: Final = 5
"""With this level a packer takes 38 KiB. With the default it would take 150, for rows of the same size in half as much
time again."""

BETWEEN: Final = b"\x00"
"""Stands between events. No JSON has it in its text."""

MOST_PACKERS: Final = 1_000
"""Packers that are kept, 38 MiB of them. A run that was ended elsewhere while it had nothing to say leaves its own
behind."""


@dataclass(slots=True)
class _Packer:
    next: int
    """The number of the event after the last that was packed."""
    rows: int = 0
    stream: Any = field(default_factory=lambda: zlib.compressobj(wbits=WINDOW_BITS, memLevel=MEMORY_LEVEL))


class Packers:
    """The packers of all logs that this process writes."""

    def __init__(self, seals: Seals = NO_SEALS) -> None:
        self._seals = seals
        self._packers: dict[tuple[str, str], _Packer] = {}
        """The longest unused first."""

    def pack(self, key: tuple[str, str], first: int, events: Sequence[bytes]) -> tuple[bool, bytes]:
        """Whether the row begins anew, and its bytes. Where the log is not as this process left it, because a write
        was undone or somebody else wrote, it begins anew."""
        packer = self._packers.pop(key, None)
        fresh = packer is None or packer.next != first or packer.rows >= ROWS_OF_A_STREAM
        if packer is None or fresh:
            packer = _Packer(first)
        self._packers[key] = packer
        if len(self._packers) > MOST_PACKERS:
            del self._packers[next(iter(self._packers))]
        packer.next = first + len(events)
        packer.rows += 1
        data = packer.stream.compress(BETWEEN.join(events))
        data += packer.stream.flush(zlib.Z_SYNC_FLUSH)
        return fresh, self._seals.sealed(_bound_to(key, first), data)

    def forget(self, key: tuple[str, str]) -> None:
        self._packers.pop(key, None)


class Unpacker:
    """Reads the rows of one log, in order, from one that begins anew."""

    def __init__(self, key: tuple[str, str], seals: Seals = NO_SEALS) -> None:
        self._key = key
        self._seals = seals
        self._stream = zlib.decompressobj(wbits=WINDOW_BITS)

    def unpack(self, first: int, fresh: bool, data: bytes) -> list[bytes]:
        """Raises RecordUnreadable."""
        if fresh:
            self._stream = zlib.decompressobj(wbits=WINDOW_BITS)
        bound_to = _bound_to(self._key, first)
        packed = self._seals.opened(bound_to, data)
        try:
            return self._stream.decompress(packed).split(BETWEEN)
        except zlib.error:
            raise self._seals.unreadable(bound_to, Reason.DAMAGED) from None


def _bound_to(key: tuple[str, str], first: int) -> BoundTo:
    return BoundTo(What.LOG, *key, str(first))
