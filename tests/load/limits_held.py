"""The limits of tenants over all nodes, judged by what their backend was asked.

A node that is killed takes with it what only it knew: the calls of replies that had not ended, of which one at most was
charged ahead, and all that it let in by its part while the store was away. Nobody can charge that. All else must be
within the limit whenever a request is let in. The calls of those under way are charged as their replies end, if need be
on credit, and keep others out until they have flowed in.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

from tests.load.allowance import MINUTE, Arrival, Minute, deepest, levels, minutes
from tests.load.counted import MOMENT_SECONDS
from tests.load.limited import Came, Taken, Tenant
from tests.load.troubles import HEALING_SECONDS, History

TOLERANCE = 0.01
EMPTY = 0.97
NOT_LONG = 2.0
"""Seconds."""


class Charge(NamedTuple):
    at: float
    units: int
    lets_in: bool


@dataclass
class Held:
    tenant: Tenant
    units: int
    flowed: float
    """What came through, and what a bucket of that limit would have had from the first to the last."""
    deepest: float
    """The most that came through beyond what had flowed in, in any time at all."""
    taken_along: int
    """What killed nodes took with them."""
    charged: float
    """The most beyond what had flowed in that was charged as somebody was let in."""
    doubtful: int
    """What that may be beyond the limit and its tolerance: whoever asked the store as it went may have been charged
    there or not, and where that never turns out is charged nowhere else, for nobody pays twice."""
    lost: int
    peaks: list[tuple[str, float]]
    """The same from the begin of each outage to that of the next, by what that was. What once came through stays among
    what has: only where one is higher than those before it has it opened the limit."""
    calm: list[Minute]
    """Those in which the store was there, and all was taken at their begin: as much comes through as flows in."""
    wrong: list[str]

    def lines(self) -> list[str]:
        limit, counts = self.tenant.limit, [minute.units for minute in self.calm]
        calm = f", {min(counts)} to {max(counts)} in each of {len(counts)} calm minutes" if counts else ""
        peaks = ", ".join(f"{what} {level / limit:.1%}" for what, level in self.peaks)
        allowed = f"{1 + TOLERANCE:.0%} and {self.doubtful} in doubt"
        return [
            f"{self.tenant.name:<13}{limit} a minute: {self.units} came through where {self.flowed:.0f} may have"
            f"{calm}; {self.lost} were cut off",
            f"  as charged  {self.charged / limit:.1%} at once (at most {allowed}: {peaks})",
            f"  as it came  {self.deepest / limit:.1%} at once, with {self.taken_along} that killed nodes took along",
        ]


def judged(
    tenant: Tenant,
    came: Sequence[Came],
    taken: Taken,
    history: History,
    began: float,
    ended: float,
) -> Held:
    """`began` to `ended`: how long clients wanted more than they might have. When the store has lost what it may lose,
    limits start full."""
    emptied = [outage.ended for outage in history.outages if outage.kind == "crash"]
    bounds = [began, *emptied, ended]
    arrivals = [(each.at, each.units) for each in came]
    charges = charges_of(came, tenant, history)
    worst, empty, wrong = (0.0, 0), list[float](), list[str]()
    parts = parts_of(history, began)
    peaks = [(what, 0.0) for what, _ in parts]
    for start, end in pairwise(bounds):
        highest = 0.0
        for at, level in levels_as_let_in((each for each in charges if start <= each.at < end), tenant.limit):
            highest = max(highest, level)
            if level >= tenant.limit * EMPTY:
                empty.append(at)
            part = bisect_right(parts, at, key=itemgetter(1)) - 1
            peaks[part] = peaks[part][0], max(peaks[part][1], level)
        outages = [each for each in history.outages if start <= each.began < end]
        doubtful = tenant.clients * len(outages)
        worst = max(worst, (highest, doubtful))
        if highest > tenant.limit * (1 + TOLERANCE) + doubtful:
            wrong.append(f"{tenant.name}: {highest:.0f} at once, above a limit of {tenant.limit}")
    calm = [
        minute
        for minute in minutes(arrivals, began, ended)
        if not history.away_between(minute.began - HEALING_SECONDS, minute.began + MINUTE)
        and any(minute.began - NOT_LONG <= at < minute.began for at in empty)
    ]
    wrong += (problem for minute in calm if (problem := _problem(tenant, minute, taken)))
    return Held(
        tenant,
        units=(units := _units(arrivals, began, ended)),
        flowed=tenant.limit * (len(bounds) - 1 + (ended - began) / MINUTE),
        deepest=max(
            deepest([each for each in arrivals if start <= each[0] < end], tenant.limit)
            for start, end in pairwise(bounds)
        ),
        taken_along=units - sum(each.units for each in charges if began <= each.at < ended),
        charged=worst[0],
        doubtful=worst[1],
        lost=_units(taken.lost, began, ended),
        peaks=peaks,
        calm=calm,
        wrong=wrong,
    )


def charges_of(came: Iterable[Came], tenant: Tenant, history: History) -> list[Charge]:
    """What can be charged, and when: one unit as a request is let in, and as its reply ends what that calls besides."""
    charges: list[Charge] = []
    for each in came:
        killed = history.killed_at(each.node, each.at)
        if not _is_untold(each.at, killed, history):
            charges.append(Charge(each.at, 1, lets_in=True))
        ends = each.at + MOMENT_SECONDS
        if each.units != 1 and ends < killed and not _is_untold(ends, killed, history):
            charges.append(Charge(ends, each.units - 1, lets_in=False))
    return sorted(charges, key=attrgetter("at"))


def _is_untold(at: float, killed: float, history: History) -> bool:
    """It was charged while the store was away, by a node that was killed before it could tell the store."""
    return any(outage.began <= at and killed <= outage.ended + HEALING_SECONDS for outage in history.outages)


def levels_as_let_in(charges: Iterable[Charge], limit: int) -> Iterator[tuple[float, float]]:
    charges = list(charges)
    of_each = levels(((each.at, each.units) for each in charges), limit)
    return (found for each, found in zip(charges, of_each, strict=True) if each.lets_in)


def parts_of(history: History, began: float) -> list[tuple[str, float]]:
    """What was done last to the database, and from when on."""
    parts = [("before", began)]
    for outage in history.outages:
        killed = any(outage.began <= kill.at <= outage.ended for kill in history.kills)
        parts.append((f"{outage.kind} with a kill" if killed else outage.kind, outage.began))
    return parts


def _problem(tenant: Tenant, minute: Minute, taken: Taken) -> str | None:
    lost = _units(taken.lost, minute.began - 1, minute.began + MINUTE)
    if minute.units < tenant.limit * (1 - TOLERANCE) - lost:
        return f"{tenant.name}: only {minute.units} in a minute of {tenant.limit}, though more were wanted"
    return None


def _units(arrivals: Sequence[Arrival], began: float, ended: float) -> int:
    return sum(units for at, units in arrivals if began <= at < ended)
