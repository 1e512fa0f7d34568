"""The lock beside a file of SQLite: who changes, opens, closes it or copies its log back holds this lock meanwhile.

SQLite before 3.51.3 may lose what it has acknowledged when one process begins the log anew while another one copies it
back. Besides, whoever waits here is served in turn, and not by chance. A process that dies gives it up.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: one process, no lock
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """Of one thread."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)

    @contextmanager
    def held(self) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._file)
