"""The tickets of this process in the queues before all backends: entered, asked for and given up by one loop.

No request waits for the store by itself. What all of them want goes there together, and one question in a tenth of a
second asks for all tickets that wait. While the store is away, each process goes by its part of the slots; when it is
back, what was let in meanwhile takes its place in the queue.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from math import inf
from typing import Final, Protocol

from proxy.shell.stores.protocol import Live, StoreDown, Ticket

POLL_SECONDS: Final = 0.1
STAY_SECONDS: Final = 5.0
"""The pause between two signs of life. A lease is nine times as long."""


class Queue(Protocol):
    """The requests of this process that stand in the queue of one backend."""

    @property
    def waits(self) -> bool: ...

    @property
    def tickets(self) -> list[Ticket]:
        """The tickets of all, including those who were let in."""

    def ranked(self, ranks: Mapping[Ticket, int]) -> None:
        """Tells how many stand before each ticket. A ticket that is missing, or not ranked yet, goes on waiting."""

    def divide(self) -> None:
        """Lets in as many as this process may have by itself, because the store cannot be asked."""


class Tickets:
    def __init__(self, live: Live, worker: str, steady: Callable[[], float]) -> None:
        self._live = live
        self._worker = worker
        self._steady = steady
        self._numbers = count(1)
        self._queues: list[Queue] = []
        self._entering: dict[Ticket, None] = {}
        self._leaving: dict[Ticket, None] = {}
        self._asking: list[asyncio.Future[None]] = []
        self._news = asyncio.Event()
        self._heard_of = -inf
        self.is_down = False

    def serve(self, queue: Queue) -> None:
        self._queues.append(queue)

    def issue(self, name: str) -> Ticket:
        """Makes a ticket that is about to enter this queue."""
        ticket = Ticket(name, f"{self._worker}.{next(self._numbers)}")
        self._entering[ticket] = None
        self._news.set()
        return ticket

    def give_up(self, ticket: Ticket) -> None:
        if ticket in self._entering:
            del self._entering[ticket]  # if it is on its way, it will be a stranger there
        else:
            self._leaving[ticket] = None
            self._news.set()

    async def answered(self, queue: Queue) -> None:
        """Waits until the store has heard of all tickets that there are now, or does not answer."""
        if self.is_down:
            queue.divide()
            return
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asking.append(answer)
        self._news.set()
        await answer

    async def run(self) -> None:
        """Runs for ever. However it ends, nobody is left waiting for it."""
        try:
            while True:
                await self._pause()
                await self._round()
        finally:
            self._divide()

    async def _pause(self) -> None:
        seconds = None
        if self._leaving or self._has_tickets:
            hurries = self.is_down or any(queue.waits for queue in self._queues)
            seconds = POLL_SECONDS if hurries else STAY_SECONDS
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
        self._news.clear()

    @property
    def _has_tickets(self) -> bool:
        return any(queue.tickets for queue in self._queues)

    async def _round(self) -> None:
        asking, self._asking = self._asking, []
        try:
            self._take_up(await self._ranks())
        except StoreDown:
            self._divide()
        finally:
            for answer in asking:
                if not answer.done():
                    answer.set_result(None)

    async def _ranks(self) -> Mapping[Ticket, int]:
        if leaving := list(self._leaving):
            await self._live.leave(leaving)
            for ticket in leaving:
                del self._leaving[ticket]
        if not self._has_tickets:
            return {}
        now = self._steady()
        if not self._entering and now - self._heard_of < STAY_SECONDS:
            return await self._live.ranks(self._worker)
        entering = list(self._entering)
        ranks = await self._live.enter(self._worker, entering)
        self._heard_of = now
        for ticket in entering:
            self._entering.pop(ticket, None)
        return ranks

    def _take_up(self, ranks: Mapping[Ticket, int]) -> None:
        self.is_down = False
        known: set[Ticket] = set()
        for queue in self._queues:
            queue.ranked(ranks)
            known.update(queue.tickets)
        lost, strangers = known - ranks.keys(), ranks.keys() - known
        if lost or strangers:
            self._entering |= dict.fromkeys(sorted(lost))
            self._leaving |= dict.fromkeys(strangers)
            self._news.set()

    def _divide(self) -> None:
        self.is_down = True
        for queue in self._queues:
            queue.divide()

    async def close(self) -> None:
        """Gives up all that there are, when nobody waits any more."""
        tickets = [*self._leaving, *(ticket for queue in self._queues for ticket in queue.tickets)]
        if tickets:
            with suppress(StoreDown):
                await self._live.leave(tickets)
