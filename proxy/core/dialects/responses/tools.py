"""What the model may call: the tools, and the choice among them."""

from typing import Any

from proxy.core.dialects.writing.body import Body, parallel_calls
from proxy.core.ledger import Ledger
from proxy.core.model import UNNAMED, Call, ChoiceMode, Request, ToolKind, ToolSpec
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import NO_TOOL, Prepared, PreparedTool


def offer(request: Request, prepared: Prepared, profile: BackendProfile, ledger: Ledger) -> Body:
    """Writes the fields about tools; none where there are no tools."""
    if not prepared.tools and prepared.hosted:
        return {"tools": prepared.hosted, **_hosted_choice(request)}
    if not prepared.tools:
        return (
            {"tools": [_declared(NO_TOOL, profile, NO_TOOL.name)]}
            if _declares_orphans(request, profile)
            else {}
        )
    if not profile.strict_tools:
        prepared.drop_strict(prepared.tools, ledger)
    return {
        "tools": [*_declarations(request, prepared, profile), *prepared.hosted],
        **((_hosted_choice(request) if prepared.hosted else {}) or _choice(prepared, profile, ledger)),
        **parallel_calls(request, profile, ledger),
    }


def _hosted_choice(request: Request) -> Body:
    chosen = request.hosted.choice if request.hosted is not None else None
    return {"tool_choice": chosen} if chosen is not None else {}


def tells_calls(request: Request) -> bool:
    return any(isinstance(part, Call) for _, parts in request.turns for part in parts)


def _declares_orphans(request: Request, profile: BackendProfile) -> bool:
    return profile.orphan_tools == "declare" and tells_calls(request)


def _declarations(request: Request, prepared: Prepared, profile: BackendProfile) -> list[dict[str, Any]]:
    """Each tool in its place; those of a namespace together, where the first of them stands."""
    declared: list[dict[str, Any]] = []
    spaces: dict[str, list[dict[str, Any]]] = {}
    for tool in prepared.tools:
        if tool.space is None:
            declared.append(_declared(tool, profile, tool.name))
            continue
        if tool.space not in spaces:
            inside = spaces[tool.space] = []
            said = request.namespaces.get(tool.space) or tool.space  # the API wants a description
            declared.append({"type": "namespace", "name": tool.space, "description": said, "tools": inside})
        own, _ = prepared.names.client(tool.name)
        spaces[tool.space].append(_declared(tool, profile, own.name))
    return declared


def _declared(tool: PreparedTool, profile: BackendProfile, name: str) -> dict[str, Any]:
    """`strict` is always said of a function: left out it means true, and a schema that was not made for it is refused
    then."""
    if tool.declared is not None:
        return _as_declared(tool.declared, name)
    function = {"type": "function", "name": name, "parameters": tool.parameters}
    if tool.description:
        function["description"] = tool.description
    return function | {"strict": bool(tool.strict and profile.strict_tools)}


def _as_declared(spec: ToolSpec, name: str) -> dict[str, Any]:
    if spec.kind is not ToolKind.CUSTOM:
        return {"type": str(spec.kind)}
    custom: dict[str, Any] = {"type": "custom", "name": name}
    if spec.description:
        custom["description"] = spec.description
    if form := spec.grammar:
        inner = form.get("grammar")  # the Chat form holds it one level deeper
        custom["format"] = {"type": "grammar", **inner} if isinstance(inner, dict) else form
    return custom


def _reference(tool: PreparedTool) -> dict[str, Any]:
    """The tool, as a choice names it."""
    kind = tool.declared.kind if tool.declared is not None else ToolKind.FUNCTION
    return {"type": str(kind)} if kind in UNNAMED else {"type": str(kind), "name": tool.name}


def _choice(prepared: Prepared, profile: BackendProfile, ledger: Ledger) -> Body:
    """Writes the choice. `auto` is the default everywhere."""
    if prepared.mode is ChoiceMode.NONE:
        return {"tool_choice": "none"}
    if prepared.forced:
        return {"tool_choice": _reference(prepared.allowed[0])}
    if prepared.allowed:
        among = [_reference(tool) for tool in prepared.allowed]
        return {"tool_choice": {"type": "allowed_tools", "mode": str(prepared.mode), "tools": among}}
    if prepared.mode is ChoiceMode.AUTO:
        return {}
    if profile.force_tool == "auto":
        ledger.drop("tool_choice")
        return {}
    return {"tool_choice": "required"}
