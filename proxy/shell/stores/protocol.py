"""What an engine of the store promises. `Records` is the truth; `Live` may vanish at any time without a wrong answer.

The tenant is the first argument of every method: what belongs to another tenant is as unknown as what never was, by the
same query. Each method ends within its limit, or raises StoreDown; no method is ended by its caller's end, and each
write may be repeated. Whoever asks for more items than may be read at a time (`Keeping.read_bytes`) hears TooMuchKept.
Times are the engine's own.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from proxy.core.stored.conversation import Conversation, Entry, Order
from proxy.core.stored.record import Record

MOST_ENTRIES: Final = 20_000
"""Items in a conversation: as many as a request may have."""


Result = TypeVar("Result")

Pending = Coroutine[Any, Any, Result] | asyncio.Future[Result]
"""What a command gives to be awaited. A future is on its way already, and needs no task to go on."""


class StoreDown(Exception):
    """The store did not answer, or not in time."""


class StoreInDoubt(StoreDown):
    """A write has ended without an answer: it was done, or it was not, or it is done in a moment."""


class NotAsked(StoreDown):
    """The store was not even asked, or not to the end: nothing was done."""


class StoreLate(StoreDown):
    """It did not answer in time. `answer` tells later what became of it."""

    def __init__(self, told: str, answer: "asyncio.Future[Any]") -> None:
        super().__init__(told)
        self.answer = answer


class StoreUnreadable(Exception):
    """The store is there, and cannot be used: its words say why, and what to do. Ends the start of the process."""


class RecordUnreadable(Exception):
    """What is kept of one response is damaged, was written by a later version, or lacks an ancestor."""


class StoreReplaced(StoreDown):
    """The file of the store is not the one that was opened, or is damaged: nothing helps but a person."""


class Key(NamedTuple):
    tenant: str
    id: str


class TooMuchKept(Exception):
    """What is asked for is more than may be read at a time."""


class Outcome(Enum):
    DONE = auto()
    LOST = auto()
    """It was ended by somebody else, or deleted: nothing was changed."""


class Locked(NamedTuple):
    """Another response works on the conversation."""

    response: str


class Began(NamedTuple):
    """`entries`: of the conversation that was locked, oldest first."""

    entries: Sequence[Entry]


class FoundConversation(NamedTuple):
    conversation: Conversation
    locked_by: str | None
    """The response that works on it."""


@dataclass(slots=True, frozen=True)
class Size:
    """For `store info` and the metrics."""

    responses: int
    running: int
    conversations: int
    bytes: int


class Swept(NamedTuple):
    """How many responses and conversations were deleted."""

    expired: int
    early: int
    """Deleted before their time: the oldest of too many."""
    looked_at: int = 0
    """Rows that were only looked at: as many as might be deleted, while there is more to do."""


class Records(Protocol):
    async def open(self) -> None:
        """Makes or migrates what is needed. Raises StoreUnreadable; a store that is only away is StoreDown."""

    async def close(self) -> None: ...

    # ── responses ──

    def save(
        self, tenant: str, record: Record, entries: Sequence[str] = (), worker: str = ""
    ) -> Pending[Outcome]:
        """Keeps a final record that nobody has begun. Once more: changes nothing, DONE. `entries`: ids of items, of
        this record or already kept, that its conversation gets at its end in the same step (without those that are
        there already; KeyError for one that is kept nowhere). With a `worker`, the conversation's lock of this
        response is given up in the same step; LOST says that it was no longer held, and nothing is kept.
        Raises `ParentGone`."""

    async def begin(self, tenant: str, record: Record, worker: str) -> Began | Locked | None:
        """Keeps background work that is queued, and takes the lock of its conversation, whose entries it does not tell.
        None: no such conversation. Raises `ParentGone`."""

    async def start(self, tenant: str, id: str, worker: str, answer: bytes) -> Outcome:
        """Queued work is in progress."""

    async def finish(self, tenant: str, record: Record, worker: str, entries: Sequence[str] = ()) -> Outcome:
        """Ends what `worker` has begun: its record, the conversation's new entries, the lock. What was streamed may be
        so no more, because its events are not kept."""

    async def cancel(self, tenant: str, record: Record) -> Record | None:
        """Replaces what is not final by this cancelled record, whoever works on it. The record as it is then."""

    async def get(self, tenant: str, id: str) -> Record | None:
        """Whose owner is dead is settled first (`settle`)."""

    async def chain(self, tenant: str, id: str, most: int) -> Sequence[Record] | None:
        """The record and all that it continues, oldest first, deleted ancestors among them. Where that begins in a
        conversation, the first is made up: the conversation's id, no answer, and as `input` what the conversation held
        when that response began, whatever became of it since. None: the record itself is unknown, deleted, or not
        lasting. Raises RecordUnreadable rather than give fewer, and for more than `most` records."""

    async def items(self, tenant: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        """The kept items among these, as JSON: those of responses and conversations that are there or that something
        continues."""

    async def delete(self, tenant: str, id: str) -> bool | None:
        """True: deleted. False: it runs, and stays. None: unknown."""

    # ── conversations ──

    async def create(self, tenant: str, conversation: Conversation, record: Record | None = None) -> None:
        """With all items of the record in it, in the same step (see `add`). One that is there stays as it is."""

    async def conversation(self, tenant: str, id: str) -> FoundConversation | None: ...

    async def update(self, tenant: str, id: str, metadata: bytes) -> Conversation | Locked | None: ...

    async def remove(self, tenant: str, id: str) -> bool | Locked:
        """Deletes the conversation; its responses stay. False: unknown."""

    async def lock(self, tenant: str, id: str, worker: str, response: str) -> Began | Locked | None:
        """For a response in the foreground. A dead worker's lock is none."""

    async def unlock(self, tenant: str, id: str, response: str) -> None:
        """Gives up the conversation's lock, and adds nothing of the response."""

    async def entries(self, tenant: str, id: str) -> Sequence[Entry] | None:
        """All entries of the conversation, oldest first, read without a lock."""

    async def page(
        self, tenant: str, id: str, order: Order, after: str | None, limit: int
    ) -> Sequence[Entry] | None:
        """At most `limit` entries in that order behind the item `after`. None: no such conversation. KeyError: no
        such item in it."""

    async def add(
        self, tenant: str, id: str, record: Record, most: int = MOST_ENTRIES
    ) -> Sequence[Entry] | Locked | None:
        """Adds all items of a record without an answer at the end of the conversation, or none of them. An item whose
        id is kept already is linked: what is kept stands. Raises `AlreadyThere` for one that is in the conversation,
        and `ConversationFull` for more entries than `most`. The record itself is no response: it cannot be read, and
        lasts as long as its items."""

    async def entry(self, tenant: str, id: str, item: str) -> Entry | None: ...

    async def drop(self, tenant: str, id: str, item: str) -> bool | Locked:
        """Takes an item out of this conversation only. False: it is not there."""

    # ── owners ──

    async def beat(self, worker: str) -> int:
        """Says that the worker lives, and returns how many do. `begin` and `lock` do so too."""

    async def leave(self, worker: str) -> None:
        """The worker owns nothing any more."""

    async def cancelled(self, worker: str) -> Sequence[Key]:
        """What this worker has begun and somebody else has ended; told until the worker's `finish` hears LOST."""

    async def runs(self, worker: str) -> Sequence[Key]:
        """All that this worker has begun and that is not final."""

    async def settle(self, most: int) -> Sequence[Key]:
        """Ends as failed what dead workers have begun (`endings.orphaned`), and says which."""

    # ── the size of it ──

    async def sweep(self, most: int) -> Swept:
        """Deletes at most so many that have expired, or are the oldest of too many: of the tenants that have most."""

    async def size(self) -> Size: ...

    async def forget(self, tenant: str) -> int:
        """Deletes all that is the tenant's; how many responses and conversations. Its runs are cancelled."""


