"""What one tenant's responses are in memory, and what holds a response that was deleted."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from proxy.core.stored.conversation import Conversation
from proxy.core.stored.record import Record
from proxy.shell.stores.keys import foreign_ids, tail_of


@dataclass(slots=True)
class KeptTurn:
    """One response, and what the engine knows of it besides."""

    record: Record
    ended: int | None = None
    gone: bool = False
    """Deleted, or never a response; it stays while something needs it."""
    seen: int | None = None
    """The version of its conversation that it began with."""

    @property
    def weight(self) -> int:
        return self.record.size + 1000


@dataclass(slots=True)
class Placed:
    """An item in a conversation. It stays when it is taken out, for responses that began before that."""

    position: int
    item: str
    tail: str
    added: int
    dropped: int | None = None

    def was_there(self, version: int) -> bool:
        return self.added <= version and (self.dropped is None or self.dropped > version)


@dataclass(slots=True)
class ConversationShelf:
    """A conversation. It stays when it is deleted, for the responses that belonged to it."""

    conversation: Conversation
    touched: int
    version: int = 0
    last: int = 0
    """The position of its newest entry, which may be gone."""
    removed: bool = False
    locked_by: str = ""
    lock_response: str = ""
    entries: list[Placed] = field(default_factory=list)

    @property
    def visible(self) -> list[Placed]:
        return [] if self.removed else [entry for entry in self.entries if entry.dropped is None]


@dataclass(slots=True)
class TenantShelf:
    """All that is one tenant's."""

    turns: dict[str, KeptTurn] = field(default_factory=dict)
    talks: dict[str, ConversationShelf] = field(default_factory=dict)
    children: dict[str, set[str]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    """The responses that began with a conversation, by it."""
    entries: Counter[str] = field(default_factory=Counter)
    """How many each response has, in all conversations."""
    foreign: dict[str, list[str]] = field(default_factory=dict)
    """Where items are kept whose ids do not say so, in the order in which they came."""

    @property
    def weight(self) -> int:
        return sum(turn.weight for turn in self.turns.values())

    def put(self, turn: KeptTurn) -> None:
        tail = tail_of(turn.record.id)
        self.turns[tail] = turn
        if turn.record.parent is not None:
            self.children.setdefault(tail_of(turn.record.parent), set()).add(tail)
        if turn.record.conversation is not None:
            self.members.setdefault(turn.record.conversation, set()).add(tail)

    def know_items(self, record: Record) -> None:
        tail = tail_of(record.id)
        for item in foreign_ids(tail, record):
            if tail not in (tails := self.foreign.setdefault(item, [])):
                tails.append(tail)

    def candidates(self, item: str) -> Iterator[str]:
        """Where the item may be kept."""
        yield tail_of(item)
        yield from self.foreign.get(item, ())

    def tidy(self, tail: str) -> int:
        """Takes away a deleted response that nothing needs, and what it alone held; how many bytes that were."""
        freed = 0
        doubtful = [tail]
        while doubtful:
            tail = doubtful.pop()
            turn = self.turns.get(tail)
            if turn is None or not turn.gone or self.children.get(tail):
                continue
            if turn.seen is not None:
                turn.seen = None
                doubtful += self.prune(turn.record.conversation or "")
            if self.entries[tail]:
                continue
            freed += turn.weight
            doubtful += self._take_away(tail, turn.record)
        return freed

    def _take_away(self, tail: str, record: Record) -> list[str]:
        del self.turns[tail]
        for item in foreign_ids(tail, record):
            if tail in (tails := self.foreign.get(item, [])):
                tails.remove(tail)
            if not tails:
                self.foreign.pop(item, None)
        self.children.pop(tail, None)
        del self.entries[tail]
        self.members.get(record.conversation or "", set()).discard(tail)
        if record.parent is None:
            return []
        parent = tail_of(record.parent)
        self.children.get(parent, set()).discard(tail)
        return [parent]

    def prune(self, conversation: str) -> list[str]:
        """Takes away the entries that nobody sees and nobody began with; the responses that had them."""
        talk = self.talks.get(conversation)
        if talk is None:
            return []
        members = self.members.get(conversation, set())
        versions = [seen for tail in members if (seen := self.turns[tail].seen) is not None]
        needed = [
            entry
            for entry in talk.entries
            if (entry.dropped is None and not talk.removed)
            or any(entry.was_there(version) for version in versions)
        ]
        kept = {entry.position for entry in needed}
        tails = [entry.tail for entry in talk.entries if entry.position not in kept]
        self.entries.subtract(tails)
        talk.entries = needed
        if talk.removed and not needed:
            del self.talks[conversation]
            self.members.pop(conversation, None)
        return tails

    def is_needed(
        self, tail: str, lives: Callable[[KeptTurn], bool], is_there: Callable[[ConversationShelf], bool]
    ) -> bool:
        """Does a response that can be read, or a conversation, hold this one?"""
        doubtful, known = [tail], {tail}
        while doubtful:
            turn = self.turns.get(tail := doubtful.pop())
            if turn is not None and lives(turn):
                return True
            for talk in self.talks.values():
                held = [entry for entry in talk.entries if entry.tail == tail]
                if is_there(talk) and any(entry.dropped is None for entry in held):
                    return True
                later = {
                    member
                    for member in self.members.get(talk.conversation.id, ())
                    if (seen := self.turns[member].seen) is not None
                    and any(entry.was_there(seen) for entry in held)
                }
                doubtful += later - known
                known |= later
            more = self.children.get(tail, set()) - known
            doubtful += more
            known |= more
        return False
