"""Workers that serve together ask one another what each of them knows.

A request reaches the worker that the kernel chose, and what it asks about may be another's. So each worker has a door,
a socket in a folder that no other user can enter, and answers there. A worker that is dead or hangs answers nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.core import jsontext

ANSWER_SECONDS = 1.0
"""A worker that is busy for longer has other problems, and whoever asks does not wait for ever."""


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

    def door(self, number: int, name: str = "") -> Path:
        assert self.folder is not None, "those who are several have a folder"
        return self.folder / f"{name}{number}"


ONLY_WORKER = WorkerSlot()

Answer = Callable[[Any], Awaitable[Any]]


class WorkerQuestions:
    def __init__(
        self, slot: WorkerSlot, answer: Answer, name: str = "", answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        """`answer` answers for this worker. `name`: of what is asked at these doors."""
        self._slot = slot
        self._answer = answer
        self._name = name
        self._answer_seconds = answer_seconds
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        if self._slot.folder is None:
            return
        door = self._slot.door(self._slot.number, self._name)
        door.unlink(missing_ok=True)  # a predecessor was killed
        self._server = await asyncio.start_unix_server(self._open, door)

    async def _open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, jsontext.BadJson, TimeoutError):
            async with asyncio.timeout(self._answer_seconds):
                question = jsontext.loads(await reader.read())
                writer.write(jsontext.dumps(await self._answer(question)))
                await writer.drain()
        writer.close()

    async def ask_all(self, question: Any = None) -> dict[str, Any]:
        """Returns the answers of all workers by name, None for those that do not answer."""
        numbers = range(self._slot.of)
        answers = await asyncio.gather(*(self.ask(number, question) for number in numbers))
        return {str(number): answer for number, answer in zip(numbers, answers, strict=True)}

    async def ask(self, number: int, question: Any = None) -> Any:
        """None: there is no such worker, or it does not answer."""
        if number == self._slot.number:
            return await self._answer(question)
        if not 0 <= number < self._slot.of:
            return None
        try:
            async with asyncio.timeout(self._answer_seconds):
                reader, writer = await asyncio.open_unix_connection(self._slot.door(number, self._name))
                try:
                    writer.write(jsontext.dumps(question))
                    writer.write_eof()
                    return jsontext.loads(await reader.read())
                finally:
                    writer.close()
        except (OSError, jsontext.BadJson):  # also TimeoutError; one that is killed may tell half
            return None

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()
