"""A few slots for much work. Owners get them in turn: an owner with a hundred pieces of work waits for its own only,
and another owner gets the next free slot.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Evicted(Exception):
    """This piece of work has lost its place in the queue to an owner with fewer pieces in it."""


class FairSlots:
    def __init__(self, slots: int) -> None:
        self._free = slots
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}
        """The waiting work by owner. The next slot goes to the first owner; the work of each owner keeps its order."""

    @asynccontextmanager
    async def slot(self, owner: str) -> AsyncIterator[None]:
        await self.take(owner)
        try:
            yield
        finally:
            self.give_back()

    @property
    def is_free(self) -> bool:
        """Is there a slot without a wait?"""
        return self._free > 0

    @property
    def is_waited_for(self) -> bool:
        return bool(self._waiting)

    async def at_once(self, owner: str) -> bool:
        """Takes a slot if there is one without a wait."""
        if self.is_free:
            await self.take(owner)
            return True
        return False

    def evict_for(self, owner: str) -> bool:
        """Makes room in the queue: the owner with most work in it loses its newest piece, if it has more pieces than
        this owner would have. Says whether there is room now."""
        count = {each: len(waiters) for each, waiters in self._waiting.items()}
        most = max(count, key=count.__getitem__, default=owner)
        if count.get(most, 0) <= count.get(owner, 0) + 1:
            return False
        newest = next(reversed(self._waiting[most]))
        self._leave(most, newest)
        if not newest.done():
            newest.set_exception(Evicted())
        return True

    async def take(self, owner: str) -> None:
        """Waits for a slot. Raises Evicted if another owner gets the place in the queue."""
        if self._free:
            self._free -= 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, {})[waiter] = None
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                self._leave(owner, waiter)
            elif waiter.exception() is None:  # the slot came while the wait for it was being cancelled
                self.give_back()
            raise

    def give_back(self) -> None:
        while self._waiting:
            owner, waiters = next(iter(self._waiting.items()))
            waiter = next(iter(waiters))
            self._leave(owner, waiter)
            if owner in self._waiting:
                self._waiting[owner] = self._waiting.pop(owner)  # behind all others
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1

    def withdraw(self) -> None:
        """There is one slot less, of those that nobody has taken."""
        self._free -= 1

    def _leave(self, owner: str, waiter: asyncio.Future[None]) -> None:
        waiters = self._waiting.get(owner, {})
        waiters.pop(waiter, None)
        if not waiters:
            self._waiting.pop(owner, None)
