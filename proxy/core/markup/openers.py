"""All openers of some formats as one pattern, made once: most of a text is only searched for them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proxy.core.markup.formats import Format


@dataclass(frozen=True, slots=True)
class Readers:
    """The formats that may read what begins with an opener, in the order of their priority."""

    formats: tuple[Format, ...]
    closed: re.Pattern[str] | None
    """Matches the last character of whatever may end a block of theirs, and nothing before it."""
    reach: int
    """Characters before its match that `closed` looks at."""


class Openers:
    __slots__ = ("_beginnings", "_literals", "begun", "whole")

    def __init__(self, formats: Sequence[Format]) -> None:
        literals = sorted({opener for format in formats for opener in format.openers})
        self.whole = re.compile(_pattern(literals, partial=False))
        """Finds the next opener, the longest that stands there."""
        self.begun = re.compile(_pattern(literals, partial=True))
        """Finds the next opener too, and also a beginning of one at the end of the text."""
        self._beginnings = frozenset(one[:size] for one in literals for size in range(1, len(one)))
        self._literals = {literal: _readers(literal, formats) for literal in literals}

    def may_grow(self, literal: str) -> bool:
        """Can the end of the text still become an opener, or a longer one?"""
        return literal in self._beginnings

    def readers(self, literal: str) -> Readers:
        return self._literals[literal]


def _readers(literal: str, formats: Iterable[Format]) -> Readers:
    ours = tuple(format for format in formats if literal.startswith(format.openers))
    closers = sorted({closer for format in ours for closer in format.closers})
    if not closers:
        return Readers(ours, None, 0)
    last = "".join(sorted({re.escape(closer[-1]) for closer in closers}))
    behind = "|".join(f"(?<={re.escape(closer)})" for closer in closers)
    return Readers(ours, re.compile(f"[{last}](?:{behind})"), max(map(len, closers)))


def _pattern(literals: Iterable[str], *, partial: bool) -> str:
    """Makes a pattern that shares what the literals have in common, so that it reads no position twice."""
    followers: dict[str, list[str]] = {}
    ends = False
    for literal in literals:
        if literal:
            followers.setdefault(literal[0], []).append(literal[1:])
        else:
            ends = True
    alternatives = [re.escape(first) + _tail(rest, partial) for first, rest in followers.items()]
    if ends:
        alternatives.append("")
    return f"(?:{'|'.join(alternatives)})"


def _tail(literals: list[str], partial: bool) -> str:
    if literals == [""]:
        return ""
    inner = _pattern(literals, partial=partial)
    return rf"(?:\Z|{inner})" if partial and "" not in literals else inner
