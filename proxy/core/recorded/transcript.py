"""A recording as a pair of the proxy's own tests: a backend's bytes, and the events that must come of them.

`tests/transcripts` has such pairs, and says what their files are called. Ids and dates are those that the tests have.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.recorded.conditions import profile_of, recorded_profile, recorded_tenant
from proxy.core.recorded.outline import outline
from proxy.core.recorded.recording import Conditions, Options, RecordedAttempt, Recording
from proxy.core.recorded.replay import replay
from proxy.core.recorded.surfaces import body_of
from proxy.core.recorded.trusting import TrustingSigner
from proxy.core.tenants import ANYBODY

KEPT = ("status", "error", "incomplete_details", "usage")
"""What of a response may change from one event to the next."""

TRANSPORT_FIELDS = (
    "store",
    "background",
    "previous_response_id",
    "conversation",
    "stream_options",
    "metadata",
)
"""Fields of a request that say nothing of a reply."""


class NoTranscript(ValueError):
    """Says why none can be made of the recording."""


class Transcript(NamedTuple):
    sse: bytes
    events: list[Any]
    request: dict[str, Any]
    """What `NAME.request.json` says."""

    def files(self, name: str) -> Mapping[str, bytes]:
        lines = b"".join(jsontext.dumps(event) + b"\n" for event in self.events)
        return {
            f"{name}.sse": self.sse,
            f"{name}.jsonl": lines,
            f"{name}.request.json": jsontext.dumps(self.request) + b"\n",
        }


def transcript(recording: Recording) -> Transcript:
    """Makes a transcript of the last attempt that was answered. Raises NoTranscript."""
    if recording.request.surface != "responses":
        raise NoTranscript("Transcripts are of the Responses API; this request came by another surface.")
    answered = [attempt for attempt in recording.attempts if (attempt.status or 0) // 100 == 2]
    if not answered:
        raise NoTranscript("No backend has answered this request, so there are no bytes to make a test of.")
    attempt = answered[-1]
    asked = body_of(recording.request)
    if not isinstance(asked, dict):
        raise NoTranscript("The body of the request is no JSON object.")
    body = {name: value for name, value in asked.items() if name not in TRANSPORT_FIELDS} | {"stream": True}
    plain = _plain(recording, attempt, body)
    events = [_as_told(event) for event in outline(replay(plain).frames)]
    how = _how(attempt)
    return Transcript(
        b"".join(data for _, data in attempt.reads), [event for event in events if event != "[DONE]"],
        {"how": how, "body": body} if how else {"body": body},
    )  # fmt: skip


def _plain(recording: Recording, attempt: RecordedAttempt, body: Mapping[str, Any]) -> Recording:
    """The request as the tests put it: of nobody in particular, over HTTP, and without what is kept."""
    conditions = Conditions(recorded_tenant(ANYBODY), Options(events="standard"))
    request = replace(
        recording.request,
        transport="http",
        framing="sse",
        headers={},
        body=jsontext.dumps(body),
        conditions=conditions,
    )
    end = replace(recording.end, status=200, not_stored=None, fault=None)
    return replace(recording, request=request, attempts=[replace(attempt, why="first")], frames=[], end=end)


def _how(attempt: RecordedAttempt) -> dict[str, Any]:
    profile = profile_of(attempt)
    known = PROFILES.get(profile.name, PROFILES["default"])
    usual, its = recorded_profile(known), recorded_profile(profile)
    overrides = {name: value for name, value in its.items() if value != usual[name] and name != "name"}
    how: dict[str, Any] = {}
    if known.name != "default":
        how["profile"] = known.name
    if overrides:
        how["overrides"] = overrides
    if attempt.failure is not None:
        how["broken_off"] = True
    return how


def _as_told(event: Any) -> Any:
    """An event as the tests compare it."""
    if not isinstance(event, dict):
        return event
    told = dict(event)
    if isinstance(response := told.get("response"), dict):
        told["response"] = {name: response[name] for name in KEPT if response[name] is not None}
    item = told.get("item")
    if isinstance(item, dict) and isinstance(token := item.get("encrypted_content"), str):
        told["item"] = item | {"encrypted_content": _opened(token)}
    return told


def _opened(token: str) -> Any:
    reader = TrustingSigner().reader()
    thought = reader.reasoning(token)
    return reader.summary(token) if thought is None else asdict(thought)
