"""The tools that a request declares, on any surface: names, kinds, paths, and what was left out.

A surface gives a table `type → function` of the types that it knows. A type that is not in the table is a tool that the
server of another API would run itself (web_search, file_search …). Such a tool is left out and never an error, so that
a client's fixed list of tools still works.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.core import jsontext
from proxy.core.caches.consequences import Declared
from proxy.core.caches.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import as_name, quoted, shown
from proxy.core.model import CUSTOM, FUNCTION, ToolName, ToolSpec
from proxy.core.schemas import validity
from proxy.core.surfaces.reading.checks import (
    array,
    mapping,
    missing,
    optional_string_in,
    string_in,
    too_many,
    wrong_type,
    wrong_value,
)
from proxy.core.work import Work

MAX_TOOLS = 1024
"""Declarations in one request; tools in a namespace count one each. Models cope with a tenth of it, and an agent with a
dozen MCP servers stays below."""

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

MAX_LISTED = 5
"""A complaint lists so many declared names."""

Json = dict[str, Any]
ToolReader = Callable[[Json, str, str | None, Work], ToolSpec | None]
"""Reads a tool from its JSON, path and namespace, at the cost of the request. None: the server of another API would run
this tool itself."""


@dataclass(slots=True)
class Toolbox:
    """The tools that one request declares, in any of its lists."""

    readers: Mapping[str, ToolReader]
    """The readers of the types that the surface knows."""
    specs: dict[ToolName, ToolSpec] = field(default_factory=dict)
    tools: list[ToolSpec] = field(default_factory=list)
    """The same, without their names."""
    hosted: set[str] = field(default_factory=set)
    """The types of the tools that were left out."""
    left_out: int = 0
    """How many they are."""
    run: Collection[str] = ()
    """The types of tools that the backend runs itself."""
    kept: list[Json] = field(default_factory=list)
    """The tools that it will run."""
    spaces: dict[str, str] = field(default_factory=dict)
    """What is said of each namespace."""
    chosen: Any = None
    """The choice, if it is one among those."""
    unawaited: set[ToolName] = field(default_factory=set)
    """The tools whose results may come in a later turn (`async`)."""
    left: int = MAX_TOOLS
    nested: bool = False
    """Does this surface put a tool under the name of its type? The flat form is accepted too, but never suggested."""

    def called(self, name: str) -> list[ToolName]:
        return [tool for tool in self.specs if tool.name == name]

    def runs(self, kind: str) -> bool:
        """Is a tool of this type declared that the backend runs?"""
        return any(tool["type"] == kind for tool in self.kept)

    @property
    def listed(self) -> str:
        """The declared names, for a complaint about another name."""
        names = [quoted(tool.dotted) for tool in self.specs][:MAX_LISTED]
        more = f" and {len(self.specs) - MAX_LISTED} more" if len(self.specs) > MAX_LISTED else ""
        return f" (declared: {', '.join(names)}{more})" if names else ""

    def knows(self, kind: str) -> bool:
        """May a tool of this type be declared?"""
        return kind in self.readers and kind not in self.hosted

    def leave_out(self, kind: str) -> None:
        self.hosted.add(shown(kind))
        self.left_out += 1


def read_tools(
    lists: Iterable[tuple[list[Any], str]],
    ledger: Ledger,
    readers: Mapping[str, ToolReader],
    hosted: Iterable[str] = (),
    *,
    nested: bool = False,
    run: Collection[str] = (),
) -> Toolbox:
    """Reads all lists, each with its path. A name twice in one list is an error. A later list may declare a tool anew,
    any number of times: a long thread has searched for the same tools again and again.

    `hosted`: tools of the server that other fields of the request ask for. `run`: types of tools that the backend runs.
    """
    declared = [(tools, param) for tools, param in lists if tools]
    toolbox = Toolbox(readers, nested=nested, run=run)
    if declared:
        found = _remembered(declared, toolbox, ledger.work)
        toolbox = replace(found, hosted=found.hosted.copy())
    for kind in hosted:
        toolbox.leave_out(kind)
    for _ in range(toolbox.left_out):
        ledger.drop("hosted_tool")
    if toolbox.hosted:
        ledger.log.info("hosted_tools_dropped", types=sorted(map(as_name, toolbox.hosted)))
    return toolbox


_READ: Remembered[Toolbox] = Remembered()


def _remembered(declared: list[tuple[list[Any], str]], toolbox: Toolbox, work: Work) -> Toolbox:
    """The toolbox with what these lists declare. It is shared: do not change what is in it."""
    data = jsontext.dumps(declared)
    reading = toolbox.nested, frozenset(toolbox.run), *toolbox.readers.values()

    def make() -> tuple[Toolbox, int]:
        for tools, param in declared:
            _read(tools, param, toolbox, work)
        toolbox.tools = Declared(toolbox.specs.values(), (data, reading))
        return toolbox, OBJECTS_PER_BYTE * len(data)

    return _READ.of((data, reading), make)


def _read(tools: list[Any], param: str, toolbox: Toolbox, work: Work) -> None:
    declared: dict[ToolName, ToolSpec] = {}
    for spec, path in _specs(tools, param, None, toolbox, work):
        if spec.tool in declared:
            raise wrong_value(
                path, f"is declared twice: {quoted(spec.tool.name)}. Leave one out, or rename it."
            )
        declared[spec.tool] = spec
    toolbox.left += len(declared.keys() & toolbox.specs.keys())
    toolbox.specs |= declared


def _specs(
    tools: list[Any], param: str, namespace: str | None, toolbox: Toolbox, work: Work
) -> Iterator[tuple[ToolSpec, str]]:
    """Each tool with the path of its name."""
    toolbox.left -= len(tools)
    if toolbox.left < 0:
        raise too_many(param, MAX_TOOLS, "tools in all")
    for index, raw in enumerate(tools):
        path = f"{param}[{index}]"
        tool = mapping(raw, path)
        kind = string_in(tool, "type", path, "the type of the tool, such as function")
        reader = toolbox.readers.get(kind)
        if reader:
            own, inner = unnested(tool, kind, path, nested=toolbox.nested)
            spec = reader(own, inner, namespace, work)
        else:
            own, spec, inner = tool, None, path
        if spec:
            if own.get("async") is True:
                toolbox.unawaited.add(spec.tool)
            yield spec, f"{inner}.name"
        elif kind == "namespace" and namespace is None:
            inside, space = f"{path}.tools", named(tool, path)
            if isinstance(said := tool.get("description"), str):
                toolbox.spaces[space] = said
            yield from _specs(array(tool.get("tools"), inside), inside, space, toolbox, work)
        elif kind in toolbox.run and namespace is None:
            toolbox.kept.append(tool)
        elif toolbox.nested and "function" in tool:  # which no tool of a server's own has
            raise wrong_value(f"{path}.type", f'must be "function", got {quoted(kind)}.')
        else:
            toolbox.leave_out(kind)


def unnested(tool: Json, kind: str, param: str, mark: str = "name", *, nested: bool) -> tuple[Json, str]:
    """The object that holds the tool, and its path. The Chat form has it one level deeper, under the name of the type.
    On a surface of that form a tool without it is refused, unless the `mark` of the flat form is there."""
    inner = tool.get(kind)
    if isinstance(inner, dict):
        return inner, f"{param}.{kind}"
    if not nested or mark in tool:
        return tool, param
    path = f"{param}.{kind}"
    raise (
        missing(path, f"an object with the {mark}") if inner is None else wrong_type(path, "an object", inner)
    )


def named(tool: Json, param: str) -> str:
    name = string_in(tool, "name", param, "the name of the tool")
    if not NAME.fullmatch(name):
        raise wrong_value(
            f"{param}.name",
            f"must be 1 to 64 letters, digits, underscores or dashes, got {quoted(name)}.",
        )
    return name


OF_OTHERS = ("input_schema", "inputSchema")
"""What Anthropic's API and MCP call the parameters. Without them a tool would have none, and be called so."""


def function(tool: Json, param: str, namespace: str | None, work: Work) -> ToolSpec:
    name = ToolName(named(tool, param), namespace)
    parameters, written = tool.get("parameters"), None
    if parameters is not None:
        written = validity.check(parameters, f"{param}.parameters", work)
    elif other := next((word for word in OF_OTHERS if tool.get(word)), None):
        raise missing(f"{param}.parameters", f"the schema that stands in {other}")
    strict = tool.get("strict")
    if strict is not None and not isinstance(strict, bool):
        raise wrong_type(f"{param}.strict", "a boolean", strict)
    description = optional_string_in(tool, "description", param)
    spec = ToolSpec(name, FUNCTION, description, parameters, strict, path=param)
    spec.written = written
    return spec


def custom(tool: Json, param: str, namespace: str | None, work: Work) -> ToolSpec:
    name = ToolName(named(tool, param), namespace)
    grammar = tool.get("format")
    if grammar is not None:
        mapping(grammar, f"{param}.format")
    description = optional_string_in(tool, "description", param)
    return ToolSpec(name, CUSTOM, description, grammar=grammar, path=param)
