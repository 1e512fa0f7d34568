"""A few places for much work, given to owners in turn: whoever brings a hundred pieces waits for his own, and keeps
nobody else from the next place.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Crowded(Exception):
    """Whoever waited gave way to another owner, who has fewer waiting."""


class Turns:
    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}
        """By owner, in the order in which they have their turns; each owner's own in the order in which they came."""

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        await self.take(owner)
        try:
            yield
        finally:
            self.give_back()

    @property
    def is_free(self) -> bool:
        """Is there a place for which nobody has to wait?"""
        return self._free > 0

    def make_way(self, owner: str) -> bool:
        """For one more who waits: whoever has most waiting gives the newest of these up, if that is still more than
        the owner has."""
        count = {each: len(places) for each, places in self._waiting.items()}
        most = max(count, key=count.__getitem__, default=owner)
        if count.get(most, 0) <= count.get(owner, 0) + 1:
            return False
        newest = next(reversed(self._waiting[most]))
        self._leave(most, newest)
        if not newest.done():
            newest.set_exception(Crowded())
        return True

    async def take(self, owner: str) -> None:
        """Raises Crowded where it had to give way."""
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
            elif place.exception() is None:  # it came while its taker was leaving
                self.give_back()
            raise

    def give_back(self) -> None:
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
