"""Is a text that grows by fragments one whole JSON object by now? All answers together take linear time.

The tracker follows only the nesting, and reads each character once. It parses the text at most once, when the outermost
brace has closed. If anything but white space comes after that, the text is not one object.
"""

import re
from collections.abc import Sequence
from enum import Enum

from proxy.core import jsontext

_STRUCTURE = re.compile(r'["{}\[\]]')
_STRING_END = re.compile(r'["\\]')


class _State(Enum):
    BEFORE = "nothing but white space yet"
    INSIDE = "some bracket is open"
    CLOSED = "the outermost brace has closed"
    SPOILT = "it cannot become an object any more"


class ObjectTracker:
    __slots__ = ("_depth", "_escaped", "_parses", "_quoted", "_seen", "_state")

    def __init__(self) -> None:
        self._state = _State.BEFORE
        self._seen = 0
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._parses = False

    def is_whole(self, pieces: Sequence[str]) -> bool:
        """`pieces` is always the same growing list."""
        for piece in pieces[self._seen :]:
            self._scan(piece)
        self._seen = len(pieces)
        if self._state is _State.CLOSED and not self._parses:
            self._parses = jsontext.is_object("".join(pieces))
            if not self._parses:
                self._state = _State.SPOILT
        return self._state is _State.CLOSED

    def _scan(self, text: str) -> None:
        at = 0
        if self._state is _State.BEFORE and (start := text.lstrip()):
            self._state = _State.INSIDE if start[0] == "{" else _State.SPOILT
        while self._state is _State.INSIDE and at < len(text):
            at = self._in_string(text, at) if self._quoted else self._between(text, at)
        if self._state is _State.CLOSED and text[at:].strip():
            self._state = _State.SPOILT

    def _in_string(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _STRING_END.search(text, at)
        if found is None:
            return len(text)
        self._quoted = found[0] != '"'
        self._escaped = found[0] == "\\"
        return found.end()

    def _between(self, text: str, at: int) -> int:
        found = _STRUCTURE.search(text, at)
        if found is None:
            return len(text)
        if found[0] == '"':
            self._quoted = True
        else:
            self._depth += 1 if found[0] in "{[" else -1
            if self._depth == 0:
                self._state = _State.CLOSED
        return found.end()
