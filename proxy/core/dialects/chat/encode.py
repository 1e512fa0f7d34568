"""A request in the words of Chat Completions, as one backend understands them.

The body is built field by field from what is known to be wanted and understood; nothing is copied from the client.
What the backend's profile does not know is left out and counted: closed schemas refuse a request for one field.
"""

from collections.abc import Mapping

from proxy.core import jsontext
from proxy.core.caches.consequences import found_of
from proxy.core.dialects.chat.messages import encode_messages
from proxy.core.dialects.reading.reply_lessons import asked_whole
from proxy.core.dialects.writing import answer_format
from proxy.core.dialects.writing.body import (
    Body,
    granted,
    hints,
    leave_out_ways,
    parallel_calls,
    patched,
    tuning_wishes,
    unusual_tier,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Call, ChoiceMode, Request
from proxy.core.profile import BackendProfile, ForceTool
from proxy.core.tools.prepare import NO_TOOL, Prepared, PreparedTool, leave_out_hosted


def encode(request: Request, prepared: Prepared, profile: BackendProfile, model: str, ledger: Ledger) -> Body:
    """Makes the body. `profile` is already that of the model.

    The proxy asks for a stream whatever the client wants, so that it reads all replies alike, except from servers that
    send no usage with a stream.
    """
    whole = asked_whole(request, profile)
    orphaned = profile.orphan_tools != "keep" and not prepared.tools and _tells_calls(request)
    tools = [NO_TOOL] if orphaned and profile.orphan_tools == "declare" else prepared.tools
    form = answer_format.plan(request.format, profile, ledger.work, with_tools=bool(tools))
    prepared.format_unproven = form.unproven
    body: Body = {
        "model": model,
        "messages": encode_messages(
            request,
            prepared.names,
            profile,
            ledger,
            flatten=orphaned and profile.orphan_tools == "flatten",
            note=form.instruction,
            model=model,
        ),
        "stream": not whole,
    }
    if profile.usage == "ask" and not whole:
        body["stream_options"] = {"include_usage": True}
    if prepared.hosted:
        leave_out_hosted(prepared.hosted, ledger)
    if tools:
        body["tools"] = found_of(
            tools,
            ("chat", profile.strict_tools),
            lambda: jsontext.written([_tool(tool, profile) for tool in tools]),
        )
    if prepared.tools:
        body |= _choice(prepared, profile, ledger) | parallel_calls(request, profile, ledger)
        if not profile.strict_tools:
            prepared.drop_strict(prepared.tools, ledger)
    if form.response_format:
        body["response_format"] = form.response_format
    if limit := request.sampling.max_tokens or profile.length_default:
        body[profile.length_field] = limit
    wishes = tuning_wishes(request)
    if (tier := unusual_tier(request)) is not None:
        wishes["service_tier"] = tier
    body |= granted(wishes, profile.tuning, ledger) | hints(request, profile.tuning, ledger)
    leave_out_ways(request, ledger)
    if (word := _effort(request, prepared, profile, ledger)) is not None:
        body |= _thinking(word, profile)
    return patched(body, profile.extra, ledger)


def _tells_calls(request: Request) -> bool:
    for _, parts in request.turns:
        for part in parts:
            if isinstance(part, Call):
                return True
    return False


def _tool(tool: PreparedTool, profile: BackendProfile) -> Body:
    function: Body = {"name": tool.name, "parameters": tool.parameters}
    if tool.description:
        function["description"] = tool.description
    if tool.strict and profile.strict_tools:
        function["strict"] = True
    return {"type": "function", "function": function}


_REQUIRED: Mapping[ForceTool, str] = {"object": "required", "required": "required", "any": "any"}


def _choice(prepared: Prepared, profile: BackendProfile, ledger: Ledger) -> Body:
    """Writes the choice. `auto` is the default everywhere, and some servers refuse it as a word."""
    if prepared.mode is ChoiceMode.AUTO:
        return {}
    if prepared.mode is ChoiceMode.NONE:
        return {"tool_choice": "none"}
    if prepared.forced:
        return {"tool_choice": {"type": "function", "function": {"name": prepared.forced}}}
    if profile.force_tool not in _REQUIRED:
        ledger.drop("tool_choice")
        return {}
    return {"tool_choice": _REQUIRED[profile.force_tool]}


_SWITCH_WORDS = frozenset({"enabled", "disabled", "adaptive"})


def _effort(request: Request, prepared: Prepared, profile: BackendProfile, ledger: Ledger) -> str | None:
    """Gives the vendor's word for the effort that is to be asked for."""
    wanted = request.reasoning.effort
    effort = wanted if profile.thinks_beside_tools or not prepared.tools else "none"
    word = profile.effort_map.get(effort, effort) if effort else None
    if profile.effort_field == "none":
        word = None
    if wanted and (word is None or effort != wanted):
        ledger.drop("reasoning_effort")
    return word


def _thinking(word: str, profile: BackendProfile) -> Body:
    match profile.effort_field:
        case "thinking" if word in _SWITCH_WORDS:
            return {"thinking": {"type": word}}
        case "thinking":
            return {"thinking": {"type": "enabled"}, "reasoning_effort": word}
        case "enable_thinking":
            return {"enable_thinking": _is_on(word)}
        case "template":
            return {"chat_template_kwargs": {"enable_thinking": _is_on(word)}}
        case "reasoning":
            return {"reasoning": {"effort": word}}
        case _:
            return {"reasoning_effort": word}


def _is_on(word: str) -> bool:
    return word not in ("disabled", "none")
