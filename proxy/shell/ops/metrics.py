"""What the proxy counts, for whoever watches over it: fed once per request, shown at `/metrics` for Prometheus.

The counts are plain numbers in plain dicts, which a request moves within microseconds, and which one worker can tell
another as they are. `prometheus_client` comes in when they are shown. Labels are names of our own or of the
configuration; whatever a client or a backend chose is "other" (S29).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import add
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from proxy.core.errors import BackendFault, ClientFault, Fault
from proxy.core.ledger import Ledger
from proxy.core.policy.breaker import Breaker, State

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""Every Prometheus reads it, and everything that can be told here can be told in it."""

PREFIX = "responses_proxy_"
OTHER = "other"
NONE = "none"
"""Where there was nothing to name: a refused request has no backend, a cut one no ending."""

CLIENT_GONE = 499
"""nginx's status for a client that did not wait; it stands only in the log."""

KINDS_OF_REMARKS = 200
"""Far more than there are. Such names are written here, and should one ever come from outside, that is the end."""

TOKENS = ("input", "output", "cached", "reasoning")
STATES = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}

SECONDS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800)
"""Models think for milliseconds or for minutes."""

CODES: Final = frozenset({
    "array_above_max_length", "content_filter", "context_length_exceeded", "head_too_large", "host_not_allowed",
    "insufficient_quota", "invalid_api_key", "invalid_framing",
    "invalid_handshake", "invalid_json", "invalid_message", "invalid_prompt",
    "invalid_tool_arguments", "invalid_type", "invalid_value", "malformed_tool_arguments",
    "method_not_allowed", "model_not_found", "not_found", "origin_not_allowed", "permission_denied",
    "previous_response_not_found", "rate_limit_exceeded", "request_timeout", "request_too_complex",
    "request_too_large", "response_not_found", "server_error", "server_is_overloaded", "server_shutting_down",
    "too_many_tool_calls", "too_many_values", "tool_arguments_too_large", "tool_call_incomplete", "tool_call_required",
    "tool_limit_exceeded", "tool_not_allowed", "tool_schema_incompatible", "unfit_tool_call",
    "unchecked_tool_arguments", "unknown_message_type", "unknown_tool_call", "unsupported_content",
    "unsupported_encoding", "unsupported_media_type", "unsupported_parameter", "upgrade_required", "upstream_auth",
    "upstream_empty_reply", "upstream_error", "upstream_incomplete", "upstream_invalid_response",
    "upstream_not_found", "upstream_protocol_error", "upstream_redirect", "upstream_reply_too_large",
    "upstream_stream_truncated", "upstream_timeout", "upstream_unreachable",
    "websocket_connection_limit_reached",
})  # fmt: skip
"""Of faults, as we name them; a test misses a new one. Backends' own are passed on to clients, but are no labels."""

Labels = tuple[str, ...]
Counts = dict[str, Any]
"""By the family: labels and a number, or the numbers of a histogram; also as JSON, between workers."""


@dataclass(slots=True, frozen=True)
class Family:
    shape: Callable[..., Any]
    about: str
    labels: Labels


FAMILIES: Final = {
    "requests": Family(
        CounterMetricFamily,
        "Requests that came to their end. The status is a class of HTTP's, or `left` when the client did not wait.",
        ("surface", "backend", "status", "ending"),
    ),
    "requests_in_progress": Family(GaugeMetricFamily, "Requests under way.", ("surface",)),
    "streams_open": Family(
        GaugeMetricFamily, "Those among them that are answered as a stream.", ("surface",)
    ),
    "first_token_seconds": Family(
        HistogramMetricFamily, "From the request to the first that the model said.", ("backend",)
    ),
    "duration_seconds": Family(
        HistogramMetricFamily, "From the request to the end of its answer.", ("surface", "backend")
    ),
    "tokens": Family(CounterMetricFamily, "Tokens, as backends count them.", ("backend", "kind")),
    "tool_calls": Family(CounterMetricFamily, "Tool calls in replies.", ("backend",)),
    "faults": Family(
        CounterMetricFamily,
        "Faults that clients were told, by who must act: client, backend or proxy.",
        ("backend", "who", "code"),
    ),
    "refusals": Family(
        CounterMetricFamily,
        "Error answers over HTTP, whether or not a request came of what was sent.",
        ("status", "code"),
    ),
    "faults_mended": Family(
        CounterMetricFamily,
        "Faults of backends that no client was told, for another attempt followed.",
        ("backend", "code"),
    ),
    "breaker_state": Family(
        GaugeMetricFamily, "0: closed, 1: half open, letting probes through, 2: open.", ("backend",)
    ),
    "markup": Family(
        CounterMetricFamily, "What became of text that looked like a tool call.", ("outcome", "dialect")
    ),
    "oddities": Family(CounterMetricFamily, "What backends said and should not have.", ("what",)),
    "dropped": Family(CounterMetricFamily, "What of requests was not passed on.", ("what",)),
    "tenant_requests": Family(CounterMetricFamily, "Requests of a tenant.", ("tenant", "status")),
    "tenant_tokens": Family(CounterMetricFamily, "Tokens of a tenant.", ("tenant", "kind")),
    "tenant_tool_calls": Family(CounterMetricFamily, "Tool calls in replies to a tenant.", ("tenant",)),
}


