"""The page at `/metrics`, for Prometheus to read: the counts of all workers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from proxy.shell.ops.metric_families import FAMILIES, SECONDS, Counts, Family

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Every Prometheus reads this format, and it can express all metrics here."""

PREFIX = "responses_proxy_"

WORKER_UP = Family("gauge", "Has this worker told its counts?", ())

QUOTED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def page(workers: Mapping[str, Counts | None]) -> bytes:
    """Writes the counts of all workers, by their names; None stands for a worker that did not answer."""
    return "".join(_lines(workers)).encode()


def _lines(workers: Mapping[str, Counts | None]) -> Iterator[str]:
    yield from _head("worker_up", WORKER_UP)
    for worker, counts in workers.items():
        yield _sample("worker_up", [("worker", worker)], counts is not None)
    for name, family in FAMILIES.items():
        full = f"{name}_total" if family.kind == "counter" else name
        yield from _head(full, family)
        for worker, counts in workers.items():
            for values, numbers in (counts or {}).get(name, ()):
                labels = [*zip(family.labels, values, strict=True), ("worker", worker)]
                if isinstance(numbers, Sequence):
                    yield from _histogram(full, labels, numbers)
                else:
                    yield _sample(full, labels, numbers)


def _head(name: str, family: Family) -> Iterator[str]:
    yield f"# HELP {PREFIX}{name} {family.about}\n"
    yield f"# TYPE {PREFIX}{name} {family.kind}\n"


def _histogram(name: str, labels: list[tuple[str, str]], numbers: Sequence[float]) -> Iterator[str]:
    """Each bucket is told with all that is below it."""
    *buckets, total = numbers
    for bound, below in zip([*map(str, SECONDS), "+Inf"], accumulate(buckets), strict=True):
        yield _sample(f"{name}_bucket", [*labels, ("le", bound)], below)
    yield _sample(f"{name}_count", labels, sum(buckets))
    yield _sample(f"{name}_sum", labels, total)


def _sample(name: str, labels: Iterable[tuple[str, str]], number: float) -> str:
    told = ",".join([f'{label}="{value.translate(QUOTED)}"' for label, value in sorted(labels)])
    return f"{PREFIX}{name}{{{told}}} {float(number)}\n"
