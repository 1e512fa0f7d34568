"""Finds markup in a text that comes in pieces, and gives out text and blocks in their order.

It holds back only a suffix that can still become an opener, and what stands behind an opener until it is decided what
it is (`candidate`) and whether it is meant (`judgement`). What turns out to be no markup is text again from the opener
on, and is searched right behind it. The outcome depends on the text alone, never on its pieces, and the work is linear
in it: the scanner counts what formats read in vain, and while that is out of proportion, openers are text without being
asked about.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proxy.core.markup import bodies
from proxy.core.markup.candidate import Candidate, End, Passed, Taken, Why
from proxy.core.markup.code import CodeTracker, Where
from proxy.core.markup.formats import Format, Recovered, Tools
from proxy.core.markup.judgement import Another, Behind, Doubt, Judgement, Leftover, Outcome, Series, Settled
from proxy.core.markup.openers import Opener, Openers, Readers
from proxy.core.markup.quotation import within

WASTE, FREE_WASTE = 2, 1 << 20
"""Failed candidates may cost so many characters of reading for each character of text, and this many at first."""
ATTEMPT = 1024
"""The price of a failed candidate, besides what was read."""
MAX_UNREAD = 16 * 1024
"""Characters that may wait for the code tracker, so that it never has to read a whole book at once."""
_ANYTHING = re.compile("")


@dataclass(frozen=True, slots=True)
class Found:
    """One block, taken out of the text."""

    format: Format
    calls: tuple[Recovered, ...]
    markup: str


Attempt = Candidate | Doubt | Behind
Sure = Sequence[str | Found]
"""Texts, never empty, and blocks, in their order."""


class Scanner:
    def __init__(self, openers: Openers, tools: Tools, count: Callable[[Why, Format], None]) -> None:
        """`count` gets the fate of every text that only looked like a block."""
        self._openers = openers
        self._tools = tools
        self._count = count
        self._code = CodeTracker()
        self._begun = not openers.first
        """Did anything visible come, or does nothing depend on it?"""
        self._spot = openers.begun.search if self._begun else _ANYTHING.search
        """Returns a match where a piece holds an opener, or ends with the beginning of one."""
        self._unread: list[str] = []
        """Pieces that the code tracker has not read yet: while nothing looks like markup, it need not."""
        self._unread_size = 0
        self._wasted = 0
        self._held: list[str] = []
        self._attempt: Attempt | None = None
        """What is open about the held text. None if it is only a suffix."""
        self._run: Series | None = None
        """The blocks that the held text begins with."""
        self._later: tuple[Candidate, int] | None = None
        """The attempt to go on with when the run is over, and where it begins."""
        # places in the held text
        self._at = 0
        """Where the attempt begins."""
        self._run_at = 0
        self._passed = 0
        """Where the text ends that stands behind the run, and is no block."""
        self._given = 0
        """Where the text ends that was given out already."""
        self._read = 0
        """Where the text ends that the code tracker has read."""
        self._out: list[str | Found] = []

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def feed(self, piece: str) -> Sure:
        """Returns what is certain by now."""
        self._held.append(piece)
        if self._attempt is None or self._attempt.extend(piece):
            return self._scan(End.OPEN)
        if not self._attempt.flows:
            return ()
        self._given += len(piece)
        return (piece,)

    def flush(self, end: End) -> Sure:
        """Returns the rest: nothing will come that belongs to the held text, though the text may go on after
        something else."""
        return self._scan(end) if self._held else ()

    # ── one pass over all that is held ──

    def _scan(self, end: End) -> Sure:
        text = "".join(self._held)
        self._held.clear()
        while self._step(text, end):
            pass
        start = self._run_at if self._run else self._at
        self._give(text, self._free(text, start))
        self.passed(text[self._read : start])
        if start < len(text):
            self._held.append(text[start:])
        self._at, self._run_at, self._passed = self._at - start, 0, self._passed - start
        self._given, self._read = self._given - start, max(0, self._read - start)
        if self._later:
            self._later = self._later[0], self._later[1] - start
        out, self._out = self._out, []
        return out

    def _step(self, text: str, end: End) -> bool:
        """Goes on by one decision, if there is one to make."""
        match self._attempt:
            case None:
                return self._begin(text, end)
            case Behind() as behind:
                following = behind.decide(text, self._at, end)
                if following is not None:
                    self._on_behind(following, text)
                return following is not None
            case Doubt() as doubt:
                settled = doubt.decide(text, self._at, end)
                if isinstance(settled, Settled):
                    settled.ahead.teach(self._code)
                    self._judge(doubt, doubt.taken, text)
                elif settled:
                    self._pass(doubt, settled)
                return settled is not None
            case candidate:
                return self._on_candidate(candidate, text, end)

    def _on_candidate(self, candidate: Candidate, text: str, end: End) -> bool:
        outcome = candidate.decide(text, self._at, end)
        if isinstance(outcome, Passed):
            self._pass(candidate, outcome)
        elif outcome:
            self._judge(candidate, outcome, text)
        elif candidate.foreign and self._run:
            self._postpone(candidate)
        else:
            return False
        return True

    def _free(self, text: str, start: int) -> int:
        """Returns how far the text may be given out."""
        if self._attempt is None or self._run:
            return start
        return len(text) if self._attempt.flows else start + self._attempt.free

    def _give(self, text: str, until: int) -> None:
        if self._given < until:
            self._out.append(text[self._given : until])
            self._given = until

    # ── openers ──

    def _begin(self, text: str, end: End) -> bool:
        """Goes to the next opener that may be meant, or to where a suffix may become one."""
        growing = end is End.OPEN
        opener = self._first_opener(text, growing) or self._openers.find(text, self._at, growing)
        if opener is None:
            self._at = len(text)
            return False
        self._at = opener.start
        if opener.readers is None:
            return False
        if (ahead := self._in_vain()) > 0:
            self._count(Why.UNREAD, opener.readers.formats[0])
            self._at = min(len(text), self._at + ahead)
        elif not self._attempt_here(text, opener.readers):
            self._at += 1
        return True

    def _first_opener(self, text: str, growing: bool) -> Opener | None:
        """Returns what the reply begins with, if that is an opener only there."""
        if self._begun:
            return None
        visible = bodies.after_blank(text, self._at)
        opener = self._openers.first_at(text, visible, growing)
        if visible < len(text) and not (opener and opener.readers is None):
            self._begun = True
            self._spot = self._openers.begun.search
        return opener

    def _in_vain(self) -> int:
        """Returns for how many characters from here openers are text, because too much was read for nothing."""
        self._catch_up()
        return -(-(self._wasted - FREE_WASTE) // WASTE) - (self._code.at + self._at - self._read)

    def _attempt_here(self, text: str, readers: Readers) -> bool:
        """Begins an attempt. False in a code sample, and where no format can begin."""
        self._code.feed(text, self._read, self._at)
        self._read = self._at
        if self._code.where() is Where.INSIDE:
            return False
        before = self._code.before()
        formats = [one for one in readers.formats if one.behind is None or one.behind.search(before)]
        if formats:
            self._attempt = Candidate(readers, self._tools, formats)
        return bool(formats)

    # ── blocks ──

    def _judge(self, attempt: Candidate | Doubt, taken: Taken, text: str) -> None:
        where, before = self._code.where(), self._code.before()
        if where is Where.DOUBT:
            self._attempt = Doubt(self._code, taken, attempt.readers, attempt.spent)
        elif where is Where.INSIDE:
            self._pass(attempt, Passed(1, Why.QUOTED, taken.format))
        elif within(before, taken.calls, taken.doubtful):
            self._pass(attempt, Passed(taken.length, Why.QUOTED, taken.format))
        else:
            self._add(before, taken, text)

    def _add(self, before: str, taken: Taken, text: str) -> None:
        if self._run is None:
            self._run, self._run_at = Series(before if taken.calls else ""), self._at
        until = self._at + taken.length
        self._run.add(self._at - self._run_at, taken, text[self._at : until])
        self._code.skip(taken.length)
        self._at = self._read = self._passed = until
        self._attempt = Behind(self._run, self._openers)

    def _on_behind(self, outcome: Outcome, text: str) -> None:
        assert self._run is not None
        if isinstance(outcome, Leftover):
            self._run.lengthen(outcome.length)
            self._code.skip(outcome.length)
            self._at = self._read = self._passed = self._at + outcome.length
            self._attempt = Behind(self._run, self._openers)
        elif isinstance(outcome, Another):
            self._at += outcome.distance
            if not self._attempt_here(text, outcome.readers):
                self._end_of_run()
        else:
            self._release_run(self._run, outcome is Judgement.MEANT, text)

    def _end_of_run(self) -> None:
        """Decides about the run alone, since no block follows it."""
        assert self._run is not None
        self._at = self._run_at + self._run.length
        self._attempt = Behind(self._run, self._openers, last=True)

    def _postpone(self, candidate: Candidate) -> None:
        """Decides about the run first, since the text behind it need not wait."""
        self._later = candidate, self._at
        self._end_of_run()

    def _release_run(self, run: Series, meant: bool, text: str) -> None:
        for begin, end, taken in run.blocks:
            if meant:
                self._give(text, self._run_at + begin)
                self._given = self._run_at + end
                self._out.append(Found(taken.format, taken.calls, text[self._run_at + begin : self._given]))
                for _ in range(taken.omitted):
                    self._count(Why.OMITTED, taken.format)
            else:
                self._count(Why.QUOTED, taken.format)
                self._wasted += end - begin + ATTEMPT
        self._run, self._attempt, self._at = None, None, self._passed
        if self._later:
            (self._attempt, self._at), self._later = self._later, None

    def _pass(self, attempt: Candidate | Doubt, outcome: Passed) -> None:
        self._attempt = None
        self._count(outcome.why, outcome.format or attempt.readers.formats[0])
        self._wasted += attempt.spent + ATTEMPT
        self._at += outcome.length
        if self._run:
            self._passed = self._at
            self._end_of_run()

    # ── what needs no look ──

    def passes(self, piece: str) -> bool:
        """Passes a piece that need not be fed: the scanner holds nothing. False if there may be an opener in it."""
        if self._spot(piece) is not None:
            return False
        self.passed(piece)
        return True

    def passed(self, text: str) -> None:
        """Takes note of text that was passed on because there is no opener in any of its pieces."""
        self._unread.append(text)
        self._unread_size += len(text)
        if self._unread_size > MAX_UNREAD:
            self._catch_up()

    def _catch_up(self) -> None:
        if self._unread:
            self._code.feed("".join(self._unread))
            self._unread.clear()
            self._unread_size = 0
