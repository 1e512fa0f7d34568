"""Finds markup in a text that comes in pieces, and gives out text and blocks in their order.

It holds back only a suffix that can still become an opener, and what stands behind an opener until that is decided
(`candidate`). What turns out to be no markup is text again from the opener on, and is searched right behind it. The
outcome depends on the text alone, never on its pieces, and the work is linear in it: the scanner counts what formats
read in vain, and while that is out of proportion, openers are text without being asked about.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proxy.core.markup.candidate import QUOTES, Candidate, Doubt, End, Passed, Quotation, Settled, Taken, Why
from proxy.core.markup.code import CodeTracker, Where
from proxy.core.markup.formats import Format, Recovered, Tools
from proxy.core.markup.openers import Openers, Readers

WASTE, FREE_WASTE = 2, 1 << 20
"""Failed candidates may cost so many characters of reading for each character of text, and this many at first."""
ATTEMPT = 1024
"""The price of a failed candidate, besides what was read."""
UNREAD_PIECES = 1024
"""Pieces that may wait for the code tracker, so that it never has to read a whole book at once."""


@dataclass(frozen=True, slots=True)
class Found:
    """One block, taken out of the text."""

    format: Format
    calls: tuple[Recovered, ...]
    markup: str


Sure = Sequence[str | Found]
"""Texts, never empty, and blocks, in their order."""


Attempt = Doubt | Candidate | Quotation


class Scanner:
    def __init__(self, openers: Openers, tools: Tools, count: Callable[[Why, Format], None]) -> None:
        """`count` gets the fate of every text that only looked like a block."""
        self._openers = openers
        self._tools = tools
        self._count = count
        self._code = CodeTracker()
        self.spot = openers.begun.search
        """Returns a match where a piece holds an opener, or ends with the beginning of one."""
        self._unread: list[str] = []
        """Pieces that the code tracker has not read yet: while nothing looks like markup, it need not."""
        self._read = 0
        """Characters of the current text that the code tracker has read."""
        self._wasted = 0
        self._held: list[str] = []
        self._attempt: Attempt | None = None
        """What is known of the held text. None if it is only a suffix."""

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def feed(self, piece: str) -> Sure:
        """Returns what is certain by now."""
        self._held.append(piece)
        if self._attempt is None or self._attempt.extend(piece):
            return self._scan(End.OPEN)
        return ()

    def flush(self, end: End) -> Sure:
        """Returns the rest: nothing will come that belongs to the held text, though the text may go on after
        something else."""
        return self._scan(end) if self._held else ()

    # ── one pass over all that is held ──

    def _scan(self, end: End) -> Sure:
        out: list[str | Found] = []
        text = "".join(self._held)
        self._held.clear()
        attempt, self._attempt = self._attempt, None
        done = at = self._read = 0
        while True:
            if attempt is None:
                at, attempt = self._next_attempt(text, at, end)
            if attempt is None or (outcome := attempt.decide(text, at, end)) is None:
                break
            if isinstance(attempt, Candidate) and isinstance(outcome, Taken) and (closer := self._quoted()):
                attempt = Quotation(outcome, closer, attempt.readers, attempt.spent)
                continue
            if isinstance(outcome, Settled):
                outcome.ahead.teach(self._code)
            elif isinstance(outcome, Passed):
                self._count(outcome.why, attempt.readers.formats[0])
                self._wasted += attempt.spent + ATTEMPT
                at += outcome.length
            else:
                if done < at:
                    out.append(text[done:at])
                done = self._read = at + outcome.length
                self._code.skip(outcome.length)
                out.append(Found(outcome.format, outcome.calls, text[at:done]))
                at = done
            attempt = None
        self.pass_by(text[self._read : at])
        if done < at:
            out.append(text[done:at])
        if at < len(text):
            self._held.append(text[at:])
            self._attempt = attempt
        return out

    def _next_attempt(self, text: str, at: int, end: End) -> tuple[int, Attempt | None]:
        """Returns where the next opener stands that may be meant; or, without an attempt, where a suffix may become
        one."""
        growing = end is End.OPEN
        while opener := (self._openers.begun if growing else self._openers.whole).search(text, at):
            at = opener.start()
            if growing and opener.end() == len(text) and self._openers.may_grow(opener[0]):
                return at, None
            readers = self._openers.readers(opener[0])
            if (ahead := self._in_vain(at)) > 0:
                self._count(Why.UNREAD, readers.formats[0])
                at += ahead
            elif attempt := self._attempt_at(text, at, readers):
                return at, attempt
            else:
                at += 1
        return len(text), None

    def _in_vain(self, at: int) -> int:
        """Returns for how many characters from here openers are text, because too much was read for nothing."""
        self._catch_up()
        return -(-(self._wasted - FREE_WASTE) // WASTE) - (self._code.at + at - self._read)

    def _attempt_at(self, text: str, at: int, readers: Readers) -> Attempt | None:
        """Begins an attempt. None in a code sample."""
        self._code.feed(text, self._read, at)
        self._read = at
        where = self._code.where()
        if where is Where.INSIDE:
            return None
        if where is Where.DOUBT:
            return Doubt(self._code, readers)
        return Candidate(readers, self._tools, self._code.before())

    def _quoted(self) -> str | None:
        """Returns what has to stand behind a block for it to be quoted. The code tracker has read all before the
        block."""
        before = self._code.before()
        return next((closer for opener, closer in QUOTES.items() if before.endswith(opener)), None)

    def pass_by(self, piece: str) -> None:
        """Passes a piece that need not be fed, because the scanner holds nothing and the piece holds no opener."""
        self._unread.append(piece)
        if len(self._unread) > UNREAD_PIECES:
            self._catch_up()

    def _catch_up(self) -> None:
        if self._unread:
            self._code.feed("".join(self._unread))
            self._unread.clear()
