"""Lists that several requests have in common, with what follows from them: it is found once for all.

An agent sends its tools with each of its requests. What they become is the same each time, as long as they are.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")
Found = TypeVar("Found")


class Shared(list[Value]):
    """What several requests have in common. What follows from it alone is found once, too: see `found_of`."""

    __slots__ = ("found",)

    def __init__(self, values: Iterable[Value]) -> None:
        super().__init__(values)
        self.found: dict[Hashable, Any] = {}
        """Things that take no more room than these values."""


class Declared(Shared[Value]):
    """What a request declares, such as its tools: an agent sends the same with each."""

    __slots__ = ("origin",)

    def __init__(self, values: Iterable[Value], origin: tuple[bytes, Hashable]) -> None:
        """`origin`: their JSON, and how it was read."""
        super().__init__(values)
        self.origin = origin


def found_of(values: Sequence[Any], what: Hashable, find: Callable[[], Found]) -> Found:
    """Returns what follows from these values and from `what` it is. Where they are shared it is, too: do not change
    it."""
    if not isinstance(values, Shared):
        return find()
    if what not in values.found:
        values.found[what] = find()
    found: Found = values.found[what]
    return found
