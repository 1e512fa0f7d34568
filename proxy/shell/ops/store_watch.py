"""What operators are shown of the store: counts, and a line at each turn for the better or the worse."""

from collections.abc import Sequence

from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics


class StoreWatch:
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
        """It came late, and cannot be used."""
        self._log.error("store_unreadable", reason=reason)


class LiveWatch(StoreWatch):
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


class OrderWatch:
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
