"""How many requests a backend gets at once, and how many more may wait for a slot (F07, E7).

A request that finds neither a slot nor room in the queue fails at once: a wait would only make the error slower. Owners
get slots in turn, and the requests of one owner keep their order. If the queue is full, the owner with most requests in
it loses one to an owner with fewer. A client that leaves takes its request out of the queue.
"""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from proxy.core.errors import OwnWords, Spared
from proxy.core.policy.shares import Shares
from proxy.shell.http.failures import exhausted
from proxy.shell.offload.fair_slots import Evicted, FairSlots

MAX_EXCHANGES = 2048
"""Exchanges with one backend, so that a slow backend takes nothing away from others. Owners share them: a single owner
may have 1,024, which is Envoy's limit per upstream."""

AS_MANY = "The backend has as many requests as it may have; try again later."

COME_BACK_SECONDS = 1.0
"""Sent as `Retry-After`. It is a constant, because nobody knows when a running reply ends."""


@dataclass(slots=True, frozen=True)
class ConcurrencyRules:
    slots: int | None = None
    """Default: no limit."""
    waiting: int = 0
    wait_seconds: float = 30


class SlotCounts(NamedTuple):
    slots: int | None
    """None: as many as are asked for."""
    working: int
    waiting: int


class Slots(Protocol):
    async def at_once(self, owner: str) -> bool:
        """Takes a slot if there is one without a wait."""

    async def take(self, owner: str) -> None:
        """Waits for a slot. Raises Evicted if another owner gets the place in the queue."""

    def evict_for(self, owner: str) -> bool:
        """Makes room in the queue, if this owner has less in it than another; says whether there is room now."""

    def give_back(self) -> None: ...


class ConcurrencyLimit:
    def __init__(self, rules: ConcurrencyRules, shared: Slots | None = None) -> None:
        """`shared`: the slots, where other processes have a part in them."""
        self._rules = rules
        self._slots: Slots | None = None
        if rules.slots is not None:
            self._slots = shared or FairSlots(rules.slots)
        self.is_limited = rules.slots is not None
        """May a request have to wait?"""
        self._waiting = 0
        self._shares = Shares(MAX_EXCHANGES)

    @property
    def slot_counts(self) -> SlotCounts:
        """Of this process."""
        return SlotCounts(self._rules.slots, self._shares.taken - self._waiting, self._waiting)

    async def enter(self, owner: str) -> None:
        """Takes a slot, and waits for it. Raises a fault if there is none, or none in time."""
        if not self._shares.take(owner):
            raise exhausted(OwnWords("Too many requests are under way: try again later."))
        try:
            if self._slots is not None:
                await self._wait(self._slots, owner)
        except BaseException:
            self._shares.give_back(owner)
            raise

    def leave(self, owner: str) -> None:
        self._shares.give_back(owner)
        if self._slots is not None:
            self._slots.give_back()

    async def _wait(self, slots: Slots, owner: str) -> None:
        if await slots.at_once(owner):
            return
        if self._waiting >= self._rules.waiting and not slots.evict_for(owner):
            raise _full(AS_MANY)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._rules.wait_seconds):
                await slots.take(owner)
        except Evicted:
            raise _full(AS_MANY) from None
        except TimeoutError:
            raise _full("No place at the backend became free in time; try again later.") from None
        finally:
            self._waiting -= 1


def _full(message: str) -> Spared:
    return Spared(message, retry_after=COME_BACK_SECONDS)
