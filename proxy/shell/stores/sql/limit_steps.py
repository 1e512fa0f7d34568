"""The steps of meters and of queues before backends."""

from collections.abc import Mapping, Sequence

from proxy.shell.stores.meters import cost, most_missing
from proxy.shell.stores.protocol import Granted, Ticket, Wait, Want
from proxy.shell.stores.sql import limit_statements as sql
from proxy.shell.stores.sql.step import Step
from proxy.shell.stores.terms import LEASE_SECONDS, Clock, lives_between


class MeterSteps:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def take(self, tenant: str, wants: Sequence[Want]) -> Step[Granted | Wait]:
        full_in: dict[Want, float] = {}
        for want in sorted(wants):  # in one order, or two would wait for each other
            missing = yield from (self._take if want.units else self._charge)(tenant, want)
            if missing is None:
                break
            full_in[want] = missing
        else:
            return Granted([full_in[want] for want in wants])
        for want in sorted(wants):
            back = want._replace(units=-want.units if want in full_in else 0)
            full_in[want] = yield from self._charge(tenant, back)
        return Wait([full_in[want] for want in wants])

    def charge(self, tenant: str, wants: Sequence[Want]) -> Step[None]:
        for want in sorted(wants):
            yield from self._charge(tenant, want)

    def _take(self, tenant: str, want: Want) -> Step[float | None]:
        now = self._clock.steady()
        rows = yield sql.TAKE, (*_charged(tenant, want, now), most_missing(want))
        return rows[0][0] if rows else None

    def _charge(self, tenant: str, want: Want) -> Step[float]:
        rows = yield sql.CHARGE, _charged(tenant, want, self._clock.steady())
        missing: float = rows[0][0]
        return max(0.0, missing)

    def sweep(self, most: int) -> Step[int]:
        """Forgets meters that are full, as they are no different from new ones."""
        now = self._clock.steady()
        rows = yield sql.FULL_METERS, (now, now, most)
        for tenant, unit in rows:
            yield sql.FORGET_METER, (tenant, unit, now)
        return len(rows)


def _charged(tenant: str, want: Want, now: float) -> tuple[object, ...]:
    return tenant, want.unit, now + cost(want), now


class QueueSteps:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def _lease(self) -> tuple[float, float]:
        """Between which times a living worker's lease ends."""
        return lives_between(self._clock.steady())

    def enter(self, worker: str, tickets: Sequence[Ticket]) -> Step[Mapping[Ticket, int]]:
        yield sql.HOLD, (worker, self._clock.steady() + LEASE_SECONDS)
        for ticket in sorted(set(tickets), key=tickets.index):
            if not (yield sql.STANDS, ticket):
                rows = yield sql.NUMBER, (ticket.queue,)
                yield sql.ENTER, (*ticket, rows[0][0], worker)
        return (yield from self.ranks(worker))

    def ranks(self, worker: str) -> Step[Mapping[Ticket, int]]:
        rows = yield sql.RANKS, (*self._lease(), worker)
        return {Ticket(queue, id): before for queue, id, before in rows}

    def leave(self, tickets: Sequence[Ticket]) -> Step[None]:
        for ticket in tickets:
            yield sql.LEAVE, ticket

    def sweep(self, most: int) -> Step[int]:
        dead = yield sql.DEAD_TICKETS, (*self._lease(), most)
        yield from self.leave([Ticket(*each) for each in dead])
        yield sql.FORGET_HOLDERS, self._lease()
        return len(dead)
