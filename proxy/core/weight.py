"""What a JSON text takes in memory while the proxy works with it: values take up to thirty times their length."""

from gc import get_referents
from typing import Any, NamedTuple, Protocol, TypeVar

from proxy.core.jsontext import BEYOND, NESTING

COPIES = 3
"""Copies of its bytes: as it came, as it was parsed, and as it is sent on."""

VALUE_BYTES = 100
"""Bytes of a value in its list or object, which itself takes as much as two."""

WATCHED = NESTING | {float}

LIGHT_BYTES, MOST_PER_BYTE = 16 * 1024, 32
"""A text of so few bytes is not measured: it counts like lists in lists, the heaviest that can be written."""


Value = TypeVar("Value", covariant=True)


class Parse(Protocol[Value]):
    def __call__(self, data: bytes, /, *, exact: bool) -> Value:
        """`exact`: see `jsontext.loads`."""


class Weighed(NamedTuple):
    weight: int
    levels: int
    """There are at most so many levels of lists and objects inside one another."""
    beyond: bool = False
    """Is there a number that may stand for a whole one beyond 64 bits? A short text is not looked at."""


def weight(value: Any, size: int) -> int:
    """Returns the weight of a text of so many bytes, by what was read from it."""
    return MOST_PER_BYTE * size if size <= LIGHT_BYTES else _heavy(size, _values(value)[0])


def weighed(value: Any, text: bytes) -> Weighed:
    """Returns the weight and the levels. To measure each value of a long text shows both; a short one has no more
    levels than brackets."""
    size = len(text)
    if size <= LIGHT_BYTES:
        return Weighed(MOST_PER_BYTE * size, _times(b"{", text) + _times(b"[", text))
    values, levels, beyond = _values(value)
    return Weighed(_heavy(size, values), levels, beyond)


def read(text: bytes, parse: Parse[Value]) -> tuple[Value, Weighed]:
    """Parses and weighs. Only where a long text has a number that may have been rounded are its digits looked at."""
    value = parse(text, exact=len(text) <= LIGHT_BYTES)
    found = weighed(value, text)
    return (parse(text, exact=True), found) if found.beyond else (value, found)


def _times(sign: bytes, text: bytes) -> int:
    """How often it stands there: to count looks at every byte by itself and takes up to seven times as long."""
    return len(text) - len(text.replace(sign, b""))


def _heavy(size: int, values: int) -> int:
    return COPIES * size + VALUE_BYTES * values


def _values(value: Any) -> tuple[int, int, bool]:
    """Returns how many values there are, on how many levels, and whether a number among them is very large."""
    count, levels, beyond, layer = 0, 0, False, [value] if type(value) in WATCHED else []
    while layer:
        try:
            inside = sum(map(len, layer))
        except TypeError:  # there are numbers among them, which few requests have
            beyond = beyond or any(type(each) is float and abs(each) >= BEYOND for each in layer)
            layer = [each for each in layer if type(each) in NESTING]
            continue
        count += inside + 2 * len(layer)
        levels += 1
        # All that a list or an object holds, in a third of the time that loops of ours take
        layer = [inner for inner in get_referents(*layer) if type(inner) in WATCHED]
    return count, levels, beyond
