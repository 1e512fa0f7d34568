"""A number of tokens, as far as what a backend says in its place can be one."""

from collections.abc import Mapping
from typing import Any

MOST = 2**53 - 1
"""Floating point, as in JavaScript or our own metrics, counts exactly up to here."""

DIGITS = len(str(MOST))

NUMBERS = (int, float)


def read(raw: object) -> int:
    """Cuts fractions, and takes a number that is written as text; what cannot be a count (negative, infinite, other
    text) is zero."""
    if type(raw) is int:  # nearly always
        return raw if 0 < raw <= MOST else 0
    if isinstance(raw, str) and raw.isdecimal() and len(raw) <= DIGITS:
        raw = int(raw)
    if isinstance(raw, NUMBERS) and 0 < raw <= MOST:
        return int(raw)
    return 0


def count_of(counts: Mapping[str, Any], name: str) -> int:
    return read(counts.get(name))
