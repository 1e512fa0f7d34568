"""How the Responses surface declares tools: a table `type → function`."""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from proxy.core.model import SHELL, TOOL_SEARCH, ToolKind, ToolName, ToolSpec
from proxy.core.surfaces.reading import tools
from proxy.core.surfaces.reading.tools import Json, ToolReader
from proxy.core.work import Work


def runs_elsewhere(tool: Json) -> bool:
    """Is this tool, of a type that clients run, one that the server of another API would run itself?

    Codex searches among its own tools; other clients expect their server to search. A shell is the client's, unless it
    is in a container.
    """
    kind = tool["type"]
    if kind == TOOL_SEARCH:
        return tool.get("execution") != "client"
    if kind == SHELL:
        environment = tool.get("environment")
        return isinstance(environment, dict) and environment.get("type", "local") != "local"
    return False


def _tool_search(tool: Json, param: str, namespace: str | None, work: Work) -> ToolSpec | None:
    if runs_elsewhere(tool):
        return None
    found = tools.function(tool | {"name": TOOL_SEARCH.value}, param, None, work)
    return replace(found, kind=TOOL_SEARCH)


def _by_type_alone(tool: Json, param: str, namespace: str | None, work: Work) -> ToolSpec | None:
    if runs_elsewhere(tool):
        return None
    kind = ToolKind(tool["type"])
    return ToolSpec(ToolName(kind.value), kind, path=param)


READERS: dict[str, ToolReader] = {
    "function": tools.function,
    "custom": tools.custom,
    "tool_search": _tool_search,
    "local_shell": _by_type_alone,
    "shell": _by_type_alone,
    "apply_patch": _by_type_alone,
}


def is_offered(tool: Json, run: Collection[str] = ()) -> bool:
    """May the model use the tool, or those in it? The tool has been checked before. `run`: types of tools that the
    backend runs."""
    kind = tool.get("type")
    if kind in run and kind not in READERS:
        return True
    return kind == "namespace" or (kind in READERS and not runs_elsewhere(tool))


def unheeded(declared: list[Json]) -> Counter[str]:
    """Counts what tools ask for and no model is told: that it finds them by searching, as it is told of all of them at
    once, and that it goes on after their call, as it ends its turn there."""
    return Counter(
        wish
        for tool in declared
        for one in (tool["tools"] if tool["type"] == "namespace" else (tool,))
        if one["type"] in READERS
        for wish in ("defer_loading", "async")
        if one.get(wish)
    )
