"""Recordings that no proxy has made, for tests of what is done with them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.recorded.conditions import recorded_profile, recorded_tenant
from proxy.core.recorded.faults import RecordedFault
from proxy.core.recorded.recording import Conditions, RecordedAttempt, RecordedEnd, RecordedRequest, Recording
from proxy.core.recorded.replay import replay
from proxy.core.tenants import ANYBODY, Tenant
from tests.support.replies import DONE, REQUEST, STOP, chunk

HELLO = (chunk({"role": "assistant", "content": "Hel"}), chunk({"content": "lo"}), STOP, DONE)


def attempt(*reads: bytes, profile: str = "default", **fields: Any) -> RecordedAttempt:
    usual: dict[str, Any] = {"why": "first", "backend": "backend", "model": "m", "status": 200}
    usual |= {"url": "http://backend.test/v1/chat/completions", "headers": {}, "body": b"{}"}
    passed = [(number / 8, data) for number, data in enumerate(reads, 1)]
    made = RecordedAttempt(
        **usual | {"profile": recorded_profile(PROFILES[profile]), "reads": passed} | fields
    )
    return made


def fault(kind: str = "Truncated", message: str = "It broke off.", **fields: Any) -> RecordedFault:
    return RecordedFault(kind, message, **{"status": 502} | fields)


def recording(
    body: dict[str, Any] | bytes | None = None,
    attempts: Iterable[RecordedAttempt] | None = None,
    *,
    tenant: Tenant = ANYBODY,
    conditions: dict[str, Any] | None = None,
    status: int = 200,
    end: dict[str, Any] | None = None,
    **request: Any,
) -> Recording:
    """A stream of the Responses API that says Hello, but for what is given."""
    sent = body if isinstance(body, bytes) else jsontext.dumps(REQUEST if body is None else body)
    usual: dict[str, Any] = {
        "request_id": "req_1", "surface": "responses", "transport": "http", "framing": "sse", "method": "POST",
        "path": "/v1/responses", "headers": {}, "body": sent, "date": 1_700_000_000.0,
        "conditions": Conditions(recorded_tenant(tenant), **(conditions or {})),
    }  # fmt: skip
    return Recording(
        proxy="0",
        content="keep",
        cut=False,
        request=RecordedRequest(**usual | request),
        attempts=[attempt(*HELLO)] if attempts is None else list(attempts),
        frames=[],
        end=RecordedEnd(status, 1.0, **(end or {})),
    )


def as_it_is(made: Recording) -> Recording:
    """With the events that come of it, as if they had been recorded."""
    again = replay(made)
    answer = None if again.answer is None or again.fault else jsontext.dumps(again.answer)
    return replace(
        made,
        frames=[(1.0, frame) for frame in again.frames],
        end=replace(made.end, answer=answer, status=again.status),
    )
