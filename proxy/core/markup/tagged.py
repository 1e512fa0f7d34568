"""The reader shared by the formats that write a call as tags around its parameters.

They differ in how the tags are spelled, and in nothing else: an optional wrapper, calls in it, parameters in a call,
text in a parameter. The hard part is where a value ends, because a value may itself hold tags (a file about tool
calls, an example) and because models forget closers. Three rules decide it:

* a closer ends what it closes only if markup that may follow it does follow, or the text ends;
* a call inside a value is a sample: up to its own closer it is data;
* if the text ends and these samples never ended, there were none, and the text is read once more without that rule.

No tag of the grammar may get into a value because a closer is missing. Where a value holds a parameter that the tool
does not have, or a piece of one, that has to have its own closer, and so has the value; else the text is no block. A
value that holds what would have ended it, and words behind that, makes the block doubtful.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from proxy.core.markup import bodies, jsonish, values
from proxy.core.markup.formats import Block, Recovered, Tools, Verdict, Waiting, waiting
from proxy.core.markup.shapes import TAG_BEGUN
from proxy.core.markup.values import Pair, Unknown

_BLANK: Final = re.compile(r"(?:\s|\\n)*+")
"""Some backends escape the newlines of a whole block once too often."""
_BLANK_BEGUN: Final = re.compile(r"\\?\Z")
_ATTRIBUTE: Final = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'/]+))""")
_DIRECT: Final = re.compile(r"\s*=\s*(?:parameter=)?(?:([\"'])(.*?)\1|(.*))", re.DOTALL)
_DRIFTED: Final = re.compile(r"</[\w:]{0,40}(?:param|arg_value)[\w:]{0,40}>?\s*+\Z")
"""Matches a closer of another kind, at the end of a value that has no closer of its own."""
_NEARBY: Final = 200
"""Characters of a line that are looked at before a tag."""
_BEHIND_A_CALL: Final = ("closed", "call", "opened", "end")
_NAMING: Final = ("name", "tool", "key")


def verbatim(raw: str) -> str:
    return raw


def one_newline(raw: str) -> str:
    """Removes the newline that the template puts at each end. Further blanks are data."""
    raw = raw.removeprefix("\r\n" if raw.startswith("\r") else "\n")
    return raw.removesuffix("\r\n" if raw.endswith("\r\n") else "\n")


def paired_newlines(raw: str) -> str:
    """Removes one newline at each end, but only where both are there: else it is data."""
    begins, ends = re.match(r"\r?\n", raw), raw.endswith("\n")
    if not begins or not ends or raw == begins[0]:
        return raw
    return raw[begins.end() :].removesuffix("\n").removesuffix("\r")


def attributes(raw: str) -> dict[str, str]:
    """Returns the attributes of a tag, quoted in either way or not at all."""
    return {found[1]: found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(raw)}


def label(raw: str) -> str:
    """Returns the name in a tag: `=NAME`, or ` name="NAME"`, or the bare text. Models write `parameter=` twice."""
    if direct := _DIRECT.match(raw):
        raw = direct[2] or direct[3] or ""
    else:
        fields = attributes(raw)
        if naming := next((key for key in _NAMING if key in fields), None):
            return fields[naming].strip()
    return raw.strip().strip("\"'").strip()


def as_text(_: str) -> Unknown:
    return Unknown.TEXT


@dataclass(frozen=True, slots=True)
class TagGrammar:
    """How a format writes its tags.

    `marks` finds every tag, and its outermost group says which: `opened`, `closed` (the wrapper), `call` (what names it
    in `name`), `called` (its end), `parameter` (what names it in `key`), `given` (its end), `keyless` (a key without
    a value) and `stray` (a piece of one of them). Whether and how far a mark matches never depends on text that may
    still come.
    """

    marks: re.Pattern[str]
    strict: bool = False
    """Must a block have the closer of its wrapper?"""
    may_stay_open: bool = False
    """May it lack that at the end of the text, behind a whole call?"""
    strip: Callable[[str], str] = verbatim
    begun: re.Pattern[str] = TAG_BEGUN
    """Matches what may still become a mark at the end of the text."""
    label: Callable[[str], str] = label
    unknown: Callable[[str], Unknown] = as_text
    """Says from the tag of a parameter how to read its value where the schema does not say."""
    holds: bool = False
    """May a key that holds all the arguments do so where it is not known which the tool has?"""
    ends_values: bool = False
    """Does a parameter end the value before it, whatever its key?"""
    unmistakable: bool = False
    """Can the closer of a call stand in no value?"""


