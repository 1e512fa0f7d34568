"""Finds the secrets that the proxy knows in texts from outside: whole, in part, and in the forms in which programs
repeat them.

A backend's error may quote the header it was sent, the URL it was asked at, or the JSON around either. `redact` masks
what looks like a key, whoever owns it; the secrets here need not look like one.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote

from proxy.core import jsontext
from proxy.core.masking.redact import MASK

SHORTEST = 6
"""Characters. A shorter key, such as the "x" that local servers accept, is no secret; masking it would eat words."""

PART = 12
"""Characters of a secret that are found wherever they stand. Fewer may be a word: some keys are made of words."""

ANCHOR = 6
"""Every part of a secret, and every whole one, has a piece of this length that begins where one of them ends."""

LEAST_CUT = 4
"""Characters of a secret that are found at a cut, where the rest has been left out."""

CUT = "…"

_SCHEME = re.compile(r"[A-Za-z]+ +")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


class Secrets:
    __slots__ = ("_anchors", "_beginnings", "_parts", "_whole")

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for value in _values(secret) for form in _forms(value)}
        forms = {form for form in forms if len(form) >= SHORTEST}
        longest_first = sorted(forms, key=len, reverse=True)
        self._whole = re.compile("|".join(map(re.escape, longest_first))) if forms else None
        self._parts = {form[at : at + PART] for form in forms for at in range(len(form) - PART + 1)}
        self._anchors = {
            form[at : at + ANCHOR] for form in forms for at in range(0, len(form) - ANCHOR + 1, ANCHOR)
        }
        self._beginnings = {form[:length] for form in forms for length in range(LEAST_CUT, PART)}

    def hidden(self, text: str) -> str:
        """Masks them in the text."""
        if self._whole is None:
            return text
        text = self._whole.sub(MASK, text)
        *cut, rest = self._without_parts(text).split(CUT)
        return CUT.join([*map(self._without_cut, cut), rest])

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they stand in a text that may be long, in whole or in part. Spans may overlap."""
        if self._whole is None or not self._has_anchor(text):
            return []
        found = [match.span() for match in self._whole.finditer(text)]
        parts = [(at, at + PART) for at in range(len(text) - PART + 1) if text[at : at + PART] in self._parts]
        return found + parts

    def _has_anchor(self, text: str) -> bool:
        """A short text has fewer pieces than there are anchors."""
        pieces = len(text) - ANCHOR + 1
        if pieces < len(self._anchors):
            return not self._anchors.isdisjoint([text[at : at + ANCHOR] for at in range(pieces)])
        return any(anchor in text for anchor in self._anchors)

    def _without_parts(self, text: str) -> str:
        kept, end = [], 0
        for at in range(len(text) - PART + 1):
            if text[at : at + PART] in self._parts:
                if at > end or not end:
                    kept += [text[end:at], MASK]
                end = at + PART
        return "".join(kept) + text[end:]

    def _without_cut(self, text: str) -> str:
        for length in range(PART - 1, LEAST_CUT - 1, -1):
            if text[-length:] in self._beginnings:
                return text[:-length] + MASK
        return text


def _values(secret: str) -> Iterator[str]:
    """Yields the secrets in a header's value, which may say more: `Bearer …`, and `Basic …`, which is a name and a
    password."""
    yield secret
    if not (scheme := _SCHEME.match(secret)):
        return
    value = secret[scheme.end() :]
    yield value
    if scheme[0].lower().startswith("basic ") and _BASE64.fullmatch(value):
        pair = b64decode(value + "==").decode("utf-8", "replace")
        yield pair
        yield pair.partition(":")[2]


def _forms(value: str) -> Iterator[str]:
    """Yields the value as URLs, JSON, web pages and `Basic` write it."""
    yield value
    for safe in ("", "/", "/:@"):
        coded = quote(value, safe=safe, errors="replace")
        yield coded
        yield re.sub("%..", lambda found: found[0].lower(), coded)
    yield jsontext.compact(value)[1:-1]
    yield ascii(value)[1:-1]
    yield escape(value)
    data = value.encode("utf-8", "replace")
    for before in range(3):  # it stands behind so many bytes of a group of three
        coded = b64encode(bytes(before) + data).decode()
        inner = coded[4 if before else 0 : len(coded) - (4 if (before + len(data)) % 3 else 0)]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")
