"""In which of OpenAI's two languages a backend of both is asked: Chat, or Responses.

Chat is the older, and nearly every server speaks it better. But some models think beside tools only by Responses, and
only there does a backend run tools of its own. A profile may say which it shall be; by `auto` each request is asked in
the language that it needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proxy.core.backends.target import Target
from proxy.core.model import Audio, Request, ToolKind
from proxy.core.profile import BackendProfile, Wire

CHAT, RESPONSES = "chat", "responses"

WIRE = "wire"
"""The name of the lesson that a backend has one of the two languages, and not the other."""

UNSPOKEN = frozenset(ToolKind) - {ToolKind.FUNCTION}
"""Kinds of tools that are told as they are by Responses alone: by Chat, functions stand for them."""

NO_SUCH_ENDPOINT = frozenset({404, 405, 501})
"""Statuses with which servers say that they do not have an endpoint."""


def spoken(target: Target, request: Request) -> BackendProfile:
    """The profile in the language of this request."""
    profile = target.profile
    if profile.dialect != CHAT or profile.wire == CHAT:
        return profile
    if profile.wire == RESPONSES or (profile.offers_responses and _needs_responses(profile, request)):
        return target.by_responses
    return profile


def usual(profile: BackendProfile) -> str:
    """The language of requests that need no other."""
    return RESPONSES if profile.dialect == CHAT and profile.wire == RESPONSES else profile.dialect


def may_speak_responses(profile: BackendProfile) -> bool:
    """Can there be requests to this model that are asked by Responses?"""
    if profile.dialect != CHAT or profile.wire == CHAT:
        return False
    if profile.wire == RESPONSES:
        return True
    needed = not profile.thinks_beside_tools or not UNSPOKEN.isdisjoint(profile.native_tools)
    return profile.offers_responses and (needed or profile.ways_of_thinking)


def hosted_tools(profile: BackendProfile) -> frozenset[str]:
    """The types of tools that the backend runs, where it may be asked to."""
    asked = profile.wire == RESPONSES or (profile.wire == "auto" and profile.offers_responses)
    return profile.hosted_tools if asked and profile.dialect == CHAT else frozenset()


def runs(profile: BackendProfile, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Does the backend run any of these tools?"""
    return any(tool["type"] in profile.hosted_tools for tool in tools)


def other(base: BackendProfile, asked: BackendProfile) -> BackendProfile | None:
    """The profile for the other language than the one that was asked in. None where only one will do."""
    if base.dialect != CHAT or base.wire != "auto":
        return None
    wire: Wire = "responses" if asked.dialect == CHAT else "chat"
    return replace(base, wire=wire)


def _needs_responses(profile: BackendProfile, request: Request) -> bool:
    if request.hosted is not None and runs(profile, request.hosted.tools):
        return True
    if not _is_understood_there_alone(profile, request):
        return False
    return not any(
        isinstance(part, Audio) for _, parts in request.turns for part in parts
    )  # Chat alone has it


def _is_understood_there_alone(profile: BackendProfile, request: Request) -> bool:
    if profile.ways_of_thinking and request.reasoning.ways:
        return True
    if not request.tools:
        return False
    return not profile.thinks_beside_tools or any(spec.kind in profile.native_tools for spec in request.tools)
