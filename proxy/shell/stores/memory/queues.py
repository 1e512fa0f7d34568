"""The queues before backends, in the memory of one process."""

from collections.abc import Mapping, Sequence

from proxy.shell.stores.protocol import Ticket
from proxy.shell.stores.terms import LEASE_SECONDS, Clock, lives_between


class MemoryQueues:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._workers: dict[Ticket, str] = {}
        """The worker of each ticket, in the order in which the tickets came."""
        self._until: dict[str, float] = {}
        """By when each worker must be heard of again."""

    def enter(self, worker: str, tickets: Sequence[Ticket]) -> Mapping[Ticket, int]:
        self._until[worker] = self._clock.steady() + LEASE_SECONDS
        for ticket in tickets:
            self._workers.setdefault(ticket, worker)
        return self.ranks(worker)

    def ranks(self, worker: str) -> Mapping[Ticket, int]:
        found: dict[Ticket, int] = {}
        before: dict[str, int] = {}
        for ticket, whose in self._workers.items():
            if self._lives(whose):
                rank = before.get(ticket.queue, 0)
                before[ticket.queue] = rank + 1
                if whose == worker:
                    found[ticket] = rank
        return found

    def _lives(self, worker: str) -> bool:
        after, most = lives_between(self._clock.steady())
        return after < self._until.get(worker, after) <= most

    def leave(self, tickets: Sequence[Ticket]) -> None:
        for ticket in tickets:
            self._workers.pop(ticket, None)

    def sweep(self, most: int) -> int:
        dead = [ticket for ticket, worker in self._workers.items() if not self._lives(worker)][:most]
        self.leave(dead)
        if len(dead) < most:
            self._until = {worker: until for worker, until in self._until.items() if self._lives(worker)}
        return len(dead)
