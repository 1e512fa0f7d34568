"""A few places for much work, given to owners in turn: whoever brings a hundred pieces waits for his own, and keeps
nobody else from the next place.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}
        """By owner, in the order in which they have their turns; each owner's own in the order in which they came."""

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        await self._take(owner)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, owner: str) -> None:
        if self._free:
            self._free -= 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, {})[place] = None
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._leave(owner, place)
            else:  # it came while its taker was leaving
                self._give_back()
            raise

    def _give_back(self) -> None:
        while self._waiting:
            owner, places = next(iter(self._waiting.items()))
            place = next(iter(places))
            self._leave(owner, place)
            if owner in self._waiting:
                self._waiting[owner] = self._waiting.pop(owner)  # behind all others
            if not place.done():
                place.set_result(None)
                return
        self._free += 1

    def _leave(self, owner: str, place: asyncio.Future[None]) -> None:
        places = self._waiting.get(owner, {})
        places.pop(place, None)
        if not places:
            self._waiting.pop(owner, None)