class AlreadyThere(Exception):
    """The item is in this conversation already. Its words are the item's id."""


class ParentGone(Exception):
    """What the record continues is not there at all: it could not be read with its history. Nothing was kept."""


class ConversationFull(Exception):
    """It would have more entries than it may."""


# ── what may vanish ──


class LogRow(NamedTuple):
    """Events of one log that were made together."""

    key: Key
    first: int
    """The number of the first of them."""
    events: Sequence[bytes]
    """Each as the JSON that its client gets; numbered without a gap."""


class Cursor(NamedTuple):
    """Where somebody reads a log."""

    key: Key
    next: int
    """The number of the first event that is wanted."""


class LogExcerpt(NamedTuple):
    """What there is of a log at a cursor."""

    events: Sequence[bytes]
    """None missing in between; perhaps not all that there are."""
    ended: bool
    """The last of the events is the log's last."""


class LogClosed(Enum):
    """Why a log takes no more events."""

    OVER = auto()
    """Somebody else shut or ended it: so is the response, or soon will be. Its owner stops."""
    GONE = auto()
    """It was too long, or part of it is lost: nothing of it is kept any more. Its owner goes on without."""


class Want(NamedTuple):
    """Units of which a tenant gets only so many in a minute."""

    unit: str
    most: int
    units: int = 1
    """At most `most`, where they are taken. 0: nothing is taken, and nothing refused for it."""


class Granted(NamedTuple):
    full_in: Sequence[float]
    """For each want the seconds until all that one may have in a minute is there."""


class Wait(NamedTuple):
    """Nothing was taken."""

    full_in: Sequence[float]


class Ticket(NamedTuple):
    """Somebody who stands in the queue before a backend, or has been let in from it."""

    queue: str
    id: str


class Live(Protocol):
    """What processes tell each other. It may lose everything, and may not lie."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        """Of many logs in one step; those that did not take it. An event that is there already is not there twice."""

    async def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Mapping[Cursor, LogExcerpt | None]:
        """Many logs at once, some events of each. None: there is no such log (any more)."""

    async def shut(self, key: Key) -> int:
        """Nobody appends any more; the number of the last event, -1 if there is none."""

    async def end(self, key: Key, number: int, event: bytes) -> None:
        """Closes the log with its last event. The first who does so decides. A log that lacks events before this one
        cannot be read any more."""

    async def drop(self, key: Key) -> None: ...

    async def remember(self, tenant: str, memos: Mapping[str, bytes], seconds: float) -> None: ...

    async def recall(self, tenant: str, keys: Sequence[str]) -> Mapping[str, bytes]: ...

    async def take(self, tenant: str, wants: Sequence[Want]) -> Granted | Wait:
        """Takes all that is wanted, or nothing. The one write that must not be repeated, with `charge`."""

    async def charge(self, tenant: str, wants: Sequence[Want]) -> None:
        """Takes it on credit; a negative amount is given back."""

    async def enter(self, worker: str, tickets: Sequence[Ticket]) -> Mapping[Ticket, int]:
        """The worker lives, and these stand behind all others of their queues; who stands there already stays. For
        all tickets of the worker: how many stand before each. The tickets of the dead count no more."""

    async def ranks(self, worker: str) -> Mapping[Ticket, int]:
        """What `enter` says, when nobody enters. A ticket that is missing is lost, and may enter again."""

    async def leave(self, tickets: Sequence[Ticket]) -> None: ...

    async def sweep(self, most: int) -> int: ...
