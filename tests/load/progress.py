"""What a soak says of itself: one line that changes on a terminal, and a line now and then elsewhere."""

import sys
import time

from proxy.commands.progress import Progress

SELDOM_SECONDS = 30.0


class SoakProgress:
    def __init__(self) -> None:
        self._terminal = Progress()
        self._next = 0.0

    def say(self, line: str) -> None:
        self._terminal.say(line)
        if not self._terminal.is_seen and time.monotonic() >= self._next:
            self._next = time.monotonic() + SELDOM_SECONDS
            sys.stderr.write(f"{line}\n")

    def end(self) -> None:
        self._terminal.end()
