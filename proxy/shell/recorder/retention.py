"""How many bytes the recordings in their directory may have together, and for how long they stay.

Several processes share it. So whatever another one has deleted meanwhile is simply gone.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

ENDING = ".recording.jsonl"
UNFINISHED = ".part"

DAY_SECONDS = 86_400.0
LOOK_AGAIN_SECONDS = 60.0
LOOK_AGAIN_PART = 64
"""The directory may hold many thousand files, so it is read again only after this time, or when this part of what it
may hold has come since."""
UNFINISHED_SECONDS = 3_600.0
"""Seconds after which nobody is still writing an unfinished file."""


class Retention:
    def __init__(self, directory: Path, most_bytes: int, days: float, now: Callable[[], float]) -> None:
        self._directory = directory
        self._most = most_bytes
        self._days = days
        self._now = now
        self._came = 0
        """Bytes since the last look."""
        self._looked: float | None = None

    def can_hold(self, size: int) -> bool:
        """Would a file of this size fit if all others were gone?"""
        return size <= self._most

    def make_room(self, size: int) -> None:
        """Deletes the oldest files until there is room for so many bytes, and those whose time is over; not at once
        where there is much room. Raises OSError if the directory cannot be read."""
        now = self._now()
        self._came += size
        recently = self._looked is not None and 0 <= now - self._looked < LOOK_AGAIN_SECONDS
        if recently and self._came * LOOK_AGAIN_PART < self._most:
            return
        self._looked, self._came = now, 0
        files = sorted(self._files())
        total = sum(bytes for _, bytes, _ in files)
        for date, bytes, path in files:
            lasts = UNFINISHED_SECONDS if path.name.endswith(UNFINISHED) else self._days * DAY_SECONDS
            if total + size > self._most or now - date > lasts:
                path.unlink(missing_ok=True)
                total -= bytes

    def _files(self) -> list[tuple[float, int, Path]]:
        found = []
        for path in self._directory.iterdir():
            if path.name.endswith((ENDING, ENDING + UNFINISHED)):
                with suppress(FileNotFoundError):
                    stat = path.lstat()
                    found.append((stat.st_mtime, stat.st_size, path))
        return found
