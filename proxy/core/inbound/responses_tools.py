"""Tools as the Responses surface declares them: a table `type → function`."""

from dataclasses import replace

from proxy.core.inbound import toolbox
from proxy.core.inbound.toolbox import Json, ToolReader
from proxy.core.model import ToolKind, ToolName, ToolSpec


def runs_elsewhere(tool: Json) -> bool:
    """Is it, of types that clients run, one that the server of another API would run itself?

    Codex searches among its own tools; those of others are searched by their server.
    """
    return tool["type"] == ToolKind.TOOL_SEARCH and tool.get("execution") != "client"


def _tool_search(tool: Json, param: str, namespace: str | None) -> ToolSpec | None:
    if runs_elsewhere(tool):
        return None
    found = toolbox.function(tool | {"name": ToolKind.TOOL_SEARCH.value}, param, None)
    return replace(found, kind=ToolKind.TOOL_SEARCH)


def _local_shell(tool: Json, param: str, namespace: str | None) -> ToolSpec:
    return ToolSpec(ToolName(ToolKind.LOCAL_SHELL.value), ToolKind.LOCAL_SHELL, place=param)


READERS: dict[str, ToolReader] = {
    "function": toolbox.function,
    "custom": toolbox.custom,
    "tool_search": _tool_search,
    "local_shell": _local_shell,
}
