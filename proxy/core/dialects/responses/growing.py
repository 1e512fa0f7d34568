"""The items of a reply while they come, and to which of them an event belongs.

Servers disagree about what identifies an item: its id, its index in the output, both, a fresh id in each event, the
index 0 for all of them, or nothing. What an event names counts in this order: a known id, an index, the last item of
its kind. An event that nothing precedes begins an item of its own.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from proxy.core.dialects.responses.entries import MESSAGE, REASONING, SUMMARY, Json, Kind, Voice

MAX_PARTS = 1024
"""Parts of an item that are told apart."""

IDS = ("id", "call_id")
"""llama.cpp names a call by the second in its events."""


class GrowingText:
    """One text while it grows."""

    __slots__ = ("_length", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0

    def __bool__(self) -> bool:
        return self._length > 0

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def __str__(self) -> str:
        return "".join(self._pieces)

    def rest(self, whole: str) -> str | None:
        """What the whole text has beyond what was said; None if it says something else. It costs no more than to read
        the whole, however often it is asked."""
        if len(whole) < self._length:
            return None
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        said = self._pieces[0] if self._pieces else ""
        return whole[self._length :] if whole.startswith(said) else None


THOUGHT_AS_TEXT = (REASONING, MESSAGE)
"""Some servers have only one kind of text in their events: whose it is, the item's id tells."""


@dataclass(slots=True, eq=False)
class Growing:
    """One item."""

    kind: Kind | None
    """None for what is not read."""
    item: Json
    """As it was last seen as a whole."""
    call: int | None = None
    """The number of the call."""
    name: str | None = None
    """The name of the called tool, once it is known."""
    done: bool = False
    voice: Voice | None = None
    """The one in which a thought is told: there may be a summary beside it."""
    annotations: list[Any] = field(default_factory=list)
    """Those that came by themselves."""
    _said: dict[Voice, GrowingText] = field(default_factory=dict)
    """All that was said, in each voice."""
    _parts: dict[tuple[Voice, int], GrowingText] = field(default_factory=dict)
    """What was said by voice and number of the part."""
    _last: dict[Voice, GrowingText] = field(default_factory=dict)
    """In each voice the part that began last."""
    _announced: set[int] = field(default_factory=set)
    _over: bool = False
    """Has a part ended since the last one began?"""

    def said(self, voice: Voice) -> GrowingText:
        return self._said.setdefault(voice, GrowingText())

    def part(self, voice: Voice, number: Any) -> GrowingText:
        """Without a number it is the first part; in more parts than any model writes, the last.

        Some servers number the pieces of a part. So another number is another part only if that was announced, or the
        part before has ended; summaries alone have their numbers everywhere.
        """
        key = (voice, number if type(number) is int else 0)
        if (known := self._parts.get(key)) is not None:
            return known
        last = self._last.get(voice)
        follows = voice is SUMMARY or self._over or key[1] in self._announced
        return self._numbered(key, GrowingText() if last is None or follows else last)

    def whole(self, voice: Voice, number: Any, text: str) -> GrowingText:
        """The part that has this whole text at its end. The end may be told twice, by two numbers."""
        last = self._last.get(voice)
        key = (voice, number if type(number) is int else 0)
        if last and key not in self._parts and key[1] not in self._announced and last.rest(text) == "":
            return self._numbered(key, last)
        return self.part(voice, number)

    def announce(self, number: Any) -> None:
        """Another part is about to begin."""
        if type(number) is int and len(self._announced) < MAX_PARTS:
            self._announced.add(number)

    def end_part(self) -> None:
        self._over = True

    def _numbered(self, key: tuple[Voice, int], part: GrowingText) -> GrowingText:
        if len(self._parts) >= MAX_PARTS:
            key = (key[0], MAX_PARTS)
        if part is not self._last.get(key[0]):
            self._over = False
        part = self._last[key[0]] = self._parts.setdefault(key, part)
        return part


class Items:
    """All items of one reply, in the order in which they first came."""

    __slots__ = ("_by_id", "_by_index", "_open", "all")

    def __init__(self) -> None:
        self.all: list[Growing] = []
        self._by_id: dict[str, Growing] = {}
        self._by_index: dict[int, Growing] = {}
        self._open: dict[Kind | None, deque[Growing]] = {}
        """Items that may not be done yet, the oldest first."""

    def begin(self, kind: Kind | None, item: Json, index: Any) -> Growing:
        growing = Growing(kind, item)
        self.all.append(growing)
        self._open.setdefault(kind, deque()).append(growing)
        self.know(growing, item, index)
        return growing

    def know(self, growing: Growing, item: Json, index: Any) -> None:
        """Notes by what names the item goes."""
        for key in IDS:
            name = item.get(key)
            if isinstance(name, str) and name:
                self._by_id[name] = growing
        if type(index) is int:
            self._by_index[index] = growing

    def named(self, item: Json) -> Growing | None:
        """The item with one of this one's ids."""
        for key in IDS:
            name = item.get(key)
            if isinstance(name, str) and (found := self._by_id.get(name)):
                return found
        return None

    def at(self, index: Any) -> Growing | None:
        return self._by_index.get(index) if type(index) is int else None

    def announce_part(self, raw: Json) -> None:
        growing = self.named({"id": raw.get("item_id")}) or self.at(raw.get("output_index"))
        if growing is not None:
            growing.announce(raw.get("content_index"))

    def of_event(self, raw: Json, kind: Kind) -> Growing | None:
        """The item of this kind that an event is about."""
        name = raw.get("item_id")
        found = self._by_id.get(name) if isinstance(name, str) else None
        if found is not None and (found.kind is kind or (found.kind, kind) == THOUGHT_AS_TEXT):
            return found
        found = self.at(raw.get("output_index"))
        if found is not None and found.kind is kind and not found.done:
            return found
        return self._newest(kind)

    def of_item(self, item: Json, kind: Kind | None, index: Any) -> Growing | None:
        """The item that ends as this one."""
        found = self.named(item)
        if found is not None:
            return found if found.kind is kind else None
        for one in (self.at(index), self._oldest(kind), self._newest(kind)):
            if one is not None and one.kind is kind and not one.done and _may_be(one.item, item):
                return one
        return None

    def _newest(self, kind: Kind | None) -> Growing | None:
        waiting = self._open.get(kind)
        while waiting and waiting[-1].done:
            waiting.pop()
        return waiting[-1] if waiting else None

    def _oldest(self, kind: Kind | None) -> Growing | None:
        waiting = self._open.get(kind)
        while waiting and waiting[0].done:
            waiting.popleft()
        return waiting[0] if waiting else None


def _may_be(one: Json, other: Json) -> bool:
    """May these be the same item? Calls of two ids, or of two names, are not."""
    return all(
        one.get(key) == other.get(key) for key in ("call_id", "name") if one.get(key) and other.get(key)
    )
