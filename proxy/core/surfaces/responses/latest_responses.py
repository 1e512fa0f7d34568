"""What a connection remembers: its newest responses, which its client may continue even if nothing is stored."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from proxy.core import jsontext
from proxy.core.caches.shelf import Shelf
from proxy.core.surfaces.surface import Stored
from proxy.core.unquoted import has_more_values
from proxy.core.weight import weight

NO_LANE: Any = object()


MAX_LANES = 16
"""Lanes of one connection, including the one without a name. A client with more loses the oldest, and has to send its
history again."""

PIECE_BYTES = 256 * 1024
"""Packed or unpacked at a time: some thousandths of a second."""

QUICKLY = 1
"""zlib's level. Conversations repeat themselves: a fifth of what they were is left, and others save little more."""

ENTRY_BYTES = 500
"""What one conversation takes besides its words."""

Remembered = Shelf[object, bytes]
"""The conversations of all connections, packed, each by a key of its own."""

Pieces = Iterator[None]
"""Work that is done piece by piece, so that others run in between. The caller goes through all of them."""


@dataclass(slots=True)
class _Known:
    """The newest response of a lane, and the conversation up to it."""

    id: str
    key: object
    """On the shelf, if it was not forgotten there."""
    size: int
    weight: int
    """As long as somebody works with it."""


class LatestResponses:
    """The newest response of each lane of one connection, whatever `store` says, since it goes nowhere else.

    Who continues it takes it out, and only success puts the next one in its place: so a continuation that fails has
    evicted what it continued, as the specification wants it, and no second rule is needed. Another lane may continue
    it too: that is a fork, and takes nothing from the lane that it comes from.

    Held as packed JSON: the bound is exact then, and a fiftieth of what the same items take as objects. A turn
    begins with `begin` and ends with `shelve`.
    """

    def __init__(self, limit: int, shelf: Remembered, owner: str) -> None:
        """`limit` in bytes, for all lanes together; what is longer, or holds more values than can be read at
        once, is forgotten, and its client sends it whole. `owner`: whose share of the shelf it takes."""
        self._lane: str | None = None
        """On which the turn is that is under way."""
        self._limit = limit
        self._shelf = shelf
        self._owner = owner
        self._kept: dict[str | None, _Known] = {}
        """By lane, the oldest first."""
        self._new: tuple[str, bytes, int] | None = None

    def begin(self, lane: str | None) -> None:
        """A turn on this lane begins; what an earlier one kept and did not shelve was never told."""
        self._lane, self._new = lane, None

    def knows(self, previous: str) -> bool:
        """Is it there, and not forgotten for want of room?"""
        lane = self._lane_of(previous)
        if lane is NO_LANE:
            return False
        if self._shelf.get(self._kept[lane].key) is not None:
            return True
        del self._kept[lane]
        return False

    def lane_of(self, previous: Any) -> str | None:
        """The name of the lane, if it has one, whose newest response that is."""
        lane = self._lane_of(previous)
        return None if lane is NO_LANE else lane

    def _lane_of(self, previous: str) -> Any:
        return next((lane for lane, known in self._kept.items() if known.id == previous), NO_LANE)

    def unpacked(self, previous: str, pay: Callable[[int], None]) -> Iterator[bytes]:
        """The conversation up to that response, which it knows, and with it, in pieces of a JSON list. Raises a fault
        when there is no memory to work with it: `pay` takes it, and raises so."""
        found = self._lane_of(previous)
        known = self._kept[found]
        packed = self._shelf.get(known.key)
        assert packed is not None, "it was asked just now"
        pay(known.weight)
        if found == self._lane:
            self._forget(found)
        unpacker = zlib.decompressobj()
        while not unpacker.eof:
            yield unpacker.decompress(packed, PIECE_BYTES)
            packed = unpacker.unconsumed_tail

    def keep(self, stored: Stored) -> None:
        """Notes a response that went well; `shelve` packs it when its client has had the answer."""
        conversation = jsontext.dumps(stored.items)
        self._forget(self._lane)
        if len(conversation) <= self._limit and not has_more_values(conversation, jsontext.MAX_VALUES):
            self._new = (stored.id, conversation, weight(stored.items, len(conversation)))

    def shelve(self) -> Pieces:
        """Packs what was kept in this turn, and lets go of what it has continued."""
        if self._new is None:
            return
        (response_id, conversation, weight), self._new = self._new, None
        packer, pieces = zlib.compressobj(QUICKLY), []
        for at in range(0, len(conversation), PIECE_BYTES):
            pieces.append(packer.compress(conversation[at : at + PIECE_BYTES]))
            yield
        packed = b"".join((*pieces, packer.flush()))
        key = object()
        self._shelf.put(self._owner, key, packed, len(packed) + ENTRY_BYTES)
        self._kept[self._lane] = _Known(response_id, key, len(conversation), weight)
        while len(self._kept) > MAX_LANES or self._size() > self._limit:
            self._forget(next(iter(self._kept)))

    def close(self) -> None:
        for lane in list(self._kept):
            self._forget(lane)

    def _forget(self, lane: str | None) -> None:
        if known := self._kept.pop(lane, None):
            self._shelf.take(known.key)

    def _size(self) -> int:
        return sum(known.size for known in self._kept.values())
