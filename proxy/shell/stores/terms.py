"""By which time an engine goes, and how long it keeps what: the parameters that all engines share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LEASE_SECONDS: Final = 45.0
"""A worker that has not beaten for so long is dead."""

SKEW_SECONDS: Final = 5.0
"""How far two processes may disagree about an engine's time, where each of them only estimates it."""

BRIEF_SECONDS: Final = 600.0
"""How long background work of `store: false` can be read after its end, and any log."""

DAY: Final = 86_400.0


@dataclass(slots=True, frozen=True)
class Clock:
    """Two clocks: a date that jumps must bury nobody."""

    date: Callable[[], float]
    """Seconds since 1970: when things expire."""
    steady: Callable[[], float]
    """Seconds since any moment that is the same for all processes of the machine: who lives."""


@dataclass(slots=True, frozen=True)
class Keeping:
    """How long and how much. Asked when something is read, not when it is written: a shorter time holds for what is
    there already."""

    response_seconds: float = 30 * DAY
    conversation_seconds: float | None = None
    """After the last use."""
    most_bytes: int = 10 << 30
    read_bytes: int = 128 << 20
    """Bytes of one conversation, page or list of items that are read at a time: whatever is kept, there is room to read
    it."""


def lives_between(now: float) -> tuple[float, float]:
    """When the lease of a worker ends that lives. A later end is from before the machine was started, and none is so
    late because whoever took the lease is a little ahead."""
    return now, now + LEASE_SECONDS + SKEW_SECONDS


def always() -> bool:
    """For processes that have no others beside them: they may always bury the dead."""
    return True
