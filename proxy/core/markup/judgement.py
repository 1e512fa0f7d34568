"""A whole block, until it is decided whether the call in it is meant.

Two questions can be open: does it stand in a code sample (a Doubt), and does what stands behind it say that it is only
quoted, or that more belongs to it (Behind)? Blocks with only blanks between them are judged together, as a Run: they
are quoted together. Each question gets every further piece by `extend`, which says whether it can be decided.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

from proxy.core.markup.candidate import MAX_HELD, End, Passed, Taken, Why
from proxy.core.markup.code import CodeTracker
from proxy.core.markup.lookahead import Lookahead
from proxy.core.markup.openers import Openers, Readers
from proxy.core.markup.quotation import MAX_BEHIND, MAX_BLANKS, Quotation
from proxy.core.markup.shapes import either, literal

_BRACKETED = ("[/TOOL_CALLS]", "[/TOOL_CALL]")
"""Closers that end like JSON."""
_HEARD = MAX_BEHIND + MAX_BLANKS
_TOKENS = either(literal("<|close|>argument<|sep|>"), literal("<|tool_arg:end|>"), literal("]<]minimax[>[</"))
_FORGED = re.compile(rf"</[^\s<>/]{{0,24}}(?:param|parameter|arg_value)\s{{0,8}}>|{_TOKENS.whole}")
_FORGED_BEGUN = re.compile(rf"(?:<(?:/[^\s<>/]{{0,40}}\s{{0,8}})?|{_TOKENS.begun})\Z")
"""Match the closer of a value, which nothing has opened. Behind several calls it shows that the text of the first held
all of them: whoever wrote that text must not be able to make calls."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The doubt is over."""

    ahead: Lookahead


class Doubt:
    """Does the block stand in a code sample? The text that follows its start decides."""

    flows, free = False, 0
    """Nothing may be given out before it is decided."""

    def __init__(self, tracker: CodeTracker, taken: Taken, readers: Readers, spent: int) -> None:
        self.taken = taken
        self.readers = readers
        self.spent = spent
        self._ahead = Lookahead(tracker)
        self._heard = 0

    def extend(self, piece: str) -> bool:
        self._ahead.feed(piece, 0, min(len(piece), MAX_HELD - self._heard))
        self._heard += len(piece)
        return self._ahead.found is not None or self._heard >= MAX_HELD

    def decide(self, text: str, start: int, end: End) -> Settled | Passed | None:
        length = len(text) - start
        if self._heard < length:
            self._ahead.feed(text, start + self._heard, min(len(text), start + MAX_HELD))
            self._heard = length
        if self._ahead.found is None and length >= MAX_HELD:
            return Passed(MAX_HELD, Why.CAPPED)
        if end is not End.OPEN:
            self._ahead.close()
        return None if self._ahead.found is None else Settled(self._ahead)


class Series:
    """Blocks with only blanks between them, of which it is open whether they are quoted."""

    __slots__ = ("blocks", "in_json", "length", "quotation")

    def __init__(self, before: str) -> None:
        self.quotation = Quotation(before)
        self.blocks: list[tuple[int, int, Taken]] = []
        """Where each begins and ends, from the start of the run."""
        self.length = 0
        self.in_json = False
        """Does the last block end with its JSON?"""

    def add(self, at: int, taken: Taken, markup: str) -> None:
        self.length = at + taken.length
        self.blocks.append((at, self.length, taken))
        self.in_json = markup.endswith(("}", "]")) and not markup.endswith(_BRACKETED)

    def lengthen(self, length: int) -> None:
        """Adds what is left over behind the last block."""
        at, _, taken = self.blocks[-1]
        self.length += length
        self.in_json = False
        self.blocks[-1] = (at, self.length, taken)


class Judgement(Enum):
    MEANT = auto()
    QUOTED = auto()


@dataclass(frozen=True, slots=True)
class Leftover:
    """So many characters more belong to the last block."""

    length: int


@dataclass(frozen=True, slots=True)
class Another:
    """Another opener stands so many characters behind the last block."""

    distance: int
    readers: Readers


Outcome = Judgement | Leftover | Another | None


class Behind:
    """What stands behind a run of blocks?"""

    flows, free = False, 0

    def __init__(self, run: Series, openers: Openers, *, last: bool = False) -> None:
        """`last`: is it known that no block follows?"""
        self._run = run
        self._openers = openers
        self._last = last
        self._text = ""
        self._outcome: Outcome = None
        run.quotation.follow()

    def extend(self, piece: str) -> bool:
        self._outcome = self._hear(piece, End.OPEN)
        return self._outcome is not None

    def decide(self, text: str, start: int, end: End) -> Outcome:
        if self._outcome is None:
            self._outcome = self._hear(text[start + len(self._text) : start + _HEARD], end)
        return self._outcome

    def _hear(self, piece: str, end: End) -> Outcome:
        piece = piece[: _HEARD - len(self._text)]
        self._text += piece
        self._run.quotation.extend(piece)
        visible = self._text.lstrip()
        growing, distance = end is End.OPEN, len(self._text) - len(visible)
        if distance <= MAX_BLANKS:
            if visible and (following := self._following(visible, distance, end)):
                return following
            if len(self._run.blocks) > 1 and _FORGED.match(visible):
                return Judgement.QUOTED
            if growing and (not visible or self._may_follow(visible)):
                return None
        quoted = self._run.quotation.verdict(in_json=self._run.in_json, ended=not growing)
        return None if quoted is None else Judgement.QUOTED if quoted else Judgement.MEANT

    def _following(self, visible: str, distance: int, end: End) -> Outcome:
        """Returns what belongs to the run: more of the last block, or another one."""
        format = self._run.blocks[-1][2].format
        for leftover in format.leftovers:
            if visible.startswith(leftover):
                return Leftover(distance + len(leftover))
        if end is End.WHOLE and (visible.rstrip() in format.openers or _is_begun(visible, format.leftovers)):
            return Leftover(distance + len(visible))
        if self._last or not (opener := self._openers.opener_at(visible, 0, end is End.OPEN)):
            return None
        return Another(distance, opener.readers) if opener.readers else None

    def _may_follow(self, visible: str) -> bool:
        """May this still become something that belongs to the run?"""
        format = self._run.blocks[-1][2].format
        if any(one.startswith(visible.rstrip()) for one in (*format.leftovers, *format.openers)):
            return True
        if len(self._run.blocks) > 1 and _FORGED_BEGUN.match(visible):
            return True
        return not self._last and self._openers.opener_at(visible, 0, True) is not None


def _is_begun(text: str, closers: tuple[str, ...]) -> bool:
    """Is this the start of a closer, as far as that can be nothing else?"""
    return len(text) > 1 and any(closer.startswith(text) for closer in closers)
