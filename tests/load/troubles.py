"""What was done to a proxy and its store, and when: what a client may be told depends on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple, Protocol

from tests.load.promises import now

DYING_SECONDS = 0.5
"""From a kill to the last of its connections."""
HEALING_SECONDS = 5.0
"""From the end of an outage to the last process that knows of it: each asks once a second, on a new connection."""


class Troubles(Protocol):
    """Was it so at any time since then?"""

    def killed(self, since: float) -> bool:
        """A process was killed."""

    def away(self, since: float) -> bool:
        """The store did not answer."""

    def lost(self, since: float) -> bool:
        """The events of a run may be lost: the store was emptied, or did not take them for some seconds."""


@dataclass
class OnlyKills:
    """Of a store that is in use by who is killed: it may be away at any time."""

    kills: Callable[[], list[float]]

    def killed(self, since: float) -> bool:
        return any(kill >= since - DYING_SECONDS for kill in self.kills())

    def away(self, since: float) -> bool:
        return True

    def lost(self, since: float) -> bool:
        return False


@dataclass
class Outage:
    kind: str
    began: float
    ended: float = inf


class Kill(NamedTuple):
    at: float
    node: str


@dataclass
class History:
    kills: list[Kill] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)

    def killed(self, since: float) -> bool:
        return any(kill.at >= since - DYING_SECONDS for kill in self.kills)

    def killed_at(self, node: str, since: float) -> float:
        """When this one was killed next."""
        return min((kill.at for kill in self.kills if kill.node == node and kill.at >= since), default=inf)

    def away(self, since: float) -> bool:
        return self.away_between(since, now())

    def away_between(self, since: float, until: float) -> bool:
        return any(
            outage.began <= until and since <= outage.ended + HEALING_SECONDS for outage in self.outages
        )

    def lost(self, since: float) -> bool:
        return self.lost_between(since, now())

    def lost_between(self, since: float, until: float) -> bool:
        """What ended long before a crash is emptied by it, too."""
        crashed = any(outage.ended >= since for outage in self.outages if outage.kind == "crash")
        return crashed or self.away_between(since, until)
