"""A text that begins with an opener, until it is decided what it is.

Three questions can be open: does it stand in a code sample (a Doubt), is it markup of some format (a Candidate), and do
the marks around it say that it is only quoted (a Quotation)? Each gets every further piece by `extend`, which says
whether it is worth the cost to `decide` from the whole text. Formats are asked only at places that the text itself
defines, always about the text up to there and no further. Hence neither the answer nor the cost can depend on how the
text was cut.
"""

from dataclasses import dataclass
from enum import Enum, auto

from proxy.core.markup.code import CodeTracker
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tools
from proxy.core.markup.lookahead import Lookahead
from proxy.core.markup.openers import Readers

MAX_HELD = 1 << 20
"""Characters (1 MiB). No call that a model means is longer, and no client should wait longer for text that looks
like one."""
FIRST_ASK = 32
"""Characters after which the formats are asked first, and again each time the length has doubled: text about markup
is soon known to be text."""
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
    UNREAD = "unread"
    """Too many texts before it were read in vain."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The text is markup. Its calls have declared names."""

    length: int
    format: Format
    calls: tuple[Recovered, ...]


@dataclass(frozen=True, slots=True)
class Passed:
    """It is text, for at least so many characters."""

    length: int
    why: Why


@dataclass(frozen=True, slots=True)
class Settled:
    """The doubt is over, and the text has to be judged again where the opener stands."""

    ahead: Lookahead


QUOTES = {
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“",
    "”": "”",
    "‘": "’",
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "<code>": "</code>",
    "<pre>": "</pre>",
}
"""What opens a quotation, and what closes it."""

Decision = Taken | Passed | Settled | None
"""None means that more text is needed."""


class Doubt:
    """Is the opener in a code sample? The text that follows decides."""

    spent = 0
    """A doubt costs no reading of formats."""

    def __init__(self, tracker: CodeTracker, readers: Readers) -> None:
        self.readers = readers
        self._ahead = Lookahead(tracker)
        self._heard = 0

    def extend(self, piece: str) -> bool:
        self._ahead.feed(piece, 0, min(len(piece), MAX_HELD - self._heard))
        self._heard += len(piece)
        return self._ahead.found is not None or self._heard >= MAX_HELD

    def decide(self, text: str, start: int, end: End) -> Decision:
        length = len(text) - start
        if self._heard < length:
            self._ahead.feed(text, start + self._heard, min(len(text), start + MAX_HELD))
            self._heard = length
        if self._ahead.found is None and length >= MAX_HELD:
            return Passed(MAX_HELD, Why.CAPPED)
        if end is not End.OPEN:
            self._ahead.close()
        return None if self._ahead.found is None else Settled(self._ahead)


class Quotation:
    """A call between quotation marks that touch it is only mentioned. The mark before it is there; does the one
    behind follow?"""

    def __init__(self, taken: Taken, closer: str, readers: Readers, spent: int) -> None:
        self.readers = readers
        self.spent = spent
        self._taken = taken
        self._closer = closer

    def extend(self, _piece: str) -> bool:
        return True

    def decide(self, text: str, start: int, end: End) -> Decision:
        behind = text[start + self._taken.length :]
        if behind.startswith(self._closer):
            return Passed(self._taken.length, Why.QUOTED)
        return None if end is End.OPEN and self._closer.startswith(behind) else self._taken


class Candidate:
    """Is it a block? The formats are asked in their order; one that waits for more keeps the later ones waiting."""

    def __init__(self, readers: Readers, tools: Tools, before: str = "") -> None:
        self.readers = readers
        self.spent = 0
        """Characters that formats were asked to read."""
        self._tools = tools
        self._left = [one for one in readers.formats if one.behind is None or one.behind.search(before)]
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
        if not self._left:
            return Passed(1, Why.RELEASED)
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
            if verdict is MORE and not last:
                return None
            if isinstance(verdict, Block):
                if taken := self._taken(format, verdict):
                    return taken
                self._undeclared = self._undeclared or Passed(verdict.end, Why.UNDECLARED)
            elif verdict is MORE and passed is not None:
                return passed
            del self._left[0]
        return self._undeclared or Passed(1, Why.RELEASED)

    def _taken(self, format: Format, block: Block) -> Taken | None:
        calls = []
        for call in block.calls:
            name = self._tools.declared(call.name)
            if name is None:
                return None
            calls.append(Recovered(name, call.arguments))
        return Taken(block.end, format, tuple(calls))

    # ── when to ask ──

    def _next_ask(self, text: str, shift: int, within: int) -> int | None:
        """Returns the next length at which to ask the formats. `text` holds what begins at `shift`, as far as it is
        still needed.

        These lengths are the end of each closer, a little more (the text that follows may tell whether it was a
        closer), and each time the length has doubled.
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
                self._growth *= 2
                return length
            if self.spent <= READINGS * length + FREE_READINGS:
                return length
        self._searched = max(self._searched, within)
        return None
