"""Client profiles: what a known client wants done its own way, as data. Nobody asks for a client by name elsewhere."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from proxy.core.errors import ClientFault, Fault
from proxy.core.events import Ending, ReplyEnded
from proxy.core.masking.redact import quoted
from proxy.core.surfaces.reading.history import OrphanOutputs

EVENTS_HEADER = "x-proxy-events"
CATALOG_QUESTION = "client_version"

FILTERED = (
    "The backend's content filter stopped the answer. Ask in other words: this one would be stopped again."
)


class EventStyle(StrEnum):
    """Does a stream carry the extended tool-call events, besides the standard ones?"""

    AUTO = "auto"
    """When the request declares tools."""
    EXTENDED = "extended"
    STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class ClientProfile:
    name: str
    events: EventStyle = EventStyle.AUTO
    orphan_outputs: OrphanOutputs = "refuse"
    """A call output without its call: the client's mistake, or its habit?"""
    closes_unfinished: bool = True
    """Are text and thoughts that a failure cut short closed with their done events? Who keeps whatever is done in its
    history, and asks again, has the model go on from a fragment. Half a call is closed for nobody."""
    hears_after_end: bool = True
    """May anything follow the terminal event? Some keep what the last event brings, whichever that is."""
    answer_needed: bool = False
    """Is a reply of thoughts alone a failure, because this client would end its turn without a word?"""
    end_closes_calls: bool = False
    """Does it make a call of whatever it has heard when a Chat stream ends, for whatever reason? Then a stream that cut
    a call must not end at all."""
    refusals_as_text: bool = False
    """Does a refusal leave as ordinary text, because the client drops what it does not know?"""
    faults_in_stream: bool = False
    """Is a request for a stream that fails answered by a stream that says so, instead of by a status?"""
    fault_codes: Mapping[str | None, str] = field(default_factory=dict)
    """Codes that this client takes otherwise than they are meant, each with the one that says it."""
    final_code: str | None = None
    """What makes this client give up and show the message, for faults that no retry can mend."""
    filtered_is_final: bool = False
    """Is an answer that the backend's filter stopped told as a fault, because this client would ask for it again?"""
    persistent: bool = False
    """Does it ask again by itself, and often? Then a backend is asked once for each time: retries of two layers
    multiply, and the reason that it shows would be the breaker's."""
    reads_catalog: bool = False
    """Is it sent Codex's catalog beside the list of models?"""
    event_heartbeat: float | None = None
    """Seconds of silence after which an event tells that the work goes on; None: a comment is understood."""


DEFAULT = ClientProfile("default")
CODEX = ClientProfile(
    "codex",
    events=EventStyle.STANDARD,  # it ignores the extended ones, and each costs bytes
    orphan_outputs="drop",
    closes_unfinished=False,  # else the retry of a failed stream is not the same request again
    answer_needed=True,
    refusals_as_text=True,  # a message with a refusal in it vanishes
    faults_in_stream=True,  # a status above 499 costs up to 30 requests, and 500 hides the message
    fault_codes={
        "context_length_exceeded": "context_length_exceeded",  # final, but with a meaning of their own
        "insufficient_quota": "insufficient_quota",
        "server_is_overloaded": "slow_down",  # by its own name it ends the turn
    },
    final_code="invalid_prompt",
    filtered_is_final=True,
    persistent=True,
    reads_catalog=True,
    event_heartbeat=5,  # it waits for events, by default 300 s and for some users 10, and does not see comments
)
OPENAI_SDK = ClientProfile(
    "openai-sdk", hears_after_end=False
)  # of any language, alone or inside a framework
AI_SDK = ClientProfile("ai-sdk", hears_after_end=False, end_closes_calls=True)  # Vercel's, as in Cline
NODE_SDK = replace(OPENAI_SDK, name="openai-node", events=EventStyle.STANDARD)  # throws on unknown events

Headers = Mapping[str, str]
"""As HTTP has them: a name is found in any case."""


def _names(headers: Headers) -> str:
    """Searched as one text, which costs no step for each."""
    return "\n".join(("", *headers)).lower()


def _is_codex(headers: Headers, names: str) -> bool:
    return "\nx-codex-" in names or headers.get("originator", "").lower().startswith("codex")


def _is_node_sdk(headers: Headers, _: str) -> bool:
    return headers.get("x-stainless-lang", "").lower() == "js"


def _is_ai_sdk(headers: Headers, _: str) -> bool:
    return "ai-sdk" in headers.get("user-agent", "").lower()


def _is_openai_sdk(headers: Headers, names: str) -> bool:
    return "openai" in headers.get("user-agent", "").lower() or "\nx-stainless-" in names


RECOGNISERS: tuple[tuple[Callable[[Headers, str], bool], ClientProfile], ...] = (
    (_is_codex, CODEX),
    (_is_node_sdk, NODE_SDK),
    (_is_ai_sdk, AI_SDK),
    (_is_openai_sdk, OPENAI_SDK),
)
"""The first that knows the client by its headers, of which it is given the names as well."""


def recognise(headers: Headers) -> ClientProfile:
    names = _names(headers)
    for knows, profile in RECOGNISERS:
        if knows(headers, names):
            return profile
    return DEFAULT


def asks_for_catalog(headers: Headers, query: Mapping[str, str]) -> bool:
    """Of models. Codex puts its version into that question, wherever it comes from."""
    return CATALOG_QUESTION in query or recognise(headers).reads_catalog


def reworded(profile: ClientProfile, fault: Fault) -> Fault:
    """The fault with the code that makes this client do what is meant. The log keeps the fault as it was."""
    final = None if fault.retryable else profile.final_code
    code = profile.fault_codes.get(fault.code, final or fault.code)
    if code == fault.code:
        return fault
    copied = copy(fault)
    copied.code = code
    return copied


def told_ending(profile: ClientProfile, ended: ReplyEnded) -> ReplyEnded:
    """The ending as this client must be told of it."""
    if profile.filtered_is_final and ended.ending is Ending.FILTERED:
        fault = ClientFault(FILTERED, code="content_filter")
        ended = ReplyEnded(Ending.FAILED, ended.usage, fault)
    return ended if ended.fault is None else replace(ended, fault=reworded(profile, ended.fault))


class Extended(NamedTuple):
    """Which of the extended events a stream carries."""

    calls: bool
    """Those around the arguments of each call."""
    done: bool
    """The one after the terminal event."""


NOTHING_MORE = Extended(calls=False, done=False)


def extended(
    profile: ClientProfile, header: str | None, configured: EventStyle, declares_tools: bool
) -> Extended:
    """The request's own header replaces the configuration, and decides. Without one, a client that is known to
    stumble over them is spared whatever the configuration says. What nobody decides, the tools do, and whether the
    client hears anything after the end."""
    first, second = (profile.events, configured) if header is None else (_style(header), profile.events)
    decided = second if first is EventStyle.AUTO else first
    if decided is EventStyle.AUTO:
        return Extended(declares_tools, declares_tools and profile.hears_after_end)
    return Extended(decided is EventStyle.EXTENDED, decided is EventStyle.EXTENDED)


def _style(header: str) -> EventStyle:
    try:
        return EventStyle(header.strip().lower())
    except ValueError:
        styles = ", ".join(EventStyle)
        raise ClientFault(
            f"The header {EVENTS_HEADER} must be one of {styles}, got {quoted(header)}.",
            param=EVENTS_HEADER,
            code="invalid_value",
        ) from None
