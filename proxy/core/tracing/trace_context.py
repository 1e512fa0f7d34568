"""The headers by which a trace goes on from one server to the next: W3C Trace Context, level 2.

What a client sends is checked to the last character, and decides nothing but which trace its spans belong to. Whatever
is not as it must be counts as if it were not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"
VERSION: Final = "00"
FORBIDDEN_VERSION: Final = "ff"
LENGTH: Final = 55
"""The length of a header of the first version. Later versions may append more."""
HEX: Final = frozenset("0123456789abcdef")
SAMPLED: Final = 1

MAX_STATE, MAX_MEMBERS, MAX_PART = 512, 32, 256
KEY_BEGINS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
KEY: Final = KEY_BEGINS | frozenset("_-*/@")


@dataclass(slots=True, frozen=True)
class Parent:
    """Where a client's own span stands."""

    trace_id: int
    span_id: int
    is_sampled: bool
    state: str = ""
    """What other systems want to be told, as it is passed on."""


def sent_with(headers: Mapping[str, str]) -> tuple[str, str]:
    """Both headers as a client sent them. `traceparent` may come only once, and does not count if it comes twice;
    several `tracestate` are joined."""
    several = getattr(headers, "getall", None)
    if several is None:
        return headers.get(TRACEPARENT, ""), headers.get(TRACESTATE, "")
    parents = several(TRACEPARENT, ())
    return parents[0] if len(parents) == 1 else "", ",".join(several(TRACESTATE, ()))


def parent_of(traceparent: str, tracestate: str = "") -> Parent | None:
    """The parent that the headers name; None if there is none, or none that can be read."""
    version, trace_id, span_id, flags = (
        traceparent[:2],
        traceparent[3:35],
        traceparent[36:52],
        traceparent[53:55],
    )
    rest = traceparent[LENGTH:]
    if (
        len(traceparent) < LENGTH
        or traceparent[2] + traceparent[35] + traceparent[52] != "---"
        or not HEX.issuperset(version + trace_id + span_id + flags)
        or version == FORBIDDEN_VERSION
        or (rest and (version == VERSION or not rest.startswith("-")))
    ):
        return None
    trace, span = int(trace_id, 16), int(span_id, 16)
    if not (trace and span):
        return None
    return Parent(trace, span, bool(int(flags, 16) & SAMPLED), state_of(tracestate))


def state_of(tracestate: str) -> str:
    """All of it, or nothing: its writer would not understand a part."""
    if len(tracestate) > MAX_STATE:
        return ""
    members = [member for part in tracestate.split(",") if (member := part.strip(" \t"))]
    keys = [member.partition("=")[0] for member in members]
    whole = len(members) <= MAX_MEMBERS and len(set(keys)) == len(keys) and all(map(_is_member, members))
    return ",".join(members) if whole else ""


def _is_member(member: str) -> bool:
    key, equals, value = member.partition("=")
    return (
        equals == "="
        and 0 < len(key) <= MAX_PART
        and key[0] in KEY_BEGINS
        and KEY.issuperset(key)
        and 0 < len(value) <= MAX_PART
        and value.isascii()
        and value.isprintable()
        and "=" not in value
    )


def header(trace_id: int, span_id: int, *, is_sampled: bool) -> str:
    return f"{VERSION}-{trace_id:032x}-{span_id:016x}-{int(is_sampled):02x}"
