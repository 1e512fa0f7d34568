"""A few places for much work, given to owners in turn: an owner with a hundred pieces of work waits for its own, and
keeps no other owner from the next place.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Crowded(Exception):
    """A piece of work gave its place in the queue up for an owner with fewer."""


class Turns:
    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}
        """Work by owner, owners in the order of their turns, and the work of each in the order in which it came."""

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        await self.take(owner)
        try:
            yield
        finally:
            self.give_back()

    @property
    def is_free(self) -> bool:
        """Is there a place without a wait?"""
        return self._free > 0

    def make_way(self, owner: str) -> bool:
        """Makes room in the queue: the owner with most work in it gives the newest up, if it has more than this owner
        would have."""
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
        """Waits for a place. Raises Crowded if the wait had to give way."""
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
