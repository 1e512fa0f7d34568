"""What there is to count: each family of metrics, with its name, its labels and what it is about."""

from dataclasses import dataclass
from typing import Any, Final, Literal

SECONDS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800)
"""Models think for milliseconds or for minutes."""

Labels = tuple[str, ...]
Counts = dict[str, Any]
"""By family: labels with a number, or with the numbers of a histogram. Workers exchange it as JSON."""


Kind = Literal["counter", "gauge", "histogram"]


@dataclass(slots=True, frozen=True)
class Family:
    kind: Kind
    about: str
    labels: Labels


FAMILIES: Final = {
    "requests": Family(
        "counter",
        "Requests that came to their end. The status is a class of HTTP's, or `left` when the client did not wait.",
        ("surface", "backend", "status", "ending"),
    ),
    "requests_in_progress": Family("gauge", "Requests under way.", ("surface",)),
    "streams_open": Family("gauge", "Requests under way that are answered as a stream.", ("surface",)),
    "first_token_seconds": Family(
        "histogram", "From the request to the first word, thought or call of the model.", ("backend",)
    ),
    "duration_seconds": Family(
        "histogram", "From the request to the end of its answer.", ("surface", "backend")
    ),
    "tokens": Family("counter", "Tokens, as backends count them.", ("backend", "kind")),
    "tool_calls": Family("counter", "Tool calls in replies.", ("backend",)),
    "faults": Family(
        "counter",
        "Faults that clients were told, by who must act: client, backend or proxy.",
        ("backend", "who", "code"),
    ),
    "refusals": Family(
        "counter",
        "Error answers over HTTP, whether or not a request came of what was sent.",
        ("status", "code"),
    ),
    "faults_mended": Family(
        "counter",
        "Faults of backends that no client was told, for another attempt followed.",
        ("backend", "code"),
    ),
    "breaker_state": Family(
        "gauge", "0: closed, 1: half open, letting probes through, 2: open.", ("backend",)
    ),
    "lessons": Family(
        "counter",
        "What backends have taught: by a `refusal` for a while, by a refusal of one request for that alone "
        "(`refusal_once`), or by a `reply`; or what a new process found in the `store`.",
        ("backend", "source", "lesson"),
    ),
    "lessons_held": Family(
        "gauge",
        "Models of which the proxy now knows by such a lesson that this field of their profile differs.",
        ("backend", "field"),
    ),
    "markup": Family("counter", "What became of text that looked like a tool call.", ("outcome", "format")),
    "oddities": Family("counter", "What backends said and should not have.", ("what",)),
    "dropped": Family("counter", "What of requests was not passed on.", ("what",)),
    "store_up": Family("gauge", "1 while the store answers, 0 while it is down.", ()),
    "store_waiting_seconds": Family(
        "gauge", "For how long the oldest command to the store has been under way.", ()
    ),
    "live_up": Family("gauge", "1 while the server that `live.url` names answers, 0 while it is down.", ()),
    "live_waiting_seconds": Family(
        "gauge", "For how long the oldest command to the server of `live.url` has been under way.", ()
    ),
    "store_commands": Family("counter", "Commands that the store has done.", ("op",)),
    "store_seconds": Family("counter", "Seconds that commands to the store took, all together.", ("op",)),
    "store_failures": Family(
        "counter", "Commands to the store that failed, or that nobody waited for any longer.", ("op",)
    ),
    "store_unreadable": Family(
        "counter",
        "How often something that is kept could not be read: no key, damaged, of a later version.",
        ("what", "reason"),
    ),
    "not_stored": Family("counter", "Responses that were to be stored and are not.", ("reason",)),
    "memos_lost": Family(
        "counter",
        "What is remembered of calls and could not be told to other processes.",
        ("reason",),
    ),
    "runs": Family("gauge", "Responses under way in the background.", ("state",)),
    "runs_lost": Family("counter", "Background responses whose process ended before them.", ()),
    "swept": Family("counter", "What was deleted because its time, or the room for it, is over.", ("kind",)),
    "limits_by_share": Family(
        "counter",
        "What a process decided by its part of a limit, because the store did not answer.",
        ("limit",),
    ),
    "watcher_failures": Family(
        "counter",
        "Failures of what watches requests (inspector, recorder, traces); no request was hurt.",
        ("watcher",),
    ),
    "spans": Family("counter", "Spans of traces, by what became of them.", ("outcome",)),
    "recordings": Family(
        "counter",
        "Exchanges that were written as files, whole or without what there was no room for.",
        ("what",),
    ),
    "recordings_lost": Family("counter", "Exchanges that were to be written, and are not.", ("reason",)),
    "tenant_requests": Family("counter", "Requests of a tenant.", ("tenant", "status")),
    "tenant_tokens": Family("counter", "Tokens of a tenant.", ("tenant", "kind")),
    "tenant_tool_calls": Family("counter", "Tool calls in replies to a tenant.", ("tenant",)),
}