class _NoBlock(Exception):
    """The text contradicts the grammar."""


class _Next(NamedTuple):
    kind: str
    """The kind of the mark that stands here, or `end` of the text, or `other`."""
    start: int
    end: int
    about: str = ""


def read(grammar: TagGrammar, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    """Reads the block that begins at `at` with a mark of the grammar."""
    reader = _Reader(grammar, text, ended, tools, samples=True)
    try:
        return reader.block(at)
    except _NoBlock:
        return None
    except bodies.Unended:
        if not ended:
            return reader.waiting(at)
    reader = _Reader(grammar, text, ended, tools, samples=False)
    try:
        return reader.block(at)
    except (_NoBlock, bodies.Unended):
        return reader.so_far() if reader.calls and not grammar.strict else None


class _Reader:
    """One pass over one block."""

    __slots__ = (
        "calls",
        "doubtful",
        "ended",
        "grammar",
        "named",
        "samples",
        "text",
        "tools",
        "whole",
        "wrapper",
    )

    def __init__(self, grammar: TagGrammar, text: str, ended: bool, tools: Tools, *, samples: bool) -> None:
        self.grammar = grammar
        self.text = text
        self.ended = ended
        self.tools = tools
        self.samples = samples
        self.wrapper = "closed" in grammar.marks.groupindex
        self.calls: list[Recovered] = []
        self.named: str | None = None
        """The tool of the call that is being read, once what follows its name shows that it is one."""
        self.doubtful = False
        self.whole = 0
        """Where the last whole call ends."""

    def block(self, at: int) -> Block:
        here = self._next(at)
        wrapped = here.kind == "opened"
        if wrapped:
            here = self._next(here.end)
        if here.kind != "call":
            raise bodies.Unended if here.kind == "end" else _NoBlock
        while here.kind == "call" and (wrapped or not self.calls):
            here = self._call(here)
        if here.kind == "closed":
            return Block(here.end, tuple(self.calls), self.doubtful)
        if self.grammar.strict and self.wrapper and not (here.kind == "end" and self.grammar.may_stay_open):
            raise _NoBlock
        return self.so_far()

    def so_far(self) -> Block:
        return Block(self.whole, tuple(self.calls), self.doubtful)

    def waiting(self, at: int) -> Waiting:
        """Must the text wait for the rest of this block?"""
        opened = self.grammar.marks.match(self.text, at)
        several = self.wrapper and opened is not None and opened.lastgroup == "opened" and self.grammar.strict
        named = [] if self.named is None else [self.named]
        names = [*(call.name for call in self.calls), *named]
        return waiting(self.tools, names, len(self.text) - at, alone=not several)

    def _next(self, position: int) -> _Next:
        """Returns what stands at `position`, behind blanks. Raises Unended when only more text can tell."""
        start = bodies.behind(_BLANK, self.text, position)
        if mark := self.grammar.marks.match(self.text, start):
            return _as_next(mark)
        if not self.ended and (
            _BLANK_BEGUN.match(self.text, start) or self.grammar.begun.match(self.text, start)
        ):
            raise bodies.Unended
        return _Next("end" if start == len(self.text) else "other", start, start)

    def _call(self, call: _Next) -> _Next:
        """Reads one call, and returns what follows it."""
        name = self.grammar.label(call.about.removesuffix("/"))
        schema = self.tools.schema(name)
        may_stay_open: tuple[str, ...]
        if call.about.endswith("/"):
            return self._finish(name, "{}", call.end, self._after(call.end))
        here = self._next(call.end)
        if here.kind == "given":  # a closer too many: GLM writes one where there are no arguments
            here = self._next(here.end)
        self.named = name
        if here.kind == "other" and self.text.startswith("{", here.start):
            arguments, end, here = self._json(here.start)
            may_stay_open = ("call", "opened", "end")
        else:
            pairs, end = [], call.end
            while here.kind in ("parameter", "keyless"):
                if here.kind == "keyless":
                    here = self._next(here.end)
                    continue
                key, unknown = self.grammar.label(here.about), self.grammar.unknown(here.about)
                raw, end, here = self._value(here.end, values.properties(schema))
                pairs.append(Pair(key, self.grammar.strip(raw), unknown))
            arguments = values.arguments(pairs, schema, holds=self.grammar.holds)
            may_stay_open = (
                ("call", "opened", *(("end",) if self.grammar.unmistakable else ())) if pairs else ()
            )
        if here.kind == "called":
            return self._finish(name, arguments, here.end, self._after(here.end))
        if here.kind == "closed" or here.kind in may_stay_open:
            return self._finish(name, arguments, end, here)
        raise bodies.Unended if here.kind == "end" else _NoBlock

    def _finish(self, name: str, arguments: str | None, end: int, after: _Next) -> _Next:
        if arguments is None:
            raise _NoBlock
        self.calls.append(Recovered(name, arguments))
        self.whole = end
        return after

    def _after(self, end: int) -> _Next:
        """Returns what follows a closed call, which matters only where a wrapper can be."""
        return self._next(end) if self.wrapper else _Next("other", end, end)

    def _value(self, start: int, known: Mapping[str, Any]) -> tuple[str, int, _Next]:
        """Returns the text of a parameter, where it ends with its closer, and what follows."""
        calls = wrappers = inner = 0
        unknown = closers = False
        for mark in self.grammar.marks.finditer(self.text, start):
            here = _as_next(mark)
            if self.samples and here.kind in ("call", "opened"):
                calls += here.kind == "call" and not here.about.endswith("/")
                wrappers += here.kind == "opened"
            elif calls and here.kind == "called":
                calls -= 1
            elif wrappers and here.kind == "closed":
                wrappers, calls = wrappers - 1, 0
            elif calls or wrappers:
                pass
            elif here.kind == "stray" or self._is_foreign(here, known):
                if not self._is_mentioned(here):
                    inner, unknown = inner + 1, True
            elif inner and here.kind == "given":
                inner -= 1
            elif following := self._ending(here, known):
                if inner or (unknown and here.kind != "given"):
                    raise _NoBlock
                self.doubtful = self.doubtful or closers
                raw = self.text[start : here.start]
                return (
                    (raw, here.end, following)
                    if here.kind == "given"
                    else (self._unclosed(raw), here.start, following)
                )
            else:
                closers = closers or here.kind in ("given", "called")
        raise bodies.Unended

    def _unclosed(self, raw: str) -> str:
        """Removes from a value without a closer what stands in its place: that of another kind, or only a newline."""
        raw = _undrifted(raw)
        return raw if self.grammar.strip is one_newline else one_newline(raw)

    def _is_foreign(self, mark: _Next, known: Mapping[str, Any]) -> bool:
        """Is this a parameter that the tool does not have, so that it belongs to the value?"""
        if mark.kind != "parameter" or not known or self.grammar.ends_values:
            return False
        return self.grammar.label(mark.about) not in known

    def _is_mentioned(self, mark: _Next) -> bool:
        """Does the tag stand among words, so that it is no more than one of them?"""
        before = self.text[max(0, mark.start - _NEARBY) : mark.start]
        around = before[-1:] + self.text[mark.end : mark.end + 1]
        return bool(before[before.rfind("\n") + 1 :].strip()) and (" " in around or "\t" in around)

    def _ending(self, mark: _Next, known: Mapping[str, Any]) -> _Next | None:
        """Returns what follows the value, if this mark ends it and is not part of it."""
        match mark.kind:
            case "given":
                after = self._next(mark.end)
                return after if after.kind != "other" else None
            case "parameter" | "keyless":
                return mark
            case "called":
                sure = self.grammar.unmistakable or self._next(mark.end).kind in _BEHIND_A_CALL
                return mark if sure else None
            case "closed" if not self.samples:
                return mark if self._next(mark.end).kind in ("opened", "end") else None
            case _:
                return None

    def _json(self, start: int) -> tuple[str | None, int, _Next]:
        """Reads the arguments as one JSON object, which some models write instead of the parameters."""
        found = jsonish.scan(self.text, start)
        if found.missing and found.stop == len(self.text):
            raise bodies.Unended
        after = self._next(bodies.after_stray(self.text, found.stop))
        if found.missing not in bodies.REPAIRED or (found.missing and after.kind not in ("called", "closed")):
            raise _NoBlock
        return bodies.object_text(self.text[start : found.stop] + found.missing), found.stop, after


def _undrifted(raw: str) -> str:
    tail = raw.rfind("</")
    return raw[:tail] if tail >= 0 and _DRIFTED.match(raw, tail) else raw


_ABOUT: Final = {"call": "name", "parameter": "key"}


def _as_next(mark: re.Match[str]) -> _Next:
    kind = mark.lastgroup or ""
    return _Next(kind, mark.start(), mark.end(), (mark[_ABOUT[kind]] or "") if kind in _ABOUT else "")
