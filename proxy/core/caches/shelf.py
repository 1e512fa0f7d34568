"""Keeps values for many owners, bounded in sum. When space is needed, the owner with the most on the shelf loses its
longest unused value, so that no owner with less loses any.

A lock protects it, because large requests are read in threads and use it too.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(slots=True)
class _Kept(Generic[Value]):
    owner: str
    value: Value
    size: int


@dataclass(slots=True)
class _Row(Generic[Key]):
    """What one owner has on the shelf."""

    keys: dict[Key, None]
    """The keys, longest unused first."""
    size: int


class Shelf(Generic[Key, Value]):
    def __init__(self, room: int) -> None:
        self._room = room
        self._size = 0
        self._kept: dict[Key, _Kept[Value]] = {}
        self._rows: dict[str, _Row[Key]] = {}
        self._lock = Lock()

    def __bool__(self) -> bool:
        return bool(self._kept)

    def get(self, key: Key) -> Value | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            keys = self._rows[kept.owner].keys
            del keys[key]
            keys[key] = None
            return kept.value

    def put(self, owner: str, key: Key, value: Value, size: int) -> None:
        """Replaces what had the key. A value that is larger than the whole shelf is not kept."""
        with self._lock:
            self._take(key)
            if size > self._room:
                return
            self._kept[key] = _Kept(owner, value, size)
            row = self._rows.setdefault(owner, _Row({}, 0))
            row.keys[key] = None
            row.size += size
            self._size += size
            while self._size > self._room:
                self._forget()

    def take(self, key: Key) -> Value | None:
        """Removes the value and returns it."""
        with self._lock:
            return self._take(key)

    def forget(self) -> int:
        """Drops a value of the owner with the most, and returns how much space that gives."""
        with self._lock:
            return self._forget()

    def _forget(self) -> int:
        before = self._size
        if self._rows:
            largest = max(self._rows.values(), key=lambda row: row.size)
            self._take(next(iter(largest.keys)))
        return before - self._size

    def _take(self, key: Key) -> Value | None:
        kept = self._kept.pop(key, None)
        if kept is None:
            return None
        row = self._rows[kept.owner]
        del row.keys[key]
        row.size -= kept.size
        self._size -= kept.size
        if not row.keys:
            del self._rows[kept.owner]
        return kept.value
