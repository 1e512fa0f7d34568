"""What there is to count: each family of metrics, with its name, its labels and what it is about."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

SECONDS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800)
"""Models think for milliseconds or for minutes."""

Labels = tuple[str, ...]
Counts = dict[str, Any]
"""By family: labels with a number, or with the numbers of a histogram. Workers exchange it as JSON."""


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
    "lessons": Family(
        CounterMetricFamily,
        "What backends have taught: by a `refusal` for a while, by a refusal of one request for that alone "
        "(`refusal_once`), or by a `reply`; or what a new process found in the `store`.",
        ("backend", "source", "lesson"),
    ),
    "lessons_held": Family(
        GaugeMetricFamily,
        "Models of which the proxy now knows by such a lesson that this field of their profile differs.",
        ("backend", "field"),
    ),
    "markup": Family(
        CounterMetricFamily, "What became of text that looked like a tool call.", ("outcome", "format")
    ),
    "oddities": Family(CounterMetricFamily, "What backends said and should not have.", ("what",)),
    "dropped": Family(CounterMetricFamily, "What of requests was not passed on.", ("what",)),
    "store_up": Family(GaugeMetricFamily, "1 while the store answers, 0 while it is down.", ()),
    "store_waiting_seconds": Family(
        GaugeMetricFamily, "For how long the oldest command to the store has been under way.", ()
    ),
    "live_up": Family(GaugeMetricFamily, "The same for the server that `live.url` names.", ()),
    "live_waiting_seconds": Family(GaugeMetricFamily, "The same for commands to that server.", ()),
    "store_commands": Family(CounterMetricFamily, "Commands that the store has done.", ("op",)),
    "store_seconds": Family(CounterMetricFamily, "Seconds that they took, all together.", ("op",)),
    "store_failures": Family(
        CounterMetricFamily, "Commands that failed, or that nobody waited for any longer.", ("op",)
    ),
    "store_unreadable": Family(
        CounterMetricFamily,
        "How often something that is kept could not be read: no key, damaged, of a later version.",
        ("what", "reason"),
    ),
    "not_stored": Family(CounterMetricFamily, "Responses that were to be stored and are not.", ("reason",)),
    "memos_lost": Family(
        CounterMetricFamily,
        "What is remembered of calls and could not be told to other processes.",
        ("reason",),
    ),
    "runs": Family(GaugeMetricFamily, "Responses under way in the background.", ("state",)),
    "runs_lost": Family(CounterMetricFamily, "Background responses whose process ended before them.", ()),
    "swept": Family(
        CounterMetricFamily, "What was deleted because its time, or the room for it, is over.", ("kind",)
    ),
    "limits_by_share": Family(
        CounterMetricFamily,
        "What a process decided by its part of a limit, because the store did not answer.",
        ("limit",),
    ),
    "watcher_failures": Family(
        CounterMetricFamily, "What failed in who watches requests; no request was hurt.", ("watcher",)
    ),
    "spans": Family(CounterMetricFamily, "Spans of traces, by what became of them.", ("outcome",)),
    "recordings": Family(
        CounterMetricFamily,
        "Exchanges that were written as files, whole or without what there was no room for.",
        ("what",),
    ),
    "recordings_lost": Family(
        CounterMetricFamily, "Exchanges that were to be written, and are not.", ("reason",)
    ),
    "tenant_requests": Family(CounterMetricFamily, "Requests of a tenant.", ("tenant", "status")),
    "tenant_tokens": Family(CounterMetricFamily, "Tokens of a tenant.", ("tenant", "kind")),
    "tenant_tool_calls": Family(CounterMetricFamily, "Tool calls in replies to a tenant.", ("tenant",)),
}
