"""What a client may leave out because we still know it: the conversation up to `previous_response_id`.

A continued request is completed before anything else looks at it: previous input, previous output, new input, as if the
client had sent it all. Nothing else is carried over, `instructions` least of all.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from proxy.core import jsontext
from proxy.core.caches.shelf import Shelf
from proxy.core.errors import ClientFault
from proxy.core.masking.redact import quoted
from proxy.core.surfaces.reading.checks import wrong_type
from proxy.core.unquoted import has_more_values
from proxy.core.weight import weight

NOWHERE: Any = object()


class Memory(Protocol):
    def completed(self, body: Any) -> Any:
        """The request with everything in it."""

    def keep(self, response_id: str, body: Mapping[str, Any], output: list[dict[str, Any]]) -> None:
        """Notes a response that went well, with the completed request that it answers."""


class NoMemory:
    """Nothing is known; a request that continues something is refused when it is decoded."""

    def completed(self, body: Any) -> Any:
        return body

    def keep(self, response_id: str, body: Mapping[str, Any], output: list[dict[str, Any]]) -> None:
        pass


MAX_LANES = 16
"""Of one connection, the one without a name among them. Who has more loses what is oldest, and sends it again."""

PIECE_BYTES = 256 * 1024
"""Packed or unpacked at a time: some thousandths of a second."""

QUICKLY = 1
"""zlib's level. Conversations repeat themselves: a fifth of what they were is left, and others save little more."""

ENTRY_BYTES = 500
"""What one conversation takes besides its words."""

Remembered = Shelf[object, bytes]
"""The conversations of all connections, packed, each by a key of its own."""

Pieces = Iterator[None]
"""Work that is done piece by piece, so that others run in between: whoever asks for it goes through all of them."""


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

    Held as packed JSON: the bound is exact then, and a fiftieth of what the same items take as objects. A turn begins
    with `bring`, and after it comes `shelve`.
    """

    def __init__(self, limit: int, shelf: Remembered, owner: str) -> None:
        """`limit` in bytes, for all lanes together; what is longer, or holds more values than can be read at
        once, is forgotten, and its client sends it whole. `owner`: whose share of the shelf it takes."""
        self.lane: str | None = None
        """On which the turn is that is under way."""
        self._limit = limit
        self._shelf = shelf
        self._owner = owner
        self._kept: dict[str | None, _Known] = {}
        """By lane, the oldest first."""
        self._brought = b"[]"
        self._new: tuple[str, bytes, int] | None = None

    def bring(self, body: Any, pay: Callable[[int], None]) -> Pieces:
        """Finds and unpacks what the request continues, if anything. Raises a fault when that is not known, or when
        there is no memory to work with it: `pay` takes it, and raises so."""
        self._new = None
        previous = body.get("previous_response_id")
        if not isinstance(previous, str):  # anything but null is refused when it is decoded
            return
        found = next((lane for lane, known in self._kept.items() if known.id == previous), NOWHERE)
        if found is NOWHERE:
            raise _not_found(previous)
        known = self._kept[found]
        packed = self._shelf.get(known.key)
        if packed is None:
            del self._kept[found]
            raise _not_found(previous)
        pay(known.weight)
        if found == self.lane:
            self._forget(found)
        yield from self._unpack(packed)

    def _unpack(self, packed: bytes) -> Pieces:
        unpacker, pieces = zlib.decompressobj(), []
        while not unpacker.eof:
            pieces.append(unpacker.decompress(packed, PIECE_BYTES))
            packed = unpacker.unconsumed_tail
            yield
        self._brought = b"".join(pieces)

    def completed(self, body: Any) -> Any:
        if not isinstance(body.get("previous_response_id"), str):
            return body
        items = jsontext.loads(self._brought) + _items(body.get("input"))
        whole = body | {"input": items}
        del whole["previous_response_id"]
        return whole

    def keep(self, response_id: str, body: Mapping[str, Any], output: list[dict[str, Any]]) -> None:
        items = _items(body.get("input")) + output
        conversation = jsontext.dumps(items)
        self._forget(self.lane)
        if len(conversation) <= self._limit and not has_more_values(conversation, jsontext.MAX_VALUES):
            self._new = (response_id, conversation, weight(items, len(conversation)))

    def shelve(self) -> Pieces:
        """Packs what was kept in this turn, and lets go of what it has continued."""
        self._brought = b"[]"
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
        self._kept[self.lane] = _Known(response_id, key, len(conversation), weight)
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


def _not_found(previous: str) -> ClientFault:
    return ClientFault(
        f"Previous response {quoted(previous)} not found: a connection knows its newest response, or that of "
        "each stream_id, unless continuing it failed or others needed the room. Leave previous_response_id out and "
        "send the whole history as input.",
        code="previous_response_not_found",
        param="previous_response_id",
    )


def known_items(body: Any, completed: Any) -> int:
    """How many of the items of an input that was completed, all of them its first, its client did not send."""
    return len(completed["input"]) - len(_items(body.get("input")))


def _items(given: Any) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    if isinstance(given, list):
        return given
    raise wrong_type("input", "a string or an array of items", given)
