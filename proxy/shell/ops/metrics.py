"""What one worker counts, once per request.

The counts are plain numbers in plain dicts, which a request changes within microseconds, and which one worker can send
to another as they are. `prometheus_client` is needed only to show them (`exposition`). Labels are names of our own or
of the configuration; whatever a client or a backend chose is "other" (S29).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from operator import add
from typing import Any

from proxy.core.errors import BackendFault, ClientFault, Fault
from proxy.core.ledger import Ledger
from proxy.core.policy.breaker import Breaker, State
from proxy.shell.ops.fault_codes import OTHER, code_label
from proxy.shell.ops.metric_families import FAMILIES, SECONDS, Counts, Labels

NONE = "none"
"""The label of what does not exist: a refused request has no backend, a cut one no ending."""

CLIENT_GONE = 499
"""nginx's status for a client that did not wait; it stands only in the log."""

KINDS_OF_REMARKS = 200
"""Far more than there are. The names are in the code; if one ever came from outside, this limits their number."""

TOKENS = ("input", "output", "cached", "reasoning")
STATES = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}


EVENTS = (
    "requests_in_progress", "streams_open", "faults", "refusals", "faults_mended", "markup", "oddities", "dropped",
    "store_commands", "store_seconds", "store_failures", "store_unreadable", "not_stored", "memos_lost", "runs",
    "runs_lost", "swept", "lessons", "limits_by_share", "watcher_failures", "spans", "recordings", "recordings_lost",
)  # fmt: skip
"""Families that are counted as they happen. The others are sums over the kinds of requests, made when they are read."""


class Metrics:
    """One worker's counts."""

    def __init__(self, breakers: Mapping[str, Breaker], formats: Collection[str]) -> None:
        self._breakers = breakers
        self._formats = formats
        self._kinds: dict[Labels, _Kind] = {}
        self._counts: dict[str, defaultdict[Labels, float]] = {name: defaultdict(float) for name in EVENTS}
        self._gauges: dict[str, Callable[[], float]] = {}
        self._gauges_by_label: dict[str, Callable[[], Mapping[Labels, float]]] = {}

    # ── feeding ──

    def began(self, surface: str) -> None:
        self._counts["requests_in_progress"][(surface,)] += 1

    def streams(self, surface: str) -> None:
        """Counts a stream among the requests under way."""
        self._counts["streams_open"][(surface,)] += 1

    def ended(self, surface: str, ledger: Ledger, fault: Fault | None) -> None:
        """Counts a request that has ended."""
        counts, facts = self._counts, ledger.facts
        backend = facts.get("backend", NONE)
        counts["requests_in_progress"][(surface,)] -= 1
        if facts.get("stream"):
            counts["streams_open"][(surface,)] -= 1
        if fault is not None:
            counts["faults"][backend, _who(fault), code_label(fault)] += 1
        labels = (surface, backend, facts["tenant"], _class_of(facts["status"]), facts.get("ending", NONE))
        kind = self._kinds.get(labels)
        if kind is None:
            kind = self._kinds[labels] = _Kind()
        kind.requests += 1
        _count_in(kind.durations, facts["ms_total"])
        if (waited := facts.get("ms_first_text")) is not None:
            _count_in(kind.first_tokens, waited)
        if calls := facts.get("calls"):
            kind.calls += calls
        if "input_tokens" in facts:
            kind.input_tokens += facts["input_tokens"]
            kind.output_tokens += facts["output_tokens"]
            kind.cached_tokens += facts["cached_tokens"]
            kind.reasoning_tokens += facts["reasoning_tokens"]
        self._remark(ledger)

    def mended(self, backend: str, fault: Fault) -> None:
        """Counts a failure of a backend after which the proxy tries again, there or at another backend."""
        self._counts["faults_mended"][backend, code_label(fault)] += 1

    def count(self, family: str, *labels: str, by: float = 1) -> None:
        """Adds to a family that is counted as it happens."""
        self._counts[family][labels] += by

    def gauge(self, family: str, read: Callable[[], float]) -> None:
        """Has a number read whenever the counts are told."""
        self._gauges[family] = read

    def gauge_by_label(self, family: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        """The same, where there are several numbers."""
        self._gauges_by_label[family] = read

    def refused(self, fault: Fault) -> None:
        """Counts an error answer over HTTP."""
        self._counts["refusals"][_class_of(fault.status), code_label(fault)] += 1

    def _remark(self, ledger: Ledger) -> None:
        for found, times in ledger.markup.items():
            outcome, _, format = found.partition(":")
            self._counts["markup"][outcome, format if format in self._formats else OTHER] += times
        for name, remarks in (("oddities", ledger.oddities), ("dropped", ledger.dropped)):
            counts = self._counts[name]
            for remark, times in remarks.items():
                what = remark.partition(":")[0]  # what follows is a detail of the request
                known = (what,) in counts or len(counts) < KINDS_OF_REMARKS
                counts[(what if known else OTHER,)] += times

    # ── telling ──

    def counts(self) -> Counts:
        counts: dict[str, dict[Labels, Any]] = {name: defaultdict(float) for name in FAMILIES}
        counts.update(self._counts)
        times: dict[str, defaultdict[Labels, list[float]]] = {
            "duration_seconds": defaultdict(_no_times),
            "first_token_seconds": defaultdict(_no_times),
        }
        for (surface, backend, tenant, status, ending), kind in self._kinds.items():
            counts["requests"][surface, backend, status, ending] += kind.requests
            counts["tenant_requests"][tenant, status] += kind.requests
            if kind.calls:
                counts["tool_calls"][(backend,)] += kind.calls
                counts["tenant_tool_calls"][(tenant,)] += kind.calls
            for name in TOKENS:
                if tokens := getattr(kind, f"{name}_tokens"):
                    counts["tokens"][backend, name] += tokens
                    counts["tenant_tokens"][tenant, name] += tokens
            _add(times["duration_seconds"][surface, backend], kind.durations)
            if any(kind.first_tokens):
                _add(times["first_token_seconds"][(backend,)], kind.first_tokens)
        counts["breaker_state"] = {
            (backend,): STATES[breaker.state] for backend, breaker in self._breakers.items()
        }
        counts.update({name: {(): read()} for name, read in self._gauges.items()})
        counts.update({name: dict(read()) for name, read in self._gauges_by_label.items()})
        return {name: list(numbers.items()) for name, numbers in (counts | times).items()}


def _no_times() -> list[float]:
    """Returns an empty histogram: the number in each bucket, and the sum of all."""
    return [0.0] * (len(SECONDS) + 2)


@dataclass(slots=True)
class _Kind:
    """The numbers of one kind of requests. Kinds are the finest that any family needs; families are sums over them."""

    requests: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    durations: list[float] = field(default_factory=_no_times)
    first_tokens: list[float] = field(default_factory=_no_times)


def _count_in(times: list[float], milliseconds: float) -> None:
    seconds = milliseconds / 1000
    times[bisect_left(SECONDS, seconds)] += 1
    times[-1] += seconds


def _add(times: list[float], more: list[float]) -> None:
    times[:] = map(add, times, more)


def _class_of(status: int) -> str:
    return "left" if status == CLIENT_GONE else f"{status // 100}xx"


def _who(fault: Fault) -> str:
    if isinstance(fault, ClientFault):
        return "client"
    return "backend" if isinstance(fault, BackendFault) else "proxy"
