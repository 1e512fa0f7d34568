"""Remembers answers about tools and schemas by their bytes: the same ones come with every request of an agent.

The memory is bounded by what the answers weigh, not by the length of the questions: a short schema whose references are
replaced by their targets becomes a large one.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MAX_WEIGHT = 16 << 20
"""Bytes of one memory. An agent's twenty tools weigh some hundred KiB."""

MAX_SHARE = MAX_WEIGHT // 16
"""Bytes of one answer. A heavier answer is made anew each time, so that a few such answers do not drive out all
others."""

OVERHEAD = 500
"""Bytes of an entry, however small it is."""

OBJECTS_PER_BYTE = 10
"""Bytes in memory for a byte of JSON that was parsed into dicts and strings: at worst, a little more."""

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """Keeps two halves. When the young half is full it becomes the old one, and the old half is forgotten except for
    what was used meanwhile. Large requests are read in threads: several may ask at once, which does no harm."""

    def __init__(self) -> None:
        self._young: dict[Hashable, tuple[Value, int]] = {}
        self._old = self._young.copy()
        self._weight = 0
        """The weight of the young half."""

    def of(self, key: tuple[bytes, Hashable], make: Callable[[], tuple[Value, int]]) -> Value:
        """Returns the answer. `make` is called for an unknown one, and returns it with its weight besides the key."""
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
