"""Two JSON documents beside each other, line by line, with what became of each value of the one in the other.

The two are the same request in two languages. Their shapes say little, so a value counts as passed on wherever it
stands in the other document. First it is looked for in the same place, then under the same name, then anywhere, then as
a part of a longer text. What is left under the same path was changed; the rest was left out, or added.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import Any, Final

from proxy.core import jsontext

MOST_LINES: Final = 2_000
MOST_CHARACTERS: Final = 8_000
"""Of one value."""
SHORTEST_PART: Final = 5
"""Characters of a text that is looked for within others: a shorter one is found by chance."""
MOST_PARTS: Final = 100
"""Texts that are looked for within others."""


class Mark(StrEnum):
    SAME = "same"
    """The same value in the same place."""
    MOVED = "moved"
    """The same value elsewhere, or as a part of another."""
    CHANGED = "changed"
    """Another value in the same place."""
    ALONE = "alone"
    """In this document only: left out, or added."""


Path = tuple[str | int, ...]


@dataclass(slots=True)
class Line:
    depth: int
    key: str
    """What stands before the value; "" in a list."""
    text: str
    """The value as JSON, or a bracket."""
    mark: Mark | None = None
    """None for brackets."""
    partner: int | None = None
    """The number of the line in the other document that has the same value."""


@dataclass(slots=True, frozen=True)
class _Leaf:
    line: int
    path: Path
    text: str
    """The value as JSON, whole."""

    @property
    def name(self) -> str | int:
        """The last name of its path."""
        return next((key for key in reversed(self.path) if isinstance(key, str)), "")

    @property
    def is_text(self) -> bool:
        return self.text[:1] == '"'


class Document:
    def __init__(self, value: Any) -> None:
        self.lines: list[Line] = []
        self.leaves: list[_Leaf] = []
        self.cut = False
        """Is it longer than what is listed?"""
        for depth, path, text, is_leaf in _walk(value):
            if len(self.lines) == MOST_LINES:
                self.cut = True
                break
            if is_leaf:
                self.leaves.append(_Leaf(len(self.lines), path, text))
            key = path[-1] if path and isinstance(path[-1], str) and text not in ("}", "]") else ""
            self.lines.append(Line(depth, key, _briefly(text)))


def compared(left: Any, right: Any) -> tuple[Document, Document]:
    """The documents as lines, each value with its mark."""
    ours, theirs = Document(left), Document(right)
    for key, mark in _PASSES:
        _pair(ours, theirs, key, mark)
    _pair_parts(ours, theirs)
    _pair_parts(theirs, ours)
    _pair(ours, theirs, lambda leaf: leaf.path, Mark.CHANGED)
    for document in (ours, theirs):
        for leaf in document.leaves:
            line = document.lines[leaf.line]
            line.mark = line.mark or Mark.ALONE
    return ours, theirs


def _anywhere(leaf: _Leaf) -> Hashable:
    """Small values are everywhere: only texts are looked for without their names."""
    return leaf.text if leaf.is_text and len(leaf.text) > 3 else None


_PASSES: Sequence[tuple[Callable[[_Leaf], Hashable], Mark]] = (
    (lambda leaf: (leaf.path, leaf.text), Mark.SAME),
    (lambda leaf: (leaf.name, leaf.text), Mark.MOVED),
    (_anywhere, Mark.MOVED),
)


def _pair(ours: Document, theirs: Document, key: Callable[[_Leaf], Hashable], mark: Mark) -> None:
    waiting: defaultdict[Hashable, list[_Leaf]] = defaultdict(list)
    for leaf in reversed(theirs.leaves):
        if theirs.lines[leaf.line].mark is None:
            waiting[key(leaf)].append(leaf)
    for leaf in ours.leaves:
        name = key(leaf)
        if ours.lines[leaf.line].mark is None and name is not None and waiting.get(name):
            _tie(ours, leaf, theirs, waiting[name].pop(), mark)


def _pair_parts(whole: Document, parts: Document) -> None:
    """Texts of the one document that are part of a longer text of the other: several may be of the same one."""
    texts = [leaf for leaf in whole.leaves if leaf.is_text]
    together = "\n".join(leaf.text for leaf in texts)
    ends = list(accumulate(len(leaf.text) + 1 for leaf in texts))
    left = [leaf for leaf in parts.leaves if parts.lines[leaf.line].mark is None and leaf.is_text]
    for part in left[:MOST_PARTS]:
        text = part.text[1:-1]
        if len(text) < SHORTEST_PART:
            continue
        if (at := together.find(text)) >= 0:  # no text has a line break, as JSON writes it
            found, line = texts[bisect_right(ends, at)], parts.lines[part.line]
            line.mark, line.partner = Mark.MOVED, found.line
            other = whole.lines[found.line]
            if other.mark is None:
                other.mark, other.partner = Mark.MOVED, part.line


def _tie(ours: Document, leaf: _Leaf, theirs: Document, other: _Leaf, mark: Mark) -> None:
    one, two = ours.lines[leaf.line], theirs.lines[other.line]
    one.mark = two.mark = mark
    one.partner, two.partner = other.line, leaf.line


def _walk(value: Any) -> Iterator[tuple[int, Path, str, bool]]:
    """Every line of the document: depth, path, text, and whether it is a value. It goes by a stack of its own, since
    a document may be nested deeper than Python likes to call."""
    stack: list[tuple[int, Path, Any]] = [(0, (), value)]
    while stack:
        depth, path, now = stack.pop()
        if isinstance(now, _Closing):
            yield depth, path, now.bracket, False
        elif isinstance(now, dict) and now:
            yield depth, path, "{", False
            stack.append((depth, path, _Closing("}")))
            stack.extend((depth + 1, (*path, str(key)), inner) for key, inner in reversed(now.items()))
        elif isinstance(now, list) and now:
            yield depth, path, "[", False
            stack.append((depth, path, _Closing("]")))
            stack.extend((depth + 1, (*path, number), inner) for number, inner in _backwards(now))
        else:
            yield depth, path, jsontext.compact(now), True


@dataclass(slots=True, frozen=True)
class _Closing:
    bracket: str


def _backwards(values: list[Any]) -> Iterator[tuple[int, Any]]:
    return ((number, values[number]) for number in range(len(values) - 1, -1, -1))


def _briefly(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… and {len(text) - MOST_CHARACTERS} characters more"
