"""A conversation, and the items in it."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(slots=True, frozen=True)
class Conversation:
    id: str
    created: int
    metadata: bytes = b"{}"
    """A JSON object of strings."""


@dataclass(slots=True, frozen=True)
class Entry:
    """An item at its place."""

    position: int
    """Grows. Where an item was taken out, there is a gap."""
    id: str
    item: bytes
    """The item as JSON, private members included."""


class Order(StrEnum):
    ASCENDING = "asc"
    DESCENDING = "desc"
