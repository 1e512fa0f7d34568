"""What a JSON text takes in memory while somebody works with it: values weigh up to thirty times as much as they are
long.
"""

from typing import Any

from proxy.core.jsontext import NESTING

COPIES = 3
"""Of its bytes: as it came, as it was understood, and as it is sent on."""

VALUE_BYTES = 100
"""Of a value in its list or object, which itself takes as much as two."""

LIGHT_BYTES, MOST_PER_BYTE = 16 * 1024, 32
"""So short a text is not worth the look: it may weigh what lists in lists do, the heaviest that can be written."""


def weight(value: Any, size: int) -> int:
    """Of a text of so many bytes, by what was read from it."""
    if size <= LIGHT_BYTES:
        return MOST_PER_BYTE * size
    return COPIES * size + VALUE_BYTES * _values(value)


def _values(value: Any) -> int:
    count, layer = 0, [value] if type(value) in NESTING else []
    while layer:
        outers, layer = layer, []
        for outer in outers:
            count += len(outer) + 2
            for inner in outer.values() if type(outer) is dict else outer:
                if type(inner) in NESTING:
                    layer.append(inner)
    return count