EVENTS = (
    "requests_in_progress", "streams_open", "faults", "refusals", "faults_mended", "markup", "oddities", "dropped",
)  # fmt: skip
"""Families that are counted as they happen. The others are sums over the kinds of requests, made when they are told."""


class Metrics:
    """One worker's counts."""

    def __init__(self, breakers: Mapping[str, Breaker], dialects: Collection[str]) -> None:
        self._breakers = breakers
        self._dialects = dialects
        self._kinds: dict[Labels, _Kind] = {}
        self._counts: dict[str, defaultdict[Labels, float]] = {name: defaultdict(float) for name in EVENTS}

    # ── feeding ──

    def began(self, surface: str) -> None:
        self._counts["requests_in_progress"][(surface,)] += 1

    def streams(self, surface: str) -> None:
        """The request that began is answered as a stream."""
        self._counts["streams_open"][(surface,)] += 1

    def ended(
        self, surface: str, tenant: str, facts: Mapping[str, Any], ledger: Ledger, fault: Fault | None
    ) -> None:
        """The request that began has ended. `facts` are those of its log line."""
        counts = self._counts
        backend = facts.get("backend", NONE)
        counts["requests_in_progress"][(surface,)] -= 1
        if facts.get("stream"):
            counts["streams_open"][(surface,)] -= 1
        if fault is not None:
            counts["faults"][backend, _who(fault), code_label(fault)] += 1
        labels = (surface, backend, tenant, _class_of(facts["status"]), facts.get("ending", NONE))
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
        """The backend failed, and is asked again, or another in its place."""
        self._counts["faults_mended"][backend, code_label(fault)] += 1

    def refused(self, fault: Fault) -> None:
        """Over HTTP somebody was answered with an error."""
        self._counts["refusals"][_class_of(fault.status), code_label(fault)] += 1

    def _remark(self, ledger: Ledger) -> None:
        for found, times in ledger.markup.items():
            outcome, _, dialect = found.partition(":")
            self._counts["markup"][outcome, dialect if dialect in self._dialects else OTHER] += times
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
        return {name: list(numbers.items()) for name, numbers in (counts | times).items()}


def _no_times() -> list[float]:
    """Of a histogram: how many in each of its buckets, and the sum of all."""
    return [0.0] * (len(SECONDS) + 2)


@dataclass(slots=True)
class _Kind:
    """What the requests of one kind came to, the finest that any family tells apart: families are sums over these."""

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


def code_label(fault: Fault) -> str:
    """A backend may call a fault by any word."""
    return fault.code if fault.code in CODES else OTHER


def _who(fault: Fault) -> str:
    if isinstance(fault, ClientFault):
        return "client"
    return "backend" if isinstance(fault, BackendFault) else "proxy"


def page(workers: Mapping[str, Counts | None]) -> bytes:
    """For Prometheus to read: the counts of all workers, by their names; None is one that did not answer."""
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
                    metric.add_metric([*labels, worker], *_told(numbers))
            yield metric


def _told(numbers: float | Sequence[float]) -> tuple[Any, ...]:
    """As `add_metric` wants it: a number, or the buckets of a histogram, each with all that is below, and the sum."""
    if not isinstance(numbers, Sequence):
        return (numbers,)
    *buckets, total = numbers
    return list(zip([*map(str, SECONDS), "+Inf"], accumulate(buckets), strict=True)), total
