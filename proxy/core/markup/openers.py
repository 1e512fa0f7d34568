"""All openers of some formats as one pattern, made once: most of a text is only searched for them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from proxy.core.markup.formats import Format

_WORD = r"(?<![^\W_].)"
"""Matches behind the first letter of a word."""


@dataclass(frozen=True, slots=True)
class Readers:
    """The formats that may read what begins with an opener, in the order of their priority."""

    formats: tuple[Format, ...]
    closed: re.Pattern[str] | None
    """Matches the last character of whatever may end a block of theirs, and nothing before it."""
    reach: int
    """Characters before its match that `closed` looks at."""


class Opener(NamedTuple):
    """Where an opener stands."""

    start: int
    readers: Readers | None
    """Whom to ask. None if it may still become an opener, or a longer one."""


class Openers:
    __slots__ = ("_beginnings", "_first", "_literals", "_whole", "begun", "first", "unsigned")

    def __init__(self, formats: Sequence[Format]) -> None:
        literals = sorted({opener for format in formats for opener in format.openers})
        self._whole = re.compile(_pattern(literals, partial=False))
        """Finds the next opener, the longest that stands there."""
        self.begun = re.compile(_pattern(literals, partial=True))
        """Finds the next opener too, and also a beginning of one at the end of the text."""
        self.unsigned = tuple({begun for one in literals for begun in _unsigned(one)})
        """A piece without `<` and `[` may hold an opener only if it ends with one of these."""
        self._beginnings = frozenset(one[:size] for one in literals for size in range(1, len(one)))
        self._literals = {literal: _readers(literal, formats) for literal in literals}
        first = sorted(
            {opener for format in formats for opener in format.first}, key=lambda one: (-len(one), one)
        )
        self.first = bool(first)
        """Are there openers that count at the very start only?"""
        self._first = {
            literal: _readers_of(tuple(one for one in formats if literal in one.first)) for literal in first
        }

    def find(self, text: str, at: int, growing: bool) -> Opener | None:
        """Returns the next opener. `growing`: may the text go on?"""
        found = (self.begun if growing else self._whole).search(text, at)
        return self._as_opener(found, growing)

    def opener_at(self, text: str, at: int, growing: bool) -> Opener | None:
        """Returns the opener that stands here."""
        found = (self.begun if growing else self._whole).match(text, at)
        return self._as_opener(found, growing)

    def first_at(self, text: str, at: int, growing: bool) -> Opener | None:
        """Returns the opener with which a reply begins here, if it is one only there."""
        for literal, readers in self._first.items():
            if text.startswith(literal, at):
                return Opener(at, readers)
            if growing and literal.startswith(text[at : at + len(literal)]) and at < len(text):
                return Opener(at, None)
        return None

    def readers(self, literal: str) -> Readers:
        return self._literals[literal]

    def _as_opener(self, found: re.Match[str] | None, growing: bool) -> Opener | None:
        if found is None:
            return None
        grows = growing and found.end() == len(found.string) and found[0] in self._beginnings
        return Opener(found.start(), None if grows else self.readers(found[0]))


def _unsigned(literal: str) -> list[str]:
    """Returns the beginnings of an opener that have neither `<` nor `[`, which nearly no piece of a text has. If it has
    none itself, as some optional ones, every text ends so."""
    before = literal.partition("<")[0].partition("[")[0]
    return [""] if before == literal else [literal[:size] for size in range(1, len(before) + 1)]


def _readers(literal: str, formats: Iterable[Format]) -> Readers:
    return _readers_of(tuple(format for format in formats if literal.startswith(format.openers)))


def _readers_of(ours: tuple[Format, ...]) -> Readers:
    closers = sorted({closer for format in ours for closer in format.closers})
    if not closers:
        return Readers(ours, None, 0)
    last = "".join(sorted({re.escape(closer[-1]) for closer in closers}))
    behind = "|".join(f"(?<={re.escape(closer)})" for closer in closers)
    return Readers(ours, re.compile(f"[{last}](?:{behind})"), max(map(len, closers)))


def _pattern(literals: Iterable[str], *, partial: bool, within: bool = False) -> str:
    """Makes a pattern that shares what the literals have in common, so that it reads no position twice.

    What begins with a letter counts only at the start of a word: else nearly every text would be held back for it.
    """
    followers: dict[str, list[str]] = {}
    ends = False
    for literal in literals:
        if literal:
            followers.setdefault(literal[0], []).append(literal[1:])
        else:
            ends = True
    alternatives = [
        re.escape(first) + (_WORD if first.isalpha() and not within else "") + _tail(rest, partial)
        for first, rest in followers.items()
    ]
    if ends:
        alternatives.append("")
    return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"


def _tail(literals: list[str], partial: bool) -> str:
    if literals == [""]:
        return ""
    inner = _pattern(literals, partial=partial, within=True)
    return rf"(?:\Z|{inner})" if partial and "" not in literals else inner
