"""The lock beside a file of SQLite: who changes, opens, closes it or copies its log back holds this lock meanwhile.

SQLite before 3.51.3 may lose what it has acknowledged when one process begins the log anew while another one copies it
back. Besides, whoever waits here is served in turn, and not by chance. A process that dies gives it up.
"""

import errno
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

try:
    import fcntl
except ImportError:  # Windows: one process, no lock
    fcntl = None  # type: ignore[assignment]


HELD: Final = "another process holds its lock and gives it to nobody: a proxy that stands still? End that one"


class FileLock:
    """The lock, as one thread uses it. Each group of changes takes it: a generator would cost three times as much."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)

    def held(self, patience: float | None = None) -> Self:
        """Takes it for the block that follows. `patience`: seconds, after which it is a TimeoutError, and the lock can
        only be closed."""
        if fcntl is not None:
            if patience is None:
                fcntl.flock(self._file, fcntl.LOCK_EX)
            else:
                self._wait(patience)
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if fcntl is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _wait(self, patience: float) -> None:
        """In a thread that can be left behind. Whoever asks again and again is not served in turn."""
        held = threading.Event()

        def wait() -> None:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            held.set()

        threading.Thread(target=wait, name="store lock", daemon=True).start()
        if not held.wait(patience):
            raise TimeoutError(errno.ETIMEDOUT, HELD)

    def close(self) -> None:
        os.close(self._file)
