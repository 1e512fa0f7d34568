"""What a JSON text takes in memory while somebody works with it: values weigh up to thirty times as much as they are
long.
"""

from typing import Any, NamedTuple

from proxy.core.jsontext import NESTING

COPIES = 3
"""Of its bytes: as it came, as it was understood, and as it is sent on."""

VALUE_BYTES = 100
"""Of a value in its list or object, which itself takes as much as two."""

LIGHT_BYTES, MOST_PER_BYTE = 16 * 1024, 32
"""So short a text is not worth the look: it may weigh what lists in lists do, the heaviest that can be written."""


class Weighed(NamedTuple):
    weight: int
    levels: int | None
    """Of lists and objects inside one another; None where nobody has looked."""


def weight(value: Any, size: int) -> int:
    """Of a text of so many bytes, by what was read from it."""
    return weighed(value, size).weight


def weighed(value: Any, size: int) -> Weighed:
    """Whoever looks at each value of a long text sees how deep it is as well."""
    if size <= LIGHT_BYTES:
        return Weighed(MOST_PER_BYTE * size, None)
    values, levels = _values(value)
    return Weighed(COPIES * size + VALUE_BYTES * values, levels)


def _values(value: Any) -> tuple[int, int]:
    """How many there are, and on how many levels."""
    count, levels, layer = 0, 0, [value] if type(value) in NESTING else []
    while layer:
        levels += 1
        outers, layer = layer, []
        for outer in outers:
            count += len(outer) + 2
            for inner in outer.values() if type(outer) is dict else outer:
                if type(inner) in NESTING:
                    layer.append(inner)
    return count, levels
