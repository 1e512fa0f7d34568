"""What a reply teaches of the model that gave it: where a server ignores a field, or knows nothing of its own model's
templates, no refusal ever says so.

Such lessons are kept as those of refusals are: for a while, for the owner whose request taught them (see
`backends.learned`). Still a client can make a model say anything. So a row may only choose between two requests that
get the same answer from a server that obeys: a wrong lesson costs no client an answer, and the next reply corrects it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.core.errors import Empty, Unfit
from proxy.core.events import COMPLETED, Reply, ReplyEnded
from proxy.core.extras import DETAILS, field_in
from proxy.core.model import ChoiceMode, FormatKind, Reasoning, Request
from proxy.core.profile import BackendProfile, ForceTool, Replay, ReplayScope


@dataclass(slots=True)
class Observed:
    """One attempt at a request, now that it is over."""

    request: Request
    reply: Reply
    thought: str | None = None
    """The tag that has ended a thought which the prompt had opened. "": it had opened none. None: that is not known."""
    unfit: bool = False
    """Has the answer another form than the one that was asked for?"""


ReplyRow = Callable[[BackendProfile, Observed], Mapping[str, Any]]
"""Gives fields of the profile and what they should be, as far as this reply shows it. It gives confirmed ones as well:
that renews the lesson, and what is no news costs nothing."""


def fields_taught(rows: Sequence[ReplyRow], profile: BackendProfile, observed: Observed) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        if fields := row(profile, observed):  # seldom
            found.update(fields)
    return found


def _thoughts(profile: BackendProfile, observed: Observed) -> Mapping[str, Any]:
    """V25: prompts may open the thought, and only its end is seen. The pipeline tells them apart either way."""
    return {} if observed.thought is None else {"thoughts_until": observed.thought or None}


def _usage(profile: BackendProfile, observed: Observed) -> Mapping[str, Any]:
    """V26: some servers send usage only with whole answers. A whole answer says the same as a stream of it."""
    ended = observed.reply.ended
    if profile.usage != "ask" or ended is None or ended.ending is not COMPLETED:
        return {}
    if asked_whole(observed.request, profile) or (ended.usage is not None and not profile.usage_when_whole):
        return {}
    return {"usage_when_whole": ended.usage is None}


def asked_whole(request: Request, profile: BackendProfile) -> bool:
    """Is this reply asked for as a whole? Every other one is asked for as a stream."""
    return profile.usage_when_whole and not request.stream


REQUIRED = ChoiceMode.REQUIRED
"""Needed with every reply: Python 3.11 is slow to find a member in its enumeration."""
_OTHER_FORCE: Mapping[ForceTool, ForceTool] = {"object": "required", "required": "object"}
_ANOTHER = frozenset({"tool_call_required", "unknown_tool_call"})
"""The guard refuses replies with these codes because the model has called something else, or nothing."""


def _force_tool(profile: BackendProfile, observed: Observed) -> Mapping[str, Any]:
    """V27, V35: a server that ignores one way to force a function may heed the other, in which only that function is
    declared."""
    choice, ended = observed.request.choice, observed.reply.ended
    other = _OTHER_FORCE.get(profile.force_tool)
    if choice.mode is not REQUIRED or not choice.only or len(choice.only) > 1:
        return {}
    if other is None or ended is None or not _shows_all_calls(ended):
        return {}
    if _is_tried(profile, observed.request):
        return {}  # perhaps the format has kept it from the call
    if any(call.tool in choice.only for call in observed.reply.calls):
        return {}
    return {"force_tool": other}


def _format_beside_tools(profile: BackendProfile, observed: Observed) -> Mapping[str, Any]:
    """Many servers let a format win over tools, and some ignore it. A call beside it shows that there is room for both.
    An answer before any call does not show the contrary, but is what such a server would give: from then on words ask
    for the form, for which a server that obeys gives the same answer."""
    request, ended = observed.request, observed.reply.ended
    if not (profile.format_by_evidence and _wants_both(request)):
        return {}
    if observed.reply.calls:
        shown = profile.format_with_tools and request.choice.mode is ChoiceMode.AUTO
        return {"calls_beside_format": True} if shown else {}
    is_answer = ended is not None and _shows_all_calls(ended)
    if observed.unfit or (is_answer and _is_tried(profile, request)):
        return {"format_with_tools": False}
    return {}


def fields_to_keep(profile: BackendProfile, observed: Observed) -> Collection[str]:
    """The fields of which a lesson should last, though this reply does not show it again: a call that was made while
    the form was told in words might have been lost beside it."""
    if not profile.format_by_evidence or profile.format_with_tools or not _wants_both(observed.request):
        return ()
    return ("format_with_tools",) if observed.reply.calls else ()


def _wants_both(request: Request) -> bool:
    has_tools = bool(request.tools) and request.choice.mode is not ChoiceMode.NONE
    return has_tools and request.format.kind is not FormatKind.TEXT


def _is_tried(profile: BackendProfile, request: Request) -> bool:
    """Is a format sent beside tools, and nobody knows whether calls are still made?"""
    tries = profile.format_by_evidence and profile.format_with_tools and not profile.calls_beside_format
    return tries and _wants_both(request)


def _shows_all_calls(ended: ReplyEnded) -> bool:
    """A reply that was cut may have had one still to come; one that was refused for a call's arguments does not show
    it."""
    fault = ended.fault
    if fault is None:
        return ended.ending is COMPLETED
    return isinstance(fault, Empty) or (isinstance(fault, Unfit) and fault.code in _ANOTHER)


def _replay(profile: BackendProfile, observed: Observed) -> Mapping[str, Any]:
    """A server that nobody knows sends its thoughts in a field: it gets them back there. Nobody but the server chooses
    that field. If it refuses it after all, the request is sent again without, and this row is silent for a while."""
    if not profile.replay_by_evidence:
        return {}
    thoughts = (each.part for each in observed.reply.parts if isinstance(each.part, Reasoning))
    field = next((name for thought in thoughts if (name := field_in(thought.extras))), None)
    if field is None:
        return {}
    return {"replay": field, "replay_scope": scope_of(field)}


def scope_of(field: Replay) -> ReplayScope:
    """The messages in which the known backends of this kind want it."""
    return "calls" if field == DETAILS else "all"


COMMON_ROWS: Sequence[ReplyRow] = (_thoughts,)
OPENAI_ROWS: Sequence[ReplyRow] = (*COMMON_ROWS, _usage, _force_tool, _format_beside_tools)
"""For OpenAI's languages, which many servers speak, each in its way."""
CHAT_ROWS: Sequence[ReplyRow] = (*OPENAI_ROWS, _replay)
