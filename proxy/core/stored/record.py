"""One response as it is kept, and what may become of it.

A record is whole JSON in three pieces, so that a history is put together without reading any of it: what the request
added (`input`), what the model answered (`output`), and the response object around it (`answer`).
"""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({Status.COMPLETED, Status.INCOMPLETE, Status.FAILED, Status.CANCELLED})
"""Whatever is final stays so for ever: the stores see to it."""


@dataclass(slots=True)
class Record:
    """Whoever makes it fills it in. From then on it is read-only by rule: to freeze it costs more than to make it."""

    id: str
    status: Status
    created: int
    """Seconds since 1970, as clients are told."""
    model: str
    parent: str | None = None
    """The response that it continues."""
    conversation: str | None = None
    background: bool = False
    streamed: bool | None = False
    """Asked for as a stream. If it is background work too, its events are kept. None: they could not be."""
    lasting: bool = True
    """False for background work of `store: false`: it can be read for some minutes, and nothing continues it."""
    answer: bytes = b"{}"
    """The response object as its client got it; its `output` is an empty list, and stands in `output`."""
    input: bytes = b"[]"
    """The items that the request added, as a JSON list. Each has its id."""
    output: bytes = b"[]"
    """The items of the answer, as a JSON list, each with an id that names this response. They may have private members,
    which no client is shown."""

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    @property
    def size(self) -> int:
        """Bytes of its three pieces."""
        return len(self.answer) + len(self.input) + len(self.output)


def conversation_as_record(id: str, created: int, items: bytes) -> Record:
    """Stands before the first response of a chain that begins in a conversation. `items`: what that held then."""
    return Record(id, Status.COMPLETED, created, model="", input=items)
