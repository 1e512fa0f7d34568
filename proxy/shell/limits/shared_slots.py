"""The slots of one backend, which all processes share that use one store.

Each request of this process that has no slot has a ticket in the queue, and tickets are let in as they came, whichever
process they are from. Which of the requests gets the slot is decided here, as it would be without others: owners get
slots in turn.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from proxy.shell.limits.tickets import Tickets
from proxy.shell.offload.fair_slots import FairSlots
from proxy.shell.stores.protocol import Ticket


class SharedSlots:
    def __init__(
        self,
        name: str,
        slots: int,
        tickets: Tickets,
        living: Callable[[], int],
        divided: Callable[[], None],
    ) -> None:
        """`name`: of the queue. `living`: how many processes there are, as far as is known. `divided`: hears of each
        request that got a slot of this process's part, because the store is away."""
        self._name = name
        self._slots = slots
        self._office = tickets
        self._living = living
        self._divided = divided
        self._fair = FairSlots(0)
        self._wanted = 0
        """How many requests want a slot at the moment."""
        self._standing: dict[Ticket, None] = {}
        self._let_in: list[Ticket] = []
        """Tickets of requests that have a slot, and of slots that nobody has taken yet."""
        self._taken = 0
        tickets.serve(self)

    # ── for requests ──

    async def at_once(self, owner: str) -> bool:
        """Takes a slot if there is one without a wait."""
        if self._fair.is_waited_for:
            return False
        with self._wanting():
            await self._office.answered(self)
            if self._fair.is_free:
                await self._fair.take(owner)
                self._taken += 1
                return True
        return False

    def evict_for(self, owner: str) -> bool:
        return self._fair.evict_for(owner)

    async def take(self, owner: str) -> None:
        with self._wanting():
            await self._fair.take(owner)
            self._taken += 1

    def give_back(self) -> None:
        self._taken -= 1
        self._office.give_up(self._let_in.pop(0))
        if self._office.is_down:
            self.divide()

    @contextmanager
    def _wanting(self) -> Iterator[None]:
        self._wanted += 1
        self._adjust()
        try:
            yield
        finally:
            self._wanted -= 1
            # A request that got no slot at once goes on to wait for one, with the ticket that it has.
            asyncio.get_running_loop().call_soon(self._adjust)

    def _adjust(self) -> None:
        """Holds as many tickets as there are requests: one that has left needs none."""
        idle = len(self._let_in) - self._taken
        while len(self._standing) + idle < self._wanted:
            self._standing[self._office.issue(self._name)] = None
        while self._standing and len(self._standing) + idle > self._wanted:
            self._office.give_up(self._standing.popitem()[0])
        while self._fair.is_free and idle > self._wanted:
            self._fair.withdraw()
            self._office.give_up(self._let_in.pop())
            idle -= 1

    # ── for the loop that asks the store ──

    @property
    def waits(self) -> bool:
        return bool(self._standing)

    @property
    def tickets(self) -> list[Ticket]:
        return [*self._let_in, *self._standing]

    def ranked(self, ranks: Mapping[Ticket, int]) -> None:
        for ticket in list(self._standing):
            if ranks.get(ticket, self._slots) < self._slots:
                self._enter(ticket)

    def divide(self) -> None:
        part = max(1, self._slots // self._living())
        while self._standing and len(self._let_in) < part:
            self._enter(next(iter(self._standing)))
            self._divided()

    def _enter(self, ticket: Ticket) -> None:
        del self._standing[ticket]
        self._let_in.append(ticket)
        self._fair.give_back()
