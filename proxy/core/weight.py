"""What a JSON text takes in memory while the proxy works with it: values take up to thirty times their length."""

from typing import Any, NamedTuple

from proxy.core.jsontext import NESTING

COPIES = 3
"""Copies of its bytes: as it came, as it was parsed, and as it is sent on."""

VALUE_BYTES = 100
"""Bytes of a value in its list or object, which itself takes as much as two."""

LIGHT_BYTES, MOST_PER_BYTE = 16 * 1024, 32
"""A text of so few bytes is not measured: it counts like lists in lists, the heaviest that can be written."""


class Weighed(NamedTuple):
    weight: int
    levels: int
    """There are at most so many levels of lists and objects inside one another."""


def weight(value: Any, size: int) -> int:
    """Returns the weight of a text of so many bytes, by what was read from it."""
    return MOST_PER_BYTE * size if size <= LIGHT_BYTES else _heavy(size, _values(value)[0])


def weighed(value: Any, text: bytes) -> Weighed:
    """Returns the weight and the levels. To measure each value of a long text shows both; a short one has no more
    levels than brackets."""
    size = len(text)
    if size <= LIGHT_BYTES:
        return Weighed(MOST_PER_BYTE * size, text.count(b"{") + text.count(b"["))
    values, levels = _values(value)
    return Weighed(_heavy(size, values), levels)


def _heavy(size: int, values: int) -> int:
    return COPIES * size + VALUE_BYTES * values


def _values(value: Any) -> tuple[int, int]:
    """Returns how many values there are, and on how many levels."""
    count, levels, layer = 0, 0, [value] if type(value) in NESTING else []
    while layer:
        levels += 1
        count += sum(map(len, layer)) + 2 * len(layer)
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in NESTING
        ]
    return count, levels
