"""Client profiles: what a known client wants done its own way, as data. No other module asks for a client by name."""

from collections.abc import Mapping
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
    """Are text and thoughts that a failure cut short closed with their done events? A client that keeps every done item
    and retries makes the model continue from a fragment. Half a call is never closed."""
    hears_after_end: bool = True
    """May events follow the terminal one? Some clients keep what the last event brings, whichever that is."""
    answer_needed: bool = False
    """Is a reply of thoughts alone a failure? This client would end its turn without an answer."""
    end_closes_calls: bool = False
    """Does the client make a call of what it has received when a Chat stream ends, whatever the reason? Then a stream
    that cut a call must not end cleanly."""
    refusals_as_text: bool = False
    """Is a refusal sent as ordinary text? This client drops parts that it does not know."""
    faults_in_stream: bool = False
    """Is a request for a stream that fails answered by a stream with the failure in it, instead of a status?"""
    fault_codes: Mapping[str | None, str] = field(default_factory=dict)
    """Codes that this client misunderstands, each with the code that it understands."""
    final_code: str | None = None
    """What makes this client give up and show the message, for faults that no retry can mend."""
    filtered_is_final: bool = False
    """Is an answer that the backend's filter stopped sent as a fault? This client would retry it."""
    persistent: bool = False
    """Does the client retry by itself, and often? Then the proxy does not: retries of two layers multiply, and the
    client would show the breaker's reason."""
    reads_catalog: bool = False
    """Is Codex's catalog sent beside the list of models?"""
    event_heartbeat: float | None = None
    """Seconds of silence after which an event says that the work goes on. Default: never, comments are enough."""


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
AI_SDK = ClientProfile(  # Vercel's, as in Cline
    "ai-sdk",
    events=EventStyle.STANDARD,  # some of its providers, as xAI's, make an error of each event that they do not know
    hears_after_end=False,
    end_closes_calls=True,
)
NODE_SDK = replace(OPENAI_SDK, name="openai-node", events=EventStyle.STANDARD)  # throws on unknown events
JAVA_SDK = replace(NODE_SDK, name="openai-java")  # so do its older versions, and all if they validate answers
PHP_SDK = replace(NODE_SDK, name="openai-php")  # as does PHP's, which has no name but that of its HTTP client
PHP_AGENTS = "guzzlehttp/", "symfony httpclient"
"""The only two by which it streams."""
BY_LANGUAGE: Mapping[str, ClientProfile] = {"js": NODE_SDK, "java": JAVA_SDK}

Headers = Mapping[str, str]
"""HTTP headers: a name is found in any case."""


def recognise(headers: Headers) -> ClientProfile:
    """The first sign decides."""
    names = "\n".join(("", *headers)).lower()  # as one text, which is searched without a step for each
    agent = headers.get("user-agent", "").lower()
    if "\nx-codex-" in names or headers.get("originator", "").lower().startswith("codex"):
        return CODEX
    if found := BY_LANGUAGE.get(headers.get("x-stainless-lang", "").lower()):
        return found
    if "ai-sdk" in agent:
        return AI_SDK
    if "openai" in agent or "\nx-stainless-" in names:
        return OPENAI_SDK
    return PHP_SDK if agent.startswith(PHP_AGENTS) else DEFAULT


def asks_for_catalog(headers: Headers, query: Mapping[str, str]) -> bool:
    """Does a request for the list of models come from Codex? It puts its version into the query."""
    return CATALOG_QUESTION in query or recognise(headers).reads_catalog


def reworded(profile: ClientProfile, fault: Fault) -> Fault:
    """The fault with the code that makes this client do what is meant. The log keeps the original."""
    final = None if fault.retryable else profile.final_code
    code = profile.fault_codes.get(fault.code, final or fault.code)
    if code == fault.code:
        return fault
    copied = copy(fault)
    copied.code = code
    return copied


def ending_for(profile: ClientProfile, ended: ReplyEnded) -> ReplyEnded:
    """The ending as this client understands it."""
    if profile.filtered_is_final and ended.ending is Ending.FILTERED:
        fault = ClientFault(FILTERED, code="content_filter")
        ended = ReplyEnded(Ending.FAILED, ended.usage, fault)
    return ended if ended.fault is None else replace(ended, fault=reworded(profile, ended.fault))


AUTO, EXTENDED = EventStyle.AUTO, EventStyle.EXTENDED
"""Needed with every request: Python 3.11 is slow to find a member in its enumeration."""


class Extended(NamedTuple):
    """Says which of the extended events a stream carries."""

    calls: bool
    """The events around the arguments of each call."""
    done: bool
    """The event after the terminal one."""


NOTHING_MORE = Extended(calls=False, done=False)
ALL_OF_THEM = Extended(calls=True, done=True)


def extended(
    profile: ClientProfile, header: str | None, configured: EventStyle, declares_tools: bool
) -> Extended:
    """The request's own header decides, in place of the configuration. Without it, a client that fails on extended
    events gets none, whatever the configuration says. If neither decides, extended events are sent when the request
    declares tools; the one after the end, if the client accepts events there."""
    first, second = (profile.events, configured) if header is None else (_style(header), profile.events)
    decided = second if first is AUTO else first
    if decided is AUTO and declares_tools:
        return Extended(calls=True, done=profile.hears_after_end)
    return ALL_OF_THEM if decided is EXTENDED else NOTHING_MORE


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
