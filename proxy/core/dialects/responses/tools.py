"""What the model may call: the tools, and the choice among them."""

from typing import Any

from proxy.core.dialects.writing.body import Body
from proxy.core.ledger import Ledger
from proxy.core.model import Call, ChoiceMode, Request
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import NO_TOOL, Prepared, PreparedTool


def offer(request: Request, prepared: Prepared, profile: BackendProfile, ledger: Ledger) -> Body:
    """Writes the fields about tools; none where there are no tools."""
    if not prepared.tools and prepared.hosted:
        return {"tools": prepared.hosted, **_hosted_choice(request)}
    if not prepared.tools:
        return {"tools": [_function(NO_TOOL, profile)]} if _declares_orphans(request, profile) else {}
    if not profile.strict_tools:
        prepared.drop_strict(prepared.tools, ledger)
    return {
        "tools": [*(_function(tool, profile) for tool in prepared.tools), *prepared.hosted],
        **((_hosted_choice(request) if prepared.hosted else {}) or _choice(prepared, profile, ledger)),
        **_parallel(request, profile, ledger),
    }


def _hosted_choice(request: Request) -> Body:
    chosen = request.hosted.choice if request.hosted is not None else None
    return {"tool_choice": chosen} if chosen is not None else {}


def tells_calls(request: Request) -> bool:
    return any(isinstance(part, Call) for turn in request.turns for part in turn.parts)


def _declares_orphans(request: Request, profile: BackendProfile) -> bool:
    return profile.orphan_tools == "declare" and tells_calls(request)


def _function(tool: PreparedTool, profile: BackendProfile) -> dict[str, Any]:
    """`strict` is always said: left out it means true, and a schema that was not made for it is refused then."""
    function = {"type": "function", "name": tool.name, "parameters": tool.parameters}
    if tool.description:
        function["description"] = tool.description
    return function | {"strict": bool(tool.strict and profile.strict_tools)}


def _choice(prepared: Prepared, profile: BackendProfile, ledger: Ledger) -> Body:
    """Writes the choice. `auto` is the default everywhere."""
    if prepared.mode is ChoiceMode.AUTO:
        return {}
    if prepared.mode is ChoiceMode.NONE:
        return {"tool_choice": "none"}
    if prepared.forced:
        return {"tool_choice": {"type": "function", "name": prepared.forced}}
    if profile.force_tool == "auto":
        ledger.drop("tool_choice")
        return {}
    return {"tool_choice": "required"}


def _parallel(request: Request, profile: BackendProfile, ledger: Ledger) -> Body:
    if profile.parallel == "false" or (profile.parallel == "obey" and not request.parallel_calls):
        return {"parallel_tool_calls": False}
    if not request.parallel_calls:
        ledger.drop("parallel_tool_calls")
    return {}
