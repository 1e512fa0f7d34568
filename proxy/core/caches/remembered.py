"""Answers about schemas, remembered by the schema's bytes: the same tools come with every request of an agent.

What is kept is bounded by what it weighs, and not by what was asked: a short schema whose references are replaced by
what they point at becomes a large one.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MAX_WEIGHT = 16 << 20
"""Bytes of one memory. An agent's twenty tools weigh some hundred KiB."""

MAX_SHARE = MAX_WEIGHT // 16
"""Of one answer. What weighs more is made anew each time, lest a few of its kind drive out all others."""

OVERHEAD = 500
"""Bytes of an entry, however small it is."""

OBJECTS_PER_BYTE = 10
"""What a byte of JSON weighs once it was parsed into dicts and strings: at worst, a little more."""

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """In two halves: when the young one is full it becomes the old one, which is forgotten, but for what was asked for
    meanwhile. Large requests are read in threads, and several may ask at once; neither half minds."""

    def __init__(self) -> None:
        self._young: dict[Hashable, tuple[Value, int]] = {}
        self._old = self._young.copy()
        self._weight = 0
        """Of the young ones."""

    def of(self, key: tuple[bytes, Hashable], make: Callable[[], tuple[Value, int]]) -> Value:
        """`make` is asked for what is not known: the answer, and what it weighs besides its key."""
        entry = self._young.get(key)
        if entry is None:
            entry = self._old.get(key)
            if entry is None:
                answer, weight = make()
                entry = answer, weight + len(key[0]) + OVERHEAD
            self._keep(key, entry)
        return entry[0]

    def _keep(self, key: Hashable, entry: tuple[Value, int]) -> None:
        _, weight = entry
        if weight > MAX_SHARE:
            return
        if self._weight + weight > MAX_WEIGHT // 2:
            self._old, self._young, self._weight = self._young, {}, 0
        self._young[key] = entry
        self._weight += weight
