"""What all engines hold of logs: their states, their limits, and when they expire."""

from enum import IntEnum
from typing import Final

from proxy.shell.stores.protocol import LogClosed
from proxy.shell.stores.terms import BRIEF_SECONDS, DAY

MOST_LOG_BYTES: Final = 32 << 20
"""Bytes of the events of one log, as their clients get them."""


class LogState(IntEnum):
    """Kept as numbers."""

    OPEN = 0
    SHUT = 1
    ENDED = 2
    GONE = 3
    """Too long, or part of it is lost: nothing of it is kept but this."""


REFUSALS: Final = {
    LogState.SHUT: LogClosed.OVER,
    LogState.ENDED: LogClosed.OVER,
    LogState.GONE: LogClosed.GONE,
}

KEPT_SECONDS: Final = {
    LogState.OPEN: DAY,
    LogState.SHUT: DAY,
    LogState.ENDED: BRIEF_SECONDS,
    LogState.GONE: DAY,
}
"""After the last change."""
