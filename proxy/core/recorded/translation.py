"""A recorded request in the words of another surface: what if its client had come by that one?

The request is read as its own surface understands it, and written as a backend of the other one's language is asked,
one that takes everything. What cannot be said there is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.registry import spoken_by
from proxy.core.errors import ClientFault
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import FUNCTION, Request, Sampling
from proxy.core.profile import TUNING, BackendProfile
from proxy.core.recorded.conditions import known_of, tenant_of
from proxy.core.recorded.recording import RecordedKnown, Recording
from proxy.core.recorded.supply import Supply
from proxy.core.recorded.surfaces import body_of, surface_of
from proxy.core.tools.prepare import prepare

OtherSurface = Literal["responses", "chat", "native"]

PATHS = {
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "native": "/native/v1/chat/completions",
}

_TAKES_ALL = replace(
    PROFILES["openai"],
    length_least=0,
    system_role="system",
    join_users=False,
    files=True,
    replay="reasoning_content",
    replay_scope="all",
    call_id="any",
    schema=frozenset(),
    wire="chat",
    sealed_thoughts=True,
    summaries=True,
    tuning=TUNING | {"verbosity"},
    tuning_beside_api=TUNING,
    effort_map={},
)
WRITTEN_FOR: dict[str, BackendProfile] = {
    "responses": replace(_TAKES_ALL, dialect="responses"),
    "chat": _TAKES_ALL,
    "native": replace(_TAKES_ALL, strict_tools=False),
}


OPTIONS = ("choice", "parallel_calls", "format", "verbosity", "user", "service_tier")


class NoTranslation(ValueError):
    """Says why the request cannot be asked by that surface."""


@dataclass(slots=True)
class Translated:
    recording: Recording
    lost: list[str]
    """What of the request cannot be said there, in words."""


def translated(recording: Recording, surface: OtherSurface) -> Translated:
    """Raises NoTranslation, BadRecording, or the ClientFault by which its own surface refuses the request."""
    asked = recording.request
    if asked.surface not in PATHS:
        raise NoTranslation(f"A request of the kind {asked.surface!r} is asked by the Responses API alone.")
    if asked.body is None:
        raise NoTranslation("The recording does not hold what the client sent.")
    if asked.surface == surface:
        raise NoTranslation(f"The client had come by this surface: {surface}.")
    request = _read(recording)
    ledger = Ledger()
    body = _written(request, surface, ledger)
    streams = request.stream
    other = replace(
        asked,
        surface=surface,
        transport="http",
        framing="sse" if streams else None,
        path=PATHS[surface],
        body=jsontext.dumps(body | {"stream": streams}),
        conditions=replace(asked.conditions, known=None),
    )
    told = replace(recording, request=other)
    lost = [*_lost(request, asked.conditions.known, surface), *_changed(request, told)]
    return Translated(told, lost + [f"Left out: {name}." for name in sorted(ledger.dropped)])


def _read(recording: Recording) -> Request:
    asked = recording.request
    supply = Supply(asked.conditions.digits, asked.conditions.dates)
    surface = surface_of(asked.surface, asked.conditions, Mint(supply.digits), supply.date)
    ledger, tenant = Ledger(), tenant_of(asked.conditions.tenant).name
    body = body_of(asked)
    named = surface.named(body, ledger, tenant)
    known = known_of(asked.conditions.known)
    if known is not None and named is not None:
        known = known._replace(named=named)
    headers = {name.lower(): value for name, value in asked.headers.items()}
    return surface.read(body, headers, ledger, tenant, known).request


def _lost(request: Request, known: RecordedKnown | None, surface: OtherSurface) -> Iterator[str]:
    if known is not None:
        yield "What the request continues is kept by the proxy; here it is written out as history."
    if not request.generate:
        yield "It was to prepare an answer, and to make none (generate); here one is made."
    if request.hosted is not None:
        yield "Tools that the backend runs itself exist only there."
    if any(tool.kind is not FUNCTION for tool in request.tools):
        yield "Tools that are no functions are declared as functions, and called as such."
    if any(tool.tool.namespace is not None for tool in request.tools):
        yield "Tools in a namespace have one name each."
    if request.validate_arguments is not None:
        yield "Whether arguments are held to their schemas (validate_tool_arguments) is left to the tenant."
    if request.reasoning.summary and surface != "responses":
        yield "The wish for a summary of the thoughts cannot be said."


def _changed(request: Request, told: Recording) -> Iterator[str]:
    """What the other surface does not read as it was."""
    try:
        again = _read(told)
    except ClientFault:
        return  # the replay tells it
    before, after = _options(request), _options(again)
    for name in before:
        if before[name] != after[name]:
            yield f"{name}: it is read otherwise there, or not at all."


def _options(request: Request) -> dict[str, Any]:
    sampling = {each.name: getattr(request.sampling, each.name) for each in fields(Sampling)}
    options = {name: getattr(request, name) for name in OPTIONS}
    return {**sampling, **options, "effort": request.reasoning.effort}


def _written(request: Request, surface: OtherSurface, ledger: Ledger) -> dict[str, Any]:
    profile = WRITTEN_FOR[surface]
    whole = replace(request, hosted=None)
    prepared = prepare(whole, profile, ledger)
    body = spoken_by(profile).encode(whole, prepared, profile, request.model, ledger)
    if not request.stream:
        body.pop("stream_options", None)
    labels = {"user": request.user, "service_tier": request.service_tier}
    return body | {name: label for name, label in labels.items() if label is not None}
