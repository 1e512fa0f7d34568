"""The reader shared by the formats that write calls as special tokens around a head and a JSON object.

    SECTION ( CALL head SEPARATOR {json} CALL-END )* SECTION-END

Every token but the separator may be missing: calls come without a section, sections without an end. An argument may
hold what looks like a token, so the JSON is read as JSON and not up to the next token.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from proxy.core.markup import bodies, jsonish
from proxy.core.markup.formats import Block, Recovered, Tools, Verdict, waiting

_HEAD: Final = re.compile(r"\s{0,64}(?P<head>[^\s<>{}]{0,200})\s{0,64}")
_BEGUN: Final = re.compile(r"(?:<[^<>\n]{0,64})?\Z")
_LEFT_OVER: Final = re.compile(r"[\s}`]*+")
"""Matches what may stand between the JSON and the token: the end of a fence, a bracket too many."""


def its_label(_head: str, label: str, _arguments: str, _tools: Tools) -> str:
    return label


@dataclass(frozen=True, slots=True)
class SectionGrammar:
    opened: re.Pattern[str]
    call: re.Pattern[str]
    separator: re.Pattern[str]
    prelude: re.Pattern[str]
    """Matches what stands between the separator and the JSON, be it empty. Its group `label` is the text there,
    which may be the function's name."""
    called: re.Pattern[str]
    closed: re.Pattern[str]
    name: Callable[[str, str, str, Tools], str] = its_label
    """(head, label, arguments, tools) → the function that is meant, or an empty text if that is unknown."""
    prelude_begun: re.Pattern[str] | None = None
    """Matches what may still become the prelude."""
    wants_end: bool = False
    """Does a call without its first token need its last?"""


@dataclass(slots=True)
class _Reader:
    grammar: SectionGrammar
    text: str
    ended: bool
    tools: Tools
    names: list[str] = field(default_factory=list)
    """The tools of the calls so far, with the one that is being read."""

    def block(self, at: int) -> Block | None:
        opened = self.grammar.opened.match(self.text, at)
        position = self._next(opened.end() if opened else at)
        calls: list[Recovered] = []
        whole = position
        while found := self._call(position):
            call, whole = found
            calls.append(call)
            position = self._next(whole)
            if not opened:
                break
        if (closed := self.grammar.closed.match(self.text, position)) and (opened or calls):
            return Block(closed.end(), tuple(calls))
        return Block(whole, tuple(calls)) if calls else None

    def _next(self, position: int) -> int:
        """Skips blanks. Raises Unended when only more text can tell what stands there."""
        start = bodies.after_blank(self.text, position)
        if not self.ended and _BEGUN.match(self.text, start):
            raise bodies.Unended
        return start

    def _call(self, at: int) -> tuple[Recovered, int] | None:
        """Reads the call at `at`, and returns it with its end. In a section its first token may be missing."""
        first = self.grammar.call.match(self.text, at)
        head = _HEAD.match(self.text, first.end() if first else at)
        separated = head and self.grammar.separator.match(self.text, self._next(head.end()))
        prelude = separated and self.grammar.prelude.match(self.text, separated.end())
        if not head or not prelude:
            begun = separated and self.grammar.prelude_begun
            if begun and separated and not self.ended and begun.match(self.text, separated.end()):
                raise bodies.Unended
            return None
        start = self._next(prelude.end())
        if not self.text.startswith("{", start):
            return self._empty(start, head["head"], prelude["label"] or "")
        found = jsonish.scan(self.text, start)
        self.names.append(self.grammar.name(head["head"], prelude["label"] or "", "{}", self.tools))
        if found.missing and found.stop == len(self.text):
            raise bodies.Unended
        position = self._next(bodies.behind(_LEFT_OVER, self.text, found.stop))
        called = self.grammar.called.match(self.text, position)
        unsure = found.missing or (self.grammar.wants_end and not first)
        settled = called or (first and self.grammar.closed.match(self.text, position))
        if (unsure and not settled) or found.missing not in bodies.REPAIRED:
            return None
        arguments = bodies.object_text(self.text[start : found.stop] + found.missing)
        if arguments is None:
            return None
        name = self.grammar.name(head["head"], prelude["label"] or "", arguments, self.tools)
        return (Recovered(name, arguments), called.end() if called else found.stop) if name else None

    def _empty(self, at: int, head: str, label: str) -> tuple[Recovered, int] | None:
        """Reads a call whose arguments were left out."""
        called = self.grammar.called.match(self.text, self._next(bodies.behind(_LEFT_OVER, self.text, at)))
        name = called and self.grammar.name(head, label, "{}", self.tools)
        return (Recovered(name, "{}"), called.end()) if called and name else None


def read(grammar: SectionGrammar, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    if ended and (opened := grammar.opened.match(text, at)) and not text[opened.end() :].strip():
        return Block(len(text), ())
    reader = _Reader(grammar, text, ended, tools)
    try:
        return reader.block(at)
    except bodies.Unended:
        several = grammar.opened.match(text, at) is not None
        names = filter(None, reader.names)
        return None if ended else waiting(tools, names, len(text) - at, alone=not several)
