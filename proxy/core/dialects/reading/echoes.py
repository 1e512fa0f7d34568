"""Which words of a backend's refusal are the client's own: backends often repeat what they refuse.

The client that chooses a text of a request (an effort, a name, a prompt) may so choose what a backend answers. So words
that are also in the sent body teach nothing. Where only a part of them is, the lesson is not kept.

Words are compared without case, punctuation and escapes, so that their quoting does not matter, and letters by what
they mean: a backend may change the form of those that a client chose. A text that is cut in the refusal is recognised
by its beginning or its end.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import Any
from unicodedata import normalize

from proxy.core import jsontext
from proxy.core.schemas.traversal import TYPES

MAX_SEARCHED = 4 << 20
"""Bytes of a body. Larger ones hold pictures or whole books; what is learned from them is not kept."""
MAX_STRINGS = 20_000
"""Limits the client's texts: each is searched in the refusal."""

RECOGNISED = 12
"""Characters by which the beginning or the end of a longer text is known again."""
SHORTEST = 3
"""A shorter text occurs in any refusal by chance."""
OCCURRENCES = 8
MAX_SPANS = 1_000
"""Limits what is searched in one refusal. If more parts of it hold something of the client's, all of it may."""

FREE = frozenset(
    {"parameters", "input_schema", "parametersJsonSchema", "schema", "input", "args", "response"}
)
"""Below these fields the client chooses the names as well."""
CONVERSATION = "input"
"""At the top of a body its items stand there, in words of the protocol."""
OURS = frozenset({"type", "role", "tool_choice", "object"})
"""Fields whose values are words of the protocol."""
KEYWORDS = frozenset(
    {
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "description",
        "title",
        "default",
        "format",
        "anyOf",
        "const",
    }
)
"""Names that nearly every schema has, though nobody chose them."""

_ESCAPE = re.compile(r"(?<!\\)\\++(?:u(?P<wide>[0-9a-f]{4})|x(?P<narrow>[0-9a-f]{2})|[abfnrtv0/])")
_WORD = re.compile(r"[a-z0-9_]+")


class Source(Enum):
    BACKEND = "words of its own"
    BOTH = "partly the client's, as far as is known"
    CLIENT = "the client's words"


def _plain(text: str) -> str:
    text = _ESCAPE.sub(_unescaped, text.lower())
    if not text.isascii():
        text = normalize("NFKC", text).casefold()
    return " ".join(_WORD.findall(text))


def _unescaped(found: re.Match[str]) -> str:
    digits = found["wide"] or found["narrow"]
    return chr(int(digits, 16)) if digits else " "


class Echoes:
    def __init__(self, body: bytes, message: str) -> None:
        self._body = body
        self._message = message

    def source(self, match: re.Match[str]) -> Source:
        """Tells whose words a match in the refusal is."""
        found = _plain(match[0])
        strings = self._strings
        if strings is None:
            return Source.BOTH
        if any(found in chosen for chosen in strings):
            return Source.CLIENT
        begin = len(_plain(self._message[: match.start()]))
        end = begin + len(found) + 1
        overlap = any(first < end and begin < last for first, last in self._echoed)
        return Source.BOTH if overlap else Source.BACKEND

    @cached_property
    def _strings(self) -> frozenset[str] | None:
        """Collects all that the client has chosen in the body; None if that is too much."""
        if len(self._body) > MAX_SEARCHED:
            return None
        found = set()
        for text in _chosen(jsontext.loads(self._body)):
            found.add(_plain(text))
            if len(found) > MAX_STRINGS:
                return None
        return frozenset(found)

    @cached_property
    def _echoed(self) -> list[tuple[int, int]]:
        """Tells where in the refusal, as it is compared, something of the client's stands."""
        message = f" {_plain(self._message)} "
        found = (span for chosen in self._strings or () for span in _spans(chosen, message))
        spans = [*islice(found, MAX_SPANS)]
        return spans if len(spans) < MAX_SPANS else [(0, len(message))]


def _spans(chosen: str, message: str) -> Iterator[tuple[int, int]]:
    """The message has a blank at either end; spans are counted without it."""
    if len(chosen) < SHORTEST:
        return
    if len(chosen) <= RECOGNISED:
        for at in _all(f" {chosen} ", message):
            yield at, at + len(chosen)
        return
    for at in _all(chosen[:RECOGNISED], message):
        yield at - 1, at - 1 + _shared(chosen, message[at : at + len(chosen)])
    for at in _all(chosen[-RECOGNISED:], message):
        last = at + RECOGNISED
        before = message[max(0, last - len(chosen)) : last]
        yield last - 1 - _shared(chosen[::-1], before[::-1]), last - 1


def _all(part: str, text: str) -> Iterator[int]:
    at = text.find(part)
    for _ in range(OCCURRENCES):
        if at < 0:
            return
        yield at
        at = text.find(part, at + 1)


def _shared(one: str, other: str) -> int:
    """Counts the characters that two texts have in common from their beginning on."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _chosen(body: Any) -> Iterator[str]:
    """Yields the strings of a body that are not words of the protocol."""
    waiting: list[tuple[Any, bool, bool]] = [(body, False, False)]
    if isinstance(body, dict) and isinstance(conversation := body.get(CONVERSATION), list):
        waiting = [(body | {CONVERSATION: []}, False, False), (conversation, False, False)]
    while waiting:
        value, free, ours = waiting.pop()
        if isinstance(value, str):
            if not ours:
                yield value
        elif isinstance(value, list):
            waiting += [(each, free, False) for each in value]
        elif isinstance(value, dict):
            for name, inner in value.items():
                if free and name not in KEYWORDS:
                    yield name
                of_ours = inner in TYPES if free and isinstance(inner, str) else name in OURS
                waiting.append((inner, free or name in FREE, of_ours))
