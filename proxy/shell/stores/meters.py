"""What all engines hold of meters: how fast they fill, and when a unit is there.

A meter is a bucket that fills evenly within a minute. Of it two numbers are kept: when it was or will be full, and when
that was said. The second guards against a clock that jumps back: no time has passed then, and nobody waits longer. A
time that lies back by less than processes may disagree is no jump, but a question that another one has overtaken: the
later time holds, or what flowed in between would flow in again.
"""

from typing import Final

from proxy.shell.stores.protocol import Want
from proxy.shell.stores.terms import SKEW_SECONDS

MINUTE: Final = 60.0
TOLERANCE: Final = 0.001
"""Seconds. Less is only the rounding of clocks."""


def cost(want: Want) -> float:
    """The seconds in which so much flows in."""
    return want.units * MINUTE / want.most


def most_missing(want: Want) -> float:
    """What may be missing at most, in seconds, where so much is taken."""
    return MINUTE + TOLERANCE - cost(want)


def held(seen: float, now: float) -> float:
    """The time that holds."""
    return seen if now < seen < now + SKEW_SECONDS else now


def missing(full_at: float, seen: float, now: float) -> float:
    """The seconds until it is full."""
    return max(full_at - max(now, seen), 0.0)
