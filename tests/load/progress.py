"""What long work says of itself while it runs: one line that changes on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import TextIO

SELDOM_SECONDS = 30.0


class Progress:
    def __init__(self, stream: TextIO | None = None, seldom: float = SELDOM_SECONDS) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._seldom = seldom
        self._next = 0.0

    def say(self, line: str) -> None:
        if self._live:
            self._stream.write(f"\r\x1b[K{line}")
        elif time.monotonic() < self._next:
            return
        else:
            self._next = time.monotonic() + self._seldom
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def end(self) -> None:
        """What follows begins on a line of its own."""
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
