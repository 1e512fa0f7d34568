"""A text that begins with an opener, until it is decided whether it is markup of some format.

It gets every further piece by `extend`, which says whether it is worth the cost to `decide` from the whole text.
Formats are asked only at places that the text itself defines, always about the text up to there and no further. Hence
neither the answer nor the cost can depend on how the text was cut.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from proxy.core.markup.formats import FOREIGN, Block, Format, Recovered, Tools, Waiting
from proxy.core.markup.openers import Readers

MAX_HELD = 1 << 20
"""Characters (1 MiB). No call that a model means is longer, and no client should wait longer for text that looks
like one."""
FIRST_ASK, STEP, OFTEN = 32, 16, 128
"""Characters after which the formats are asked first, and again after each step up to `OFTEN`, then each time the
length has doubled: text about markup is soon known to be text."""
SETTLED = 64
"""Characters behind a closer after which it was none."""
READINGS, FREE_READINGS = 8, 16_384
"""Formats are asked at a closer while the text that they have read in all is at most this many times what is held, and
this many characters more."""


class End(Enum):
    """How far the text has come."""

    OPEN = auto()
    WHOLE = auto()
    CUT = auto()
    """The text stops without having ended, so what is unfinished is text."""


class Why(Enum):
    """Why a text that began like markup stays text."""

    RELEASED = "released"
    UNDECLARED = "undeclared"
    CAPPED = "capped"
    QUOTED = "quoted"
    OMITTED = "omitted"
    """It stands in one block with calls that are meant, but no such tool is declared: it is neither text nor a call."""
    UNREAD = "unread"
    """Too many texts before it were read in vain."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The text is markup. Its calls have declared names."""

    length: int
    format: Format
    calls: tuple[Recovered, ...]
    omitted: int = 0
    """Calls in it whose names are not declared."""
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Passed:
    """It is text, for at least so many characters."""

    length: int
    why: Why
    format: Format | None = None
    """The one that could read it, if any could."""


Decision = Taken | Passed | None
"""None means that more text is needed."""


class Candidate:
    """Is it a block? The formats are asked in their order; one that waits for more keeps the later ones waiting."""

    def __init__(self, readers: Readers, tools: Tools, formats: Iterable[Format] | None = None) -> None:
        """`formats` are those that may begin here, if not all of them."""
        self.readers = readers
        self.spent = 0
        """Characters that formats were asked to read."""
        self.foreign = False
        """Does the text call no declared tool? Then it stays text, and what is read on for is only where it ends."""
        self.flows = False
        """May all of it be given out as it comes?"""
        self.free = 0
        """Otherwise, so many characters may."""
        self._tools = tools
        self._left = list(readers.formats if formats is None else formats)
        self._undeclared: Passed | None = None
        self._heard = 0
        self._tail = ""
        self._due: int | None = None
        self._searched = 0
        self._growth = FIRST_ASK
        self._closer = 0
        self._after_closer = 0

    def extend(self, piece: str) -> bool:
        window = self._tail + piece
        shift = len(self._tail) - self._heard
        self._heard += len(piece)
        self._tail = window[-self.readers.reach :] if self.readers.reach else ""
        self._due = self._next_ask(window, shift, min(self._heard, MAX_HELD))
        return self._due is not None or self._heard >= MAX_HELD

    def decide(self, text: str, start: int, end: End) -> Decision:
        length = len(text) - start
        within = min(length, MAX_HELD)
        due, self._due = self._due, None
        while (due := due or self._next_ask(text, start, within)) is not None:
            if outcome := self._ask(text[start : start + due]):
                return outcome
            due = None
        if length >= MAX_HELD:
            return self._ask(text[start : start + within], last=True, passed=Passed(within, Why.CAPPED))
        if end is not End.OPEN:
            return self._ask(text[start:], ended=end is End.WHOLE, last=True)
        self._heard = length
        self._tail = text[max(start, len(text) - self.readers.reach) :] if self.readers.reach else ""
        return None

    # ── asking ──

    def _ask(
        self, text: str, *, ended: bool = False, last: bool = False, passed: Passed | None = None
    ) -> Decision:
        self.spent += len(text)
        while self._left:
            format = self._left[0]
            verdict = format.read(text, 0, ended, self._tools)
            if isinstance(verdict, Waiting) and not last:
                if self.foreign or verdict is FOREIGN:
                    self._let_flow(len(text))
                return None
            if self.foreign:
                end = verdict.end if isinstance(verdict, Block) else 0
                return Passed(max(end, self._flown(len(text))), Why.UNDECLARED, format)
            if isinstance(verdict, Block):
                if taken := self._taken(format, verdict):
                    return taken
                self._undeclared = self._undeclared or Passed(verdict.end, Why.UNDECLARED, format)
            elif isinstance(verdict, Waiting) and passed is not None:
                return passed
            del self._left[0]
        return self._undeclared or Passed(1, Why.RELEASED)

    def _flown(self, length: int) -> int:
        """Returns how much was given out when so much is known."""
        return length if self.flows or not self.foreign else self.free

    def _let_flow(self, length: int) -> None:
        """Lets the text flow, but not what follows a closer closely: it may be the start of a call that is meant."""
        self.free = self._flown(length)
        self.foreign = True
        self.flows = not self._closer or length - self._closer >= SETTLED
        if self.flows:
            self.free = length

    def _taken(self, format: Format, block: Block) -> Taken | None:
        calls = [
            Recovered(name, call.arguments)
            for call in block.calls
            if (name := self._tools.declared(call.name)) is not None
        ]
        if block.calls and not calls:
            return None
        omitted = len(block.calls) - len(calls)
        return Taken(block.end, format, tuple(calls), omitted, block.doubtful)

    # ── when to ask ──

    def _next_ask(self, text: str, shift: int, within: int) -> int | None:
        """Returns the next length at which to ask the formats. `text` holds what begins at `shift`, as far as it is
        still needed.

        These lengths are the end of each closer, a little more (the text that follows may tell whether it was a
        closer), and those at which `FIRST_ASK` says so.
        """
        while self._searched < within:
            settling = self._closer + self._after_closer if self._after_closer else self._growth
            length = min(self._growth, settling)
            closer = self.readers.closed and self.readers.closed.search(
                text, max(0, shift + self._searched), shift + min(length, within)
            )
            if closer:
                length = closer.end() - shift
                self._closer, self._after_closer = length, 1
            elif length > within:
                break
            elif length == settling:
                self._after_closer *= 2
            self._searched = length
            if length == self._growth:
                self._growth += STEP if self._growth < OFTEN else self._growth
                return length
            if self.spent <= READINGS * length + FREE_READINGS:
                return length
        self._searched = max(self._searched, within)
        return None
