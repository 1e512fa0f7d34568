"""What long work says of itself on a terminal: one line, which changes, and is gone when the work is done."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, TextIO

EVERY_SECONDS: Final = 0.5
CLEARED: Final = "\r\x1b[K"


class Progress:
    """Elsewhere than on a terminal it says nothing."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self.is_seen = self._stream.isatty()

    def say(self, line: str) -> None:
        if self.is_seen:
            columns = shutil.get_terminal_size().columns
            self._write(f"{CLEARED}{line[: columns - 1]}")  # what is wrapped could not be taken back

    def end(self) -> None:
        """What follows begins on an empty line."""
        if self.is_seen:
            self._write(CLEARED)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


@asynccontextmanager
async def telling(describe: Callable[[], str], every: float = EVERY_SECONDS) -> AsyncIterator[None]:
    """`describe`: how far the work has come. It is asked now and then, and its words stand before the time."""
    progress, loop = Progress(), asyncio.get_running_loop()
    began = loop.time()

    async def tell() -> None:
        while True:
            await asyncio.sleep(every)
            progress.say(f"{describe()} … {loop.time() - began:.0f} s")

    teller = loop.create_task(tell()) if progress.is_seen else None
    try:
        yield
    finally:
        if teller is not None:
            teller.cancel()
        progress.end()
