"""What records in memory lie in, and the steps that several methods share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from proxy.core.jsontext import tight
from proxy.core.stored import endings
from proxy.core.stored.conversation import Entry
from proxy.core.stored.record import Record
from proxy.shell.stores.keys import WantedItems, items_of, tail_of
from proxy.shell.stores.memory.shelf import ConversationShelf, KeptTurn, Placed, TenantShelf
from proxy.shell.stores.protocol import Key, TooMuchKept
from proxy.shell.stores.shares import fair_level
from proxy.shell.stores.terms import BRIEF_SECONDS, LEASE_SECONDS, Clock, Keeping, always, lives_between


@dataclass(slots=True)
class OwnedRun:
    worker: str
    over: bool = False
    """Somebody else has ended it."""


class MemoryBase:
    def __init__(self, clock: Clock, keeping: Keeping, may_bury: Callable[[], bool] = always) -> None:
        self._clock = clock
        self._keeping = keeping
        self._may_bury = may_bury
        self._shelves: dict[str, TenantShelf] = {}
        self._runs: dict[Key, OwnedRun] = {}
        self._workers: dict[str, float] = {}
        self._bytes = 0

    def _date(self) -> int:
        return int(self._clock.date())

    def _shelf(self, tenant: str) -> TenantShelf:
        return self._shelves.setdefault(tenant, TenantShelf())

    # ── workers ──

    def _beat(self, worker: str) -> int:
        self._workers[worker] = self._clock.steady() + LEASE_SECONDS
        return sum(map(self._lives, self._workers))

    def _lives(self, worker: str) -> bool:
        after, most = lives_between(self._clock.steady())
        return after < self._workers.get(worker, after) <= most

    # ── turns ──

    def _turn(self, tenant: str, id: str) -> KeptTurn | None:
        """A response that can be read."""
        turn = self._shelf(tenant).turns.get(tail_of(id))
        return turn if turn is not None and turn.record.id == id and self._is_there(turn) else None

    def _settled(self, tenant: str, id: str) -> KeptTurn | None:
        """Returns what `_turn` does, after ending it if its worker is dead."""
        turn = self._turn(tenant, id)
        if turn is not None and not turn.record.is_final and self._may_bury():
            run = self._runs[Key(tenant, id)]
            if not self._lives(run.worker):
                self._end(tenant, turn, endings.orphaned(turn.record))
        return turn

    def _is_there(self, turn: KeptTurn) -> bool:
        seconds = self._keeping.response_seconds if turn.record.lasting else BRIEF_SECONDS
        return not turn.gone and (turn.ended is None or turn.ended > self._clock.date() - seconds)

    def _put(self, shelf: TenantShelf, turn: KeptTurn) -> None:
        turn.record = _tight(turn.record)
        shelf.put(turn)
        shelf.know_items(turn.record)
        self._bytes += turn.weight

    def _replace(self, turn: KeptTurn, record: Record) -> None:
        self._bytes -= turn.weight
        turn.record = _tight(record)
        self._bytes += turn.weight

    def _end(self, tenant: str, turn: KeptTurn, record: Record) -> None:
        """Ends work under way, and gives up its conversation; its worker will be told."""
        self._replace(turn, record)
        turn.ended = self._date()
        self._shelf(tenant).know_items(record)
        self._runs[Key(tenant, record.id)].over = True
        if talk := self._talk(tenant, record.conversation):
            self._unlock(talk, record.id)

    def _bury(self, shelf: TenantShelf, turn: KeptTurn) -> int:
        """Deletes a response; how many bytes fewer there are."""
        before = self._bytes
        turn.gone = True
        self._replace(turn, replace(turn.record, answer=b""))
        self._bytes -= shelf.tidy(tail_of(turn.record.id))
        return before - self._bytes

    def _make_room(self) -> int:
        """Deletes the oldest that have ended, of those who have most, until the rest fits with some room left; how
        many. With that room not every save has to look for the oldest."""
        deleted = 0
        enough = self._keeping.most_bytes * 15 // 16
        if self._bytes <= self._keeping.most_bytes:
            return deleted
        weights = {name: shelf.weight for name, shelf in self._shelves.items()}
        level = fair_level(weights.values(), enough)
        ended = sorted(
            (
                (turn.ended, name, turn)
                for name, shelf in self._shelves.items()
                for turn in shelf.turns.values()
                if turn.ended is not None and not turn.gone
            ),
            key=itemgetter(0),
        )
        for least in (level, 0):  # where nothing of theirs can be deleted, the oldest of all
            for _, name, turn in ended:
                if self._bytes <= enough:
                    return deleted
                if weights[name] > least and not turn.gone:
                    weights[name] -= self._bury(self._shelves[name], turn)
                    deleted += 1
        return deleted

    # ── items ──

    def _item_at(self, shelf: TenantShelf, item: str, wanted: WantedItems) -> tuple[str, bytes] | None:
        """Where an item is kept that somebody may still use, and the item."""
        for tail in shelf.candidates(item):
            if tail not in wanted.at:
                turn = shelf.turns.get(tail)
                usable = turn is not None and turn.record.lasting
                usable = usable and shelf.is_needed(tail, self._is_there, self._is_kept)
                wanted.read(tail, turn.record if turn is not None and usable else None)
            if item in wanted.at[tail]:
                return tail, wanted.at[tail][item]
        return None

    def _locate(self, shelf: TenantShelf, items: Sequence[str], record: Record) -> list[tuple[str, str]]:
        """Each item with the response that keeps it: this one, or another."""
        own, wanted = items_of(record), WantedItems(items)
        located = []
        for item in items:
            found = None if item in own else self._item_at(shelf, item, wanted)
            if found is None and item not in own:
                raise KeyError(item)
            located.append((item, tail_of(record.id) if found is None else found[0]))
        return located

    # ── conversations ──

    def _talk(self, tenant: str, id: str | None) -> ConversationShelf | None:
        talk = self._shelf(tenant).talks.get(id or "")
        return talk if talk is not None and self._is_kept(talk) else None

    def _is_kept(self, talk: ConversationShelf) -> bool:
        seconds = self._keeping.conversation_seconds
        return not talk.removed and (seconds is None or talk.touched > self._clock.date() - seconds)

    def _holder(self, talk: ConversationShelf, but: str = "") -> str:
        """The other response that works on it."""
        dead = self._may_bury() and not self._lives(talk.locked_by)
        return "" if dead or talk.lock_response == but else talk.lock_response

    def _free(self, tenant: str, talk: ConversationShelf, but: str = "") -> str:
        """Returns who works on it, for a caller that is about to change it. What a dead worker left is ended, so that
        it cannot come late."""
        holder = self._holder(talk, but)
        if not holder and talk.lock_response not in ("", but):
            self._settled(tenant, talk.lock_response)
            talk.locked_by = talk.lock_response = ""
        return holder

    def _lock(self, talk: ConversationShelf, worker: str, response: str) -> None:
        talk.locked_by, talk.lock_response = worker, response
        talk.touched = self._date()

    def _unlock(self, talk: ConversationShelf, response: str) -> None:
        if talk.lock_response == response:
            talk.locked_by = talk.lock_response = ""

    def _append(
        self, shelf: TenantShelf, talk: ConversationShelf, items: Iterable[tuple[str, str]]
    ) -> list[Placed]:
        """The new entries, without items that are there already."""
        there = {entry.item for entry in talk.visible}
        new = [(item, tail) for item, tail in dict(items).items() if item not in there]
        placed = [
            Placed(talk.last + n, item, tail, talk.version + 1) for n, (item, tail) in enumerate(new, 1)
        ]
        talk.last += len(placed)
        talk.entries += placed
        shelf.entries.update(entry.tail for entry in placed)
        talk.version += 1
        talk.touched = self._date()
        return placed

    def _entries_of(
        self, shelf: TenantShelf, placed: Iterable[Placed], most_bytes: float | None = None
    ) -> Sequence[Entry]:
        """`most_bytes`: of the records in which they lie; None: as much as may be read at a time."""
        kept = {}
        found, left = [], self._keeping.read_bytes if most_bytes is None else most_bytes
        for entry in placed:
            if entry.tail not in kept:
                record = shelf.turns[entry.tail].record
                left -= len(record.input) + len(record.output)
                if left < 0:
                    raise TooMuchKept
                kept[entry.tail] = items_of(record)
            found.append(Entry(entry.position, entry.item, kept[entry.tail][entry.item]))
        return found

    def _remove(self, shelf: TenantShelf, talk: ConversationShelf) -> None:
        talk.removed = True
        self._prune(shelf, talk)

    def _prune(self, shelf: TenantShelf, talk: ConversationShelf) -> None:
        for tail in shelf.prune(talk.conversation.id):
            self._bytes -= shelf.tidy(tail)


def _tight(record: Record) -> Record:
    return replace(
        record, answer=tight(record.answer), input=tight(record.input), output=tight(record.output)
    )
