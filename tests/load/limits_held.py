"""The limits of tenants over all nodes, judged by what their backend was asked."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from tests.load.allowance import MINUTE, Arrival, Minute, deepest, levels, minutes
from tests.load.limited import Taken, Tenant
from tests.load.troubles import HEALING_SECONDS, History, Outage

TOLERANCE = 0.01
EMPTY = 0.97
NOT_LONG = 2.0
"""Seconds."""


@dataclass
class Held:
    tenant: Tenant
    units: int
    flowed: float
    """What came through, and what a bucket of that limit would have had from the first to the last."""
    deepest: float
    """The most beyond what had flowed in, in any time at all."""
    most: float
    """What that may be: the limit, and what nobody could charge."""
    lost: int
    peaks: list[tuple[str, float]]
    """The same from the begin of each outage to that of the next, by what that was. What once came through stays among
    what has: only where one is higher than those before it has it opened the limit."""
    calm: list[Minute]
    """Those in which the store was there, and all was taken at their begin: as much comes through as flows in."""
    wrong: list[str]

    def line(self) -> str:
        counts = [minute.units for minute in self.calm]
        peaks = ", ".join(f"{what} {level / self.tenant.limit:.1%}" for what, level in self.peaks)
        calm = f", {min(counts)} to {max(counts)} in each of {len(counts)} calm minutes" if counts else ""
        return (
            f"{self.tenant.name:<13}{self.tenant.limit} a minute: {self.units} came through where "
            f"{self.flowed:.0f} may have{calm}; at most {self.deepest:.0f} at once "
            f"({self.deepest / self.tenant.limit:.1%}, at most {self.most:.0f}: {peaks}); {self.lost} were cut off"
        )


def judged(
    tenant: Tenant,
    arrivals: Sequence[Arrival],
    taken: Taken,
    history: History,
    nodes: int,
    began: float,
    ended: float,
) -> Held:
    """`began` to `ended`: how long clients wanted more than they might have. When the store has lost what it may lose,
    limits start full."""
    emptied = [outage.ended for outage in history.outages if outage.kind == "crash"]
    bounds = [began, *emptied, ended]
    worst, empty, wrong = (0.0, 0.0), list[float](), list[str]()
    parts = parts_of(history, began)
    peaks = [(what, 0.0) for what, _ in parts]
    for start, end in pairwise(bounds):
        within = [each for each in arrivals if start <= each[0] < end]
        empty += (at for at, level in levels(within, tenant.limit) if level >= tenant.limit * EMPTY)
        for at, level in levels(within, tenant.limit):
            part = bisect_right(parts, at, key=itemgetter(1)) - 1
            peaks[part] = peaks[part][0], max(peaks[part][1], level)
        level = deepest(within, tenant.limit)
        doubtful = sum(
            in_doubt(tenant, each, history.kills, nodes)
            for each in history.outages
            if start <= each.began < end
        )
        most = _most(tenant, taken, start, end) + doubtful
        worst = max(worst, (level, most))
        if level > most:
            wrong.append(f"{tenant.name}: {level:.0f} at once, above a limit of {tenant.limit}")
    calm = [
        minute
        for minute in minutes(arrivals, began, ended)
        if not history.away_between(minute.began - HEALING_SECONDS, minute.began + MINUTE)
        and any(minute.began - NOT_LONG <= at < minute.began for at in empty)
    ]
    wrong += (problem for minute in calm if (problem := _problem(tenant, minute, taken)))
    lost = _units(taken.lost, began, ended)
    flowed = tenant.limit * (len(bounds) - 1 + (ended - began) / MINUTE)
    return Held(tenant, _units(arrivals, began, ended), flowed, *worst, lost, peaks, calm, wrong)


def parts_of(history: History, began: float) -> list[tuple[str, float]]:
    """What was done last to the database, and from when on."""
    parts = [("before", began)]
    for outage in history.outages:
        killed = any(outage.began <= kill <= outage.ended for kill in history.kills)
        parts.append((f"{outage.kind} with a kill" if killed else outage.kind, outage.began))
    return parts


def _problem(tenant: Tenant, minute: Minute, taken: Taken) -> str | None:
    lost = _units(taken.lost, minute.began - 1, minute.began + MINUTE)
    if minute.units > _most(tenant, taken, minute.began - 1, minute.began + MINUTE):
        return f"{tenant.name}: {minute.units} in a minute of {tenant.limit}"
    if minute.units < tenant.limit * (1 - TOLERANCE) - lost:
        return f"{tenant.name}: only {minute.units} in a minute of {tenant.limit}, though more were wanted"
    return None


def in_doubt(tenant: Tenant, outage: Outage, kills: Sequence[float], nodes: int) -> float:
    """Whoever asked the store when it went may have been charged there or not, and is charged nowhere else: nobody pays
    twice. Each node may let in one at least. And what a node let in by its part is told by nobody if it was killed
    before the store was back."""
    untold = sum(
        min(kill, outage.ended) - outage.began
        for kill in kills
        if outage.began <= kill <= outage.ended + HEALING_SECONDS
    )
    return tenant.clients + nodes + untold * tenant.limit / MINUTE / nodes


def _most(tenant: Tenant, taken: Taken, began: float, ended: float) -> float:
    """A request is charged before its backend is asked: there is no excuse. Its calls are known when they have been
    made, and a node that was killed has charged none but the first."""
    uncharged = 0 if tenant.requests else _units(taken.lost, began, ended)
    return tenant.limit * (1 + TOLERANCE) + tenant.on_credit + uncharged


def _units(arrivals: Sequence[Arrival], began: float, ended: float) -> int:
    return sum(units for at, units in arrivals if began <= at < ended)
