"""One request in a list: the facts of its line in the log, its times, and what stands out in it. Never content."""

from collections.abc import Mapping
from typing import Any, Final

from proxy.core.facts import RequestFacts
from proxy.core.inspected.findings import Finding, Noted, Waits, findings
from proxy.shell.inspector.ring import Seen
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.watching.watch import Attempt, Watch

FACTS: Final = (
    "model", "backend", "backend_model", "profile", "client", "stream", "response_id", "continues", "conversation",
    "stored", "ending", "code", "fault", "error", "param", "calls", "input_tokens", "output_tokens", "cached_tokens",
    "reasoning_tokens", "bytes_out",
)  # fmt: skip
"""Facts that are told as they are."""

WORST_FIRST: Final = ("bad", "slow", "odd", "note")


def summary(seen: Seen, id: str) -> dict[str, Any]:
    """`id`: names the request among those of all workers."""
    watch = seen.watch
    facts: Mapping[str, Any] = _facts(watch)
    found = findings(noted(watch))
    return {
        "id": id,
        "request_id": watch.request_id,
        "began": watch.date,
        "seconds": watch.seconds() if watch.ended is None else watch.ended,
        "live": watch.ended is None,
        "surface": watch.surface,
        "transport": watch.transport,
        "method": watch.method,
        "path": watch.path,
        "tenant": watch.tenant,
        "background": watch.background,
        "status": watch.status,
        "has_content": seen.said is not None,
        "worst": _worst(found),
        **{kind: watch.remarks.get(kind, {}) for kind in ("markup", "oddities", "dropped")},
        "attempts": [_attempt(attempt) for attempt in watch.attempts],
    } | {name: facts[name] for name in FACTS if name in facts}


def _facts(watch: Watch) -> RequestFacts:
    """The facts of a request. If it was refused at the door, they say why."""
    return watch.facts if watch.fault is None else {**watch.facts, **facts_of(watch.fault)}


def _worst(found: list[Finding]) -> str | None:
    levels = {finding.level.value for finding in found}
    return next((level for level in WORST_FIRST if level in levels), None)


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "why": attempt.why,
        "backend": attempt.backend,
        "backend_model": attempt.backend_model,
        "profile": attempt.profile,
        "dialect": attempt.dialect,
        "url": attempt.url,
        "status": attempt.status,
        "ending": attempt.ending,
        "fault": None if attempt.fault is None else facts_of(attempt.fault),
        "began": attempt.began,
        "place": attempt.place,
        "head": attempt.head,
        "first_byte": attempt.first_byte,
        "first_text": attempt.first_text,
        "ended": attempt.ended,
    }


def noted(watch: Watch) -> Noted:
    remarks = watch.remarks
    return Noted(
        watch.status,
        _facts(watch),
        remarks.get("oddities", {}),
        remarks.get("dropped", {}),
        remarks.get("markup", {}),
        [_waits(attempt) for attempt in watch.attempts],
    )


def _waits(attempt: Attempt) -> Waits:
    moments = (attempt.place, attempt.head, attempt.first_byte, attempt.first_text, attempt.ended)
    waits: list[float | None] = []
    before = attempt.began
    for moment in moments:
        waits.append(None if moment is None else max(moment - before, 0.0))
        before = before if moment is None else moment
    queue, connect, first_byte, first_text, rest = waits
    return Waits(
        attempt.backend, queue, connect, first_byte, first_text, rest if first_text is not None else None
    )
