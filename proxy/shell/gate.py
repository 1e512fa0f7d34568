"""How many requests a backend gets at once, and how many more may wait for a place (F07, R7).

Whoever finds neither hears so at once: to wait without knowing for what only makes the error slower. Places are given
in the order in which they were asked for; who leaves while waiting leaves no trace.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass

from proxy.core.errors import Spared

COME_BACK_SECONDS = 1.0
"""Nobody knows when a reply ends."""

EVERYWHERE = nullcontext()
"""The place of a request where places are not counted."""


@dataclass(slots=True, frozen=True)
class Room:
    places: int | None = None
    """None: as many as ask."""
    waiting: int = 0
    wait_seconds: float = 30


class Gate:
    def __init__(self, room: Room) -> None:
        self._room = room
        self._places = None if room.places is None else asyncio.Semaphore(room.places)
        self._waiting = 0

    def place(self) -> AbstractAsyncContextManager[None]:
        """Whoever enters has it. Raises Spared there if there is none, or none in time."""
        return EVERYWHERE if self._places is None else self._place(self._places)

    @asynccontextmanager
    async def _place(self, places: asyncio.Semaphore) -> AsyncIterator[None]:
        if places.locked():
            await self._wait(places)
        else:
            await places.acquire()
        try:
            yield
        finally:
            places.release()

    async def _wait(self, places: asyncio.Semaphore) -> None:
        if self._waiting >= self._room.waiting:
            raise _full("The backend has as many requests as it may have; try again later.")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._room.wait_seconds):
                await places.acquire()
        except TimeoutError:
            raise _full("No place at the backend became free in time; try again later.") from None
        finally:
            self._waiting -= 1


def _full(message: str) -> Spared:
    return Spared(message, retry_after=COME_BACK_SECONDS)
