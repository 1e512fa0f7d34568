"""Tracks where in a growing text the code samples are, by the rules of CommonMark: calls in them are quoted, never
meant.

Fenced blocks and inline code spans count. Indented code does not: models indent calls that they mean. Headings, list
items and blank lines end a paragraph. A run of backticks that is open then is never closed.

A fence is known from its line. A span is not: the text that follows, up to the end of the paragraph, decides whether a
run of backticks opens one. So the answer to "is this code?" can be DOUBT, and a Lookahead reads on until it is settled.
The tracker learns what the lookahead found, so that no paragraph is read ahead twice for the same reason.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

LINE_HEAD = 256
"""Characters of a line that are kept to recognise what it begins. The patterns below ask for less."""
CONTEXT = 2048
"""Characters in which the list item is looked for that an indented fence belongs to."""
MIN_FENCE, MAX_FENCE = 3, 128
TAB = 4

_INFO = re.compile(r"[ \t]{0,8}[\w.+#-]{0,32}[ \t\r]{0,8}")
"""What may stand behind backticks that open a fence behind words: one word."""

_RUN = re.compile(r"`+|~+")
_TICKS = re.compile(r"``*")
"""Nearly no text has tildes. Where only one character can begin a match, Python finds it fifty times as fast."""
_BODY = "x"
"""Stands for the head of a line that can begin nothing any more."""
_BLOCK = "\0"
"""Stands for what is no text at the head of a line."""

_FENCE_HEAD = re.compile(
    r"(?P<quote>(?: {0,3}>)+ ?)?(?P<indent>[ \t]*)(?P<item>(?:(?:[-+*]|\d{1,9}[.)])[ \t]{1,4})*)"
)
_LIST_ITEM = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+")
_BREAK = re.compile(
    r"""^(?:
        [ \t>]{0,200}\r?\n                                       # a blank line, also in a quote
      | [ \t>]{0,16}(?:
            \#{1,6}[ \t\r\n]                                     # a heading
          | (?:[-+*]|\d{1,9}[.)])[ \t]                           # a list item
          | =[= \t]{0,100}\r?\n                                  # the line under a heading
          | (?:-[ \t]*){1,60}\r?\n                                 # a line across
          | (?:(?:_[ \t]*){3,60}|(?:\*[ \t]*){3,60})\r?\n
        )
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""Matches a line that ends the paragraph before it."""


class Info(NamedTuple):
    """Backticks that open a fence, unless their line goes on in another way."""

    length: int
    indent: int
    at: int
    """Where they end."""
    behind: str | None = None
    """What follows them so far, if words stand before them in their line. CommonMark knows no such fence, but models
    write it."""


class Where(Enum):
    OUTSIDE = auto()
    INSIDE = auto()
    DOUBT = auto()


class Foreseen(Enum):
    """What a lookahead can find, besides a run that closes."""

    END_OF_PARAGRAPH = auto()
    FENCE = auto()
    NO_FENCE = auto()


class Closes(int):
    """An open run of this length is closed."""

    @property
    def length(self) -> int:
        return int(self)


class CodeTracker:
    """Gets the text, each character once, and answers between characters."""

    __slots__ = (
        "_closer",
        "_context",
        "_head",
        "_info",
        "_known_until",
        "_last",
        "_open",
        "_run",
        "_sure",
        "at",
    )

    def __init__(self) -> None:
        self.at = 0
        """Characters that were read."""
        self._closer: re.Pattern[str] | None = None
        """Matches the end of the fenced block. None outside of one."""
        self._info: Info | None = None
        self._open: dict[int, None] = {}
        """Lengths of the open runs of backticks, oldest first. Each counts only if none before it is closed."""
        self._sure = 0
        """A length among them that is known to be closed later."""
        self._known_until = 0
        """The paragraph was read ahead up to here."""
        self._last: dict[int, int] = {}
        """Where a run of each length stands last in it."""
        self._head = ""
        """The current line so far, or _BODY."""
        self._run = ""
        """The backticks or tildes that the text ended with; there may be more."""
        self._context = ""

    # ── asking ──

    def where(self) -> Where:
        """Says where the next character stands, which is no backtick, no tilde, and begins no word."""
        self._end_run()
        if self._info is not None and self._info.behind is not None:
            self._end_info()
        if self._closer is not None:
            return Where.INSIDE
        if self._info is not None:
            return Where.DOUBT
        if not self._open:
            return Where.OUTSIDE
        return Where.INSIDE if self._sure in self._open else Where.DOUBT

    def skip(self, length: int) -> None:
        """Passes so many characters that are no text: a line with them is not blank, and begins nothing."""
        self.at += length
        self._head = _BLOCK
        self._remember(_BODY)

    def before(self) -> str:
        """Returns the latest text, without what stood in fences."""
        return self._context

    def learn(self, found: Foreseen | Closes, until: int, last: dict[int, int]) -> None:
        """Takes over what a lookahead from here has found, how far it has read, and where runs of each length stood
        last."""
        if isinstance(found, Closes):
            self._sure = found.length
        elif found is Foreseen.FENCE:
            assert self._info is not None
            self._open_fence("`", self._info.length, self._info.indent)
        elif found is Foreseen.NO_FENCE:
            self._end_info()
        else:
            self._end_paragraph()
            self._known_until, self._last = until, last

    # ── reading ──

    def feed(self, text: str, start: int = 0, end: int | None = None) -> None:
        end = len(text) if end is None else end
        at = start
        next_run = (_TICKS if text.find("~", start, end) < 0 else _RUN).search
        while at < end and not self._settled():
            if self._closer is not None:
                at = self._read_fenced(text, at, end)
                continue
            run = next_run(text, at, end)
            run_at = end if run is None else run.start()
            if self._run and (run is None or at < run_at or run[0][0] != self._run[0]):
                self._end_run()  # what follows may be another matter now
            elif at < run_at:
                at = self._read_plain(text, at, run_at)
            else:
                assert run is not None
                self._run += run[0]
                at = run.end()
                self.at += at - run_at

    def _settled(self) -> bool:
        """Is there nothing left to read for?"""
        return False

    def _read_plain(self, text: str, start: int, end: int) -> int:
        if (info := self._info) is not None:
            newline = text.find("\n", start, end)
            stop = end if newline < 0 else newline
            if info.behind is not None:
                info = info._replace(behind=info.behind + text[start : min(stop, start + LINE_HEAD)])
                if not _INFO.fullmatch(info.behind or ""):
                    self._end_info()
                    return start
                self._info = info
            if newline >= 0:
                self._advance(text[start:newline])
                self._open_fence("`", info.length, info.indent)
                return newline
        self._advance(text[start:end])
        return end

    def _advance(self, plain: str) -> None:
        line = self._head + plain
        if self._open and _BREAK.search(line):
            self._end_paragraph()
        self._set_head(line)
        self._remember(plain)
        self.at += len(plain)

    def _set_head(self, lines: str) -> None:
        start = lines.rfind("\n") + 1
        self._head = lines[start:] if len(lines) - start <= LINE_HEAD else _BODY

    def _remember(self, text: str) -> None:
        self._context = (self._context + text[-CONTEXT:])[-CONTEXT:]

    def _read_fenced(self, text: str, start: int, end: int) -> int:
        assert self._closer is not None
        after = text.find("\n", start, end) + 1 or end
        if not self._closer.match(self._head + text[start:after]):
            found = self._closer.search(text, after, end)
            if found is None:
                self._set_head(self._head + text[start:end])
                self.at += end - start
                return end
            after = found.end()
        self._closer = None
        self._head = ""
        self._remember("\n")
        self.at += after - start
        return after

    def _end_run(self) -> None:
        """Handles a run that is complete: it opens a fence, opens or closes a span, or is nothing."""
        if not (run := self._run):
            return
        self._run = ""
        head, self._head = self._head, _BODY
        if len(run) >= MIN_FENCE and (indent := self._fence_indent(head)) is not None:
            if run[0] == "~":
                self._open_fence("~", len(run), indent)
            else:
                self._info = Info(len(run), indent, self.at)
        elif run[0] == "`":
            if self._info is not None:
                self._end_info()
            if len(run) >= MIN_FENCE and len(run) not in self._open and self._may_begin_behind(head):
                self._info = Info(len(run), LINE_HEAD, self.at, "")
            else:
                self._tick(len(run), len(run) - self._is_escaped(), self.at)
        self._remember(run)

    def _is_escaped(self) -> bool:
        before = self._context
        return (len(before) - len(before.rstrip("\\"))) % 2 == 1

    def _may_begin_behind(self, head: str) -> bool:
        """May a fence begin behind this head of a line?"""
        return bool(head.strip()) and head != _BLOCK and not self._is_escaped()

    # ── inline ──

    def _tick(self, closes: int, opens: int, at: int) -> None:
        """Counts a run of backticks. A backslash keeps it from opening a span, not from closing one."""
        if closes in self._open:
            while self._open.popitem()[0] != closes:
                pass
        elif opens and opens not in self._open:
            if at <= self._known_until:
                if self._last.get(opens, 0) <= at:
                    return
                if self._sure not in self._open:
                    self._sure = opens
            self._open[opens] = None

    def _end_info(self) -> None:
        """Counts backticks at the head of a line that open no fence like any other run."""
        assert self._info is not None
        info, self._info = self._info, None
        self._tick(info.length, info.length, info.at)

    def _end_paragraph(self) -> None:
        self._open.clear()

    # ── fences ──

    def _fence_indent(self, head: str) -> int | None:
        """Returns the indent of what a fence after this head of a line would belong to. None if no fence can stand
        here."""
        found = _FENCE_HEAD.fullmatch(head)
        if found is None:
            return None
        width = _width(found["indent"])
        if width < TAB:
            return width + len(found["item"]) if found["item"] else 0
        return self._list_indent(width)

    def _list_indent(self, width: int) -> int | None:
        """Returns the indent of the list item above whose text begins where a fence of this indent may stand."""
        above = self._context[: self._context.rfind("\n") + 1]
        for line in reversed(above.splitlines()):
            if item := _LIST_ITEM.match(line):
                inner = _width(item[0])
                if inner <= width < inner + TAB:
                    return inner
            if line[:1].strip():
                return None
        return None

    def _open_fence(self, char: str, length: int, indent: int) -> None:
        self._info = None
        self._end_paragraph()
        self._closer = re.compile(
            rf"^(?:(?: {{0,3}}>){{1,8}} {{0,4}}| {{0,{min(indent, LINE_HEAD // 4) + 3}}})"
            rf"{char}{{{min(length, MAX_FENCE)},{MAX_FENCE}}}[ \t]{{0,32}}\r?\n",
            re.MULTILINE,
        )


def _width(blanks: str) -> int:
    return len(blanks.expandtabs(TAB))
