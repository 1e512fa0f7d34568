"""Client profiles: what a known client wants done its own way, as data. Nobody asks for a client by name elsewhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from proxy.core.errors import ClientFault
from proxy.core.inbound.checks import shown
from proxy.core.inbound.history import OrphanOutputs

EVENTS_HEADER = "x-proxy-events"


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
    partial_calls: bool = True
    """Are calls that were cut short closed with their done events? Codex runs whatever is done."""


DEFAULT = ClientProfile("default")
CODEX = ClientProfile(
    "codex",
    events=EventStyle.STANDARD,  # it ignores the extended ones, and each costs bytes
    orphan_outputs="drop",
    partial_calls=False,
)
NODE_SDK = ClientProfile(
    "openai-node", events=EventStyle.STANDARD
)  # its stream helper throws on unknown events

Headers = Mapping[str, str]


def _is_codex(headers: Headers) -> bool:
    return headers.get("originator", "").lower().startswith("codex") or any(
        name.startswith("x-codex-") for name in headers
    )


def _is_node_sdk(headers: Headers) -> bool:
    return headers.get("x-stainless-lang", "").lower() == "js"


RECOGNISERS: tuple[tuple[Callable[[Headers], bool], ClientProfile], ...] = (
    (_is_codex, CODEX),
    (_is_node_sdk, NODE_SDK),
)
"""The first that knows the client by its headers, their names in lower case."""


def recognise(headers: Headers) -> ClientProfile:
    lowered = {name.lower(): value for name, value in headers.items()}
    return next((profile for knows, profile in RECOGNISERS if knows(lowered)), DEFAULT)


def extended(
    profile: ClientProfile, header: str | None, configured: EventStyle, declares_tools: bool
) -> bool:
    """The request's own header replaces the configuration, and decides. Without one, a client that is known to
    stumble over them is spared whatever the configuration says. What nobody decides, the tools do."""
    asked = configured if header is None else _style(header)
    order = (profile.events, asked) if header is None else (asked, profile.events)
    decided = [style for style in order if style is not EventStyle.AUTO]
    return decided[0] is EventStyle.EXTENDED if decided else declares_tools


def _style(header: str) -> EventStyle:
    try:
        return EventStyle(header.strip().lower())
    except ValueError:
        styles = ", ".join(EventStyle)
        raise ClientFault(
            f"The header {EVENTS_HEADER} must be one of {styles}, got {shown(header)}.",
            param=EVENTS_HEADER,
            code="invalid_value",
        ) from None
