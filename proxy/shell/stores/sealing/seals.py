"""What engines seal before they keep it, and open when they read it.

Each sealed value names the key that opens it, so no other is tried. It is bound to its tenant, its id and its place:
moved anywhere else, it does not open. What was kept before there was a key is read as it is.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from proxy.shell.stores.protocol import RecordUnreadable

MARK: Final = b"\xfe\x01"
"""Begins what is sealed; the second byte is the version of the form. No text in UTF-8 has the first byte, and no block
of deflate begins with it: so nothing that is kept as it is can be taken for sealed."""

ID_BYTES: Final = 8

HEAD_BYTES: Final = len(MARK) + ID_BYTES
"""The mark, and the id of the key."""


class What(StrEnum):
    RESPONSE = "response"
    CONVERSATION = "conversation"
    LOG = "log"
    MEMO = "memo"


class Reason(StrEnum):
    """Why something cannot be read."""

    NO_KEY = "no_key"
    DAMAGED = "damaged"
    LATER_VERSION = "later_version"


WORDS: Final = {
    Reason.NO_KEY: "is sealed with a key that is not in store.keys",
    Reason.DAMAGED: "is damaged",
    Reason.LATER_VERSION: "was written by a later version of the proxy",
}


class BoundTo(NamedTuple):
    """What a sealed value is bound to: whose it is, which one, and which part of it."""

    what: What
    tenant: str
    id: str
    part: str = ""

    @property
    def bound(self) -> bytes:
        """Bytes that no other names give, whatever stands in them."""
        return "".join(f"{len(name)}:{name}" for name in self).encode("utf-8", "surrogatepass")


class SealBroken(Exception):
    """The bytes are not as they were sealed, or not for this place."""


class SealingKey(Protocol):
    @property
    def id(self) -> bytes:
        """Tells it from others, and nothing about it."""

    def sealed(self, data: bytes, bound: bytes) -> bytes:
        """What stands behind the head."""

    def opened(self, sealed: bytes, bound: bytes) -> bytes:
        """Raises SealBroken."""


Told = Callable[[What, Reason, str, str], None]
"""Hears what of which id cannot be read, why, and the id of the key. From any thread."""


def told_nobody(what: What, reason: Reason, id: str, key: str) -> None:
    """Who counts nothing."""


class Seals:
    def __init__(self, keys: Sequence[SealingKey] = (), told: Told = told_nobody) -> None:
        """The first key seals, each opens. Without any, all is kept as it is."""
        self._first = keys[0] if keys else None
        self._keys = {key.id: key for key in keys}
        self._told = told
        self.head = b"" if self._first is None else MARK + self._first.id
        """How all begins that is sealed now."""

    @property
    def ids(self) -> list[str]:
        """The ids of the keys, the first one first."""
        return [id.hex() for id in self._keys]

    def sealed(self, bound_to: BoundTo, data: bytes) -> bytes:
        return data if self._first is None else self.head + self._first.sealed(data, bound_to.bound)

    def opened(self, bound_to: BoundTo, data: bytes) -> bytes:
        """Opens a value that says by itself whether it is sealed."""
        return self.unsealed(bound_to, data) if data[:1] == MARK[:1] else data

    def unsealed(self, bound_to: BoundTo, data: bytes) -> bytes:
        """Raises RecordUnreadable, also for what is not sealed."""
        head = data[:HEAD_BYTES]
        if len(head) < HEAD_BYTES or head[:1] != MARK[:1]:
            raise self.unreadable(bound_to, Reason.DAMAGED)
        if not head.startswith(MARK):
            raise self.unreadable(bound_to, Reason.LATER_VERSION)
        key = self._keys.get(id := head[len(MARK) :])
        if key is None:
            raise self.unreadable(bound_to, Reason.NO_KEY, id.hex())
        try:
            return key.opened(data[HEAD_BYTES:], bound_to.bound)
        except SealBroken:
            raise self.unreadable(bound_to, Reason.DAMAGED, id.hex()) from None

    def unreadable(self, bound_to: BoundTo, reason: Reason, key: str = "") -> RecordUnreadable:
        """What to raise, when everybody who counts was told."""
        self._told(bound_to.what, reason, bound_to.id, key)
        named = f" ({key})" if reason is Reason.NO_KEY else ""
        return RecordUnreadable(f"{bound_to.id} {WORDS[reason]}{named}")


NO_SEALS: Final = Seals()
