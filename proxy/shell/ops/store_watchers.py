"""What operators are shown of the store: counts, and a line at each turn for the better or the worse."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics


class StoreWatcher:
    """Looks on at the commands."""

    def __init__(self, metrics: Metrics, log: Log) -> None:
        self._metrics = metrics
        self._log = log

    def took(self, op: str, seconds: float) -> None:
        self._metrics.count("store_commands", op)
        self._metrics.count("store_seconds", op, by=seconds)

    def failed(self, op: str, reason: str) -> None:
        self._metrics.count("store_failures", op)

    def went_down(self, reason: str) -> None:
        self._log.error("store_down", reason=reason)

    def came_back(self, seconds: float) -> None:
        self._log.info("store_up", seconds=round(seconds, 1))

    def refused(self, reason: str) -> None:
        """A store that came late cannot be used."""
        self._log.error("store_unreadable", reason=reason)


class LiveWatcher(StoreWatcher):
    """Looks on where what may be lost is in a server of its own."""

    def went_down(self, reason: str) -> None:
        self._log.error("live_down", reason=reason)

    def came_back(self, seconds: float) -> None:
        self._log.info("live_up", seconds=round(seconds, 1))

    def refused(self, reason: str) -> None:
        self._log.error("live_unreadable", reason=reason)

    def may_evict(self, policy: str) -> None:
        """The server may delete what is still needed."""
        self._log.warning("live_may_evict", policy=policy or "unknown")


class OrderWatcher:
    """Looks on at those who keep the store in order: the sweeper, and the worker's sign of life."""

    def __init__(self, metrics: Metrics, log: Log) -> None:
        self._metrics = metrics
        self._log = log

    async def settled(self, keys: Sequence[tuple[str, str]]) -> None:
        self._metrics.count("runs_lost", by=len(keys))
        for _, response in keys:
            self._log.warning("run_lost", response_id=response)

    def swept(self, kind: str, count: int) -> None:
        self._metrics.count("swept", kind, by=count)

    def failed(self, failure: Exception) -> None:
        self._log.warning("store_order_failed", kind=type(failure).__name__)


QUIET_SECONDS: Final = 60.0
"""What cannot be read for one reason is told once in this time, however much it is."""


class UnreadableWatcher:
    """Looks on at what is kept and cannot be read: of one response, conversation, log or memo."""

    def __init__(self, metrics: Metrics, log: Log, steady: Callable[[], float]) -> None:
        self._metrics = metrics
        self._log = log
        self._steady = steady
        self._times: Counter[tuple[str, str]] = Counter()
        """Since each was told of."""
        self._quiet_until: dict[tuple[str, str], float] = {}

    def met(self, what: str, reason: str, id: str, key: str) -> None:
        """`key`: the id of the one that has sealed it."""
        self._metrics.count("store_unreadable", what, reason)
        kind = what, reason
        self._times[kind] += 1
        now = self._steady()
        if now >= self._quiet_until.get(kind, now):
            self._quiet_until[kind] = now + QUIET_SECONDS
            times = self._times.pop(kind)
            self._log.error(
                "row_unreadable", what=what, reason=reason, example=id, sealed_by=key or None, times=times
            )
