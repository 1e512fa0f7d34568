"""A program on a terminal, as a person sees it."""

import asyncio
import os
import pty
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.processes import ROOT, URL

SECONDS = 20.0


class OnTerminal:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._written = bytearray()
        self._news = asyncio.Event()

    def hear(self, data: bytes) -> None:
        self._written += data
        self._news.set()

    @property
    def written(self) -> str:
        return self._written.decode()

    @property
    def url(self) -> str:
        found = URL.search(self.written)
        assert found, self.written
        return found[0]

    async def until(self, words: str) -> str:
        """All that was written, as soon as these words are in it."""
        async with asyncio.timeout(SECONDS):
            while words not in self.written:
                self._news.clear()
                await self._news.wait()
        return self.written


@asynccontextmanager
async def on_a_terminal(*arguments: str | Path, **variables: str) -> AsyncIterator[OnTerminal]:
    """Runs Python with these arguments until the block ends."""
    ours, theirs = pty.openpty()
    always = {name: value for name, value in os.environ.items() if not name.startswith("PROXY_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=ROOT, env={**always, "NO_COLOR": "", **variables},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = OnTerminal(process)
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            shown.hear(os.read(ours, 65536))
        except OSError:  # the other end is closed
            loop.remove_reader(ours)

    loop.add_reader(ours, read)
    try:
        yield shown
    finally:
        if process.returncode is None:
            process.kill()
        async with asyncio.timeout(SECONDS):
            await process.wait()
        loop.remove_reader(ours)
        os.close(ours)
