"""Workers that serve together exchange what they have counted, so that each of them can show all of it.

A request for the metrics reaches the worker that the kernel chose. This worker asks the others, over sockets in a
folder that no other user can enter. It leaves out a worker that is dead or hangs, and shows it as down.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proxy.core import jsontext
from proxy.shell.ops.metric_families import Counts

ANSWER_SECONDS = 1.0
"""A worker that is busy for longer has other problems, and Prometheus does not wait for ever."""


@dataclass(slots=True, frozen=True)
class WorkerSlot:
    """The place of one worker among those that serve together."""

    number: int = 0
    of: int = 1
    folder: Path | None = None
    """The folder with their sockets. One worker alone needs none."""

    @property
    def is_first(self) -> bool:
        """Does it say what holds for all of them?"""
        return self.number == 0

    def door(self, number: int) -> Path:
        assert self.folder is not None, "those who are several have a folder"
        return self.folder / str(number)


ONLY_WORKER = WorkerSlot()


class WorkerMetrics:
    def __init__(
        self, slot: WorkerSlot, counts: Callable[[], Counts], answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        """`counts` returns those of this worker."""
        self._answer_seconds = answer_seconds
        self._slot = slot
        self._counts = counts
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        if self._slot.folder is None:
            return
        door = self._slot.door(self._slot.number)
        door.unlink(missing_ok=True)  # a predecessor was killed
        self._server = await asyncio.start_unix_server(self._send_counts, door)

    async def _send_counts(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            writer.write(jsontext.dumps(self._counts()))
            await writer.drain()
            writer.close()

    async def counts(self) -> dict[str, Counts | None]:
        """Returns the counts of all workers by name, None for those that do not answer."""
        numbers = range(self._slot.of)
        found = await asyncio.gather(*(self._counts_of(number) for number in numbers))
        return {str(number): counts for number, counts in zip(numbers, found, strict=True)}

    async def _counts_of(self, number: int) -> Counts | None:
        if number == self._slot.number:
            return self._counts()
        try:
            async with asyncio.timeout(self._answer_seconds):
                reader, writer = await asyncio.open_unix_connection(self._slot.door(number))
                try:
                    counts: Counts = jsontext.loads(await reader.read())
                finally:
                    writer.close()
        except (OSError, jsontext.BadJson):  # also TimeoutError; one that is killed may tell half
            return None
        return counts

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()
