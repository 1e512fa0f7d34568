"""What one worker counts, once per request.

The counts are plain numbers in plain dicts, which a request changes within microseconds, and which one worker can send
to another as they are. Nothing is summed up when they are told, so that the event loop is not held however many tenants
there are; `exposition` shows them. Labels are names of our own or
of the configuration; whatever a client or a backend chose is "other" (S29).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, Final, Literal

from proxy.core.errors import BackendFault, ClientFault, Fault
from proxy.core.ledger import Ledger
from proxy.core.policy.breaker import Breaker, State
from proxy.shell.ops.fault_codes import OTHER, code_label
from proxy.shell.ops.metric_families import SECONDS, Counts, Labels

NONE = "none"
"""The label of what does not exist: a refused request has no backend, a cut one no ending."""

CLIENT_GONE = 499
"""nginx's status for a client that did not wait; it stands only in the log."""

KINDS_OF_REMARKS = 200
"""Far more than there are. The names are in the code; if one ever came from outside, this limits their number."""

TokenFact = Literal["input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"]
TOKENS: Final[Mapping[str, TokenFact]] = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_tokens",
    "reasoning": "reasoning_tokens",
}
"""Each kind with the fact of a request that tells their number."""

STATES = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}


COUNTED = (
    "requests", "requests_in_progress", "streams_open", "tokens", "tool_calls", "tenant_requests", "tenant_tokens",
    "tenant_tool_calls", "faults", "refusals", "faults_mended", "markup", "oddities", "dropped", "store_commands",
    "store_seconds", "store_failures", "store_unreadable", "not_stored", "memos_lost", "runs", "runs_lost", "swept",
    "lessons", "limits_by_share", "watcher_failures", "spans", "recordings", "recordings_lost",
)  # fmt: skip
TIMED = ("duration_seconds", "first_token_seconds")
"""Families that are histograms. Those that are neither here nor above are gauges, which are read when they are told."""


class Metrics:
    """One worker's counts."""

    def __init__(self, breakers: Mapping[str, Breaker], formats: Collection[str]) -> None:
        self._breakers = breakers
        self._formats = formats
        self._counts: dict[str, defaultdict[Labels, float]] = {name: defaultdict(float) for name in COUNTED}
        self._times: dict[str, defaultdict[Labels, list[float]]] = {
            name: defaultdict(_no_times) for name in TIMED
        }
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
        tenant, status = facts["tenant"], _class_of(facts["status"])
        counts["requests"][surface, backend, status, facts.get("ending", NONE)] += 1
        counts["tenant_requests"][tenant, status] += 1
        _count_in(self._times["duration_seconds"][surface, backend], facts["ms_total"])
        if (waited := facts.get("ms_first_text")) is not None:
            _count_in(self._times["first_token_seconds"][(backend,)], waited)
        if calls := facts.get("calls"):
            counts["tool_calls"][(backend,)] += calls
            counts["tenant_tool_calls"][(tenant,)] += calls
        if "input_tokens" in facts:
            for kind, fact in TOKENS.items():
                if tokens := facts[fact]:
                    counts["tokens"][backend, kind] += tokens
                    counts["tenant_tokens"][tenant, kind] += tokens
        for kind, remarks in ledger.remarks.items():
            self._remark(kind, remarks)

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

    def _remark(self, kind: str, remarks: Mapping[str, int]) -> None:
        counts = self._counts[kind]
        for remark, times in remarks.items():
            what, _, detail = remark.partition(":")
            if kind == "markup":  # the detail is the format
                labels: Labels = (what, detail if detail in self._formats else OTHER)
            else:  # of the request
                known = (what,) in counts or len(counts) < KINDS_OF_REMARKS
                labels = (what if known else OTHER,)
            counts[labels] += times

    # ── telling ──

    def counts(self) -> Counts:
        told: dict[str, Mapping[Labels, Any]] = {**self._counts, **self._times}
        told["breaker_state"] = {
            (backend,): STATES[breaker.state] for backend, breaker in self._breakers.items()
        }
        told.update({name: {(): read()} for name, read in self._gauges.items()})
        told.update({name: read() for name, read in self._gauges_by_label.items()})
        return {name: list(numbers.items()) for name, numbers in told.items()}


def _no_times() -> list[float]:
    """Returns an empty histogram: the number in each bucket, and the sum of all."""
    return [0.0] * (len(SECONDS) + 2)


def _count_in(times: list[float], milliseconds: float) -> None:
    seconds = milliseconds / 1000
    times[bisect_left(SECONDS, seconds)] += 1
    times[-1] += seconds


@cache
def _class_of(status: int) -> str:
    return "left" if status == CLIENT_GONE else f"{status // 100}xx"


def _who(fault: Fault) -> str:
    if isinstance(fault, ClientFault):
        return "client"
    return "backend" if isinstance(fault, BackendFault) else "proxy"
