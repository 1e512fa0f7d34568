"""The page at `/metrics`, for Prometheus to read: the counts of all workers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from proxy.shell.ops.metric_families import FAMILIES, SECONDS, Counts

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""Every Prometheus reads this format, and it can express all metrics here."""

PREFIX = "responses_proxy_"


def page(workers: Mapping[str, Counts | None]) -> bytes:
    """Writes the counts of all workers, by their names; None stands for a worker that did not answer."""
    registry = CollectorRegistry()
    registry.register(_Shown(workers))
    return generate_latest(registry)


class _Shown(Collector):
    def __init__(self, workers: Mapping[str, Counts | None]) -> None:
        self._workers = workers

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily(f"{PREFIX}worker_up", "Has this worker told its counts?", labels=["worker"])
        for worker, counts in self._workers.items():
            up.add_metric([worker], counts is not None)
        yield up
        for name, family in FAMILIES.items():
            metric = family.shape(PREFIX + name, family.about, labels=[*family.labels, "worker"])
            for worker, counts in self._workers.items():
                for labels, numbers in (counts or {}).get(name, ()):
                    metric.add_metric([*labels, worker], *_values(numbers))
            yield metric


def _values(numbers: float | Sequence[float]) -> tuple[Any, ...]:
    """Returns what `add_metric` takes: a number, or the buckets of a histogram, each with all that is below, and the
    sum."""
    if not isinstance(numbers, Sequence):
        return (numbers,)
    *buckets, total = numbers
    return list(zip([*map(str, SECONDS), "+Inf"], accumulate(buckets), strict=True)), total
