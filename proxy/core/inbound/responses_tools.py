"""Tools as the Responses surface declares them: a table `type → function`.

What the table does not list is a tool that the server of another API would run itself (web_search, file_search …):
such a tool is left out, never an error, so that a client's fixed tool list still works.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.core.inbound.checks import (
    array,
    mapping,
    optional_string_in,
    shown,
    string_in,
    too_many,
    wrong_type,
    wrong_value,
)
from proxy.core.inbound.responses_parts import Json
from proxy.core.ledger import Ledger
from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.tools import schema

MAX_TOOLS = 1024
"""Declarations in one request, those in namespaces counted singly. Ten times what models cope with; an agent with a
dozen MCP servers stays below it."""

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

ToolReader = Callable[[Json, str, str | None], ToolSpec | None]
"""None for a tool of this type that the server of another API would run itself."""


@dataclass(slots=True)
class Toolbox:
    """The tools that one request declares, wherever it does."""

    specs: dict[ToolName, ToolSpec] = field(default_factory=dict)
    hosted: set[str] = field(default_factory=set)
    """The types of those that were left out."""
    left: int = MAX_TOOLS

    def called(self, name: str) -> list[ToolName]:
        return [tool for tool in self.specs if tool.name == name]


def read_tools(lists: Iterable[tuple[list[Any], str]], ledger: Ledger) -> Toolbox:
    """All lists with their places. A name twice in one is an error; a later list may declare a tool anew, and as
    often as it likes: a long thread has searched for the same tools again and again."""
    toolbox = Toolbox()
    for tools, param in lists:
        declared: dict[ToolName, ToolSpec] = {}
        for spec, place in _specs(tools, param, None, toolbox, ledger):
            if spec.tool in declared:
                raise wrong_value(place, f"is declared twice: {spec.tool.name}.")
            declared[spec.tool] = spec
        toolbox.left += len(declared.keys() & toolbox.specs.keys())
        toolbox.specs |= declared
    if toolbox.hosted:
        ledger.log.info("hosted_tools_dropped", types=sorted(toolbox.hosted))
    return toolbox


def _specs(
    tools: list[Any], param: str, namespace: str | None, toolbox: Toolbox, ledger: Ledger
) -> Iterator[tuple[ToolSpec, str]]:
    """Each tool with the path of its name. What a namespace says of itself repeats its name; no tool needs to."""
    toolbox.left -= len(tools)
    if toolbox.left < 0:
        raise too_many(param, MAX_TOOLS, "tools in all")
    for index, raw in enumerate(tools):
        place = f"{param}[{index}]"
        tool = mapping(raw, place)
        kind = string_in(tool, "type", place)
        reader = READERS.get(kind)
        tool, inner = unnested(tool, kind, place)
        if reader and (spec := reader(tool, inner, namespace)):
            yield spec, f"{inner}.name"
        elif kind == "namespace" and namespace is None:
            inside = f"{place}.tools"
            yield from _specs(array(tool.get("tools"), inside), inside, _name(tool, place), toolbox, ledger)
        else:
            toolbox.hosted.add(shown(kind))
            ledger.drop("hosted_tool")


def unnested(tool: Json, kind: str, param: str) -> tuple[Json, str]:
    """The Chat form holds everything one level deeper, under the name of the type."""
    inner = tool.get(kind)
    return (inner, f"{param}.{kind}") if isinstance(inner, dict) else (tool, param)


def _name(tool: Json, param: str) -> str:
    name = string_in(tool, "name", param)
    if not NAME.fullmatch(name):
        raise wrong_value(
            f"{param}.name",
            f"must be 1 to 64 letters, digits, underscores or dashes, got {shown(name)!r}.",
        )
    return name


def _function(tool: Json, param: str, namespace: str | None) -> ToolSpec:
    name = ToolName(_name(tool, param), namespace)
    parameters = tool.get("parameters")
    if parameters is not None:
        schema.check(parameters, f"{param}.parameters")
    strict = tool.get("strict")
    if not isinstance(strict, bool | None):
        raise wrong_type(f"{param}.strict", "a boolean", strict)
    description = optional_string_in(tool, "description", param)
    return ToolSpec(name, description=description, parameters=parameters, strict=strict)


def _custom(tool: Json, param: str, namespace: str | None) -> ToolSpec:
    name = ToolName(_name(tool, param), namespace)
    grammar = tool.get("format")
    if grammar is not None:
        mapping(grammar, f"{param}.format")
    description = optional_string_in(tool, "description", param)
    return ToolSpec(name, kind=ToolKind.CUSTOM, description=description, grammar=grammar)


def _tool_search(tool: Json, param: str, namespace: str | None) -> ToolSpec | None:
    """Codex searches among its own tools; those of others are searched by their server."""
    if tool.get("execution") != "client":
        return None
    found = _function(tool | {"name": ToolKind.TOOL_SEARCH.value}, param, None)
    return replace(found, kind=ToolKind.TOOL_SEARCH)


def _local_shell(tool: Json, param: str, namespace: str | None) -> ToolSpec:
    return ToolSpec(ToolName(ToolKind.LOCAL_SHELL.value), ToolKind.LOCAL_SHELL)


READERS: dict[str, ToolReader] = {
    "function": _function,
    "custom": _custom,
    "tool_search": _tool_search,
    "local_shell": _local_shell,
}
UNNAMED = frozenset({"tool_search", "local_shell"})
"""Types that have one tool each, which goes by the name of its type."""
