"""`tool_choice`, on every surface: one mode, and perhaps the only tools that may be called."""

from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted, shown
from proxy.core.model import UNNAMED, ChoiceMode, ToolChoice, ToolName
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
from proxy.core.surfaces.reading.tools import MAX_TOOLS, Json, Toolbox, unnested

PARAM = "tool_choice"
KIND = "the type of the tool, such as function"
MODES = {str(mode): mode for mode in ChoiceMode}
NOT_DEMANDED = (
    "tool_choice demands a tool that this backend does not run. It was left out, and the demand with it."
)
FREELY = ToolChoice()
"""The choice of most requests: the model may call any declared tool, or none."""


def read_choice(value: Any, toolbox: Toolbox, ledger: Ledger) -> ToolChoice:
    if value is None:
        return FREELY
    choice = _choice(value, toolbox, ledger)
    if choice.mode is not ChoiceMode.REQUIRED or toolbox.specs:
        return choice
    if toolbox.kept:
        toolbox.chosen = str(choice.mode)
        return FREELY
    if not toolbox.hosted:
        raise wrong_value(PARAM, "demands a tool call, but no tools are declared: declare one, or send auto.")
    return _not_demanded(ledger)


def _choice(value: Any, toolbox: Toolbox, ledger: Ledger) -> ToolChoice:
    if isinstance(value, str):
        return ToolChoice(_mode(value, PARAM))
    if not isinstance(value, dict):
        raise wrong_type(PARAM, "a string or an object", value)
    kind = string_in(value, "type", PARAM, KIND)
    if kind == "allowed_tools":
        return _allowed(value, toolbox, ledger)
    if toolbox.knows(kind):
        return ToolChoice(ChoiceMode.REQUIRED, frozenset(_named(value, kind, PARAM, toolbox)))
    if kind in MODES:  # another API's spelling; taken for a hosted tool, "none" would become "auto"
        return ToolChoice(MODES[kind])
    if toolbox.runs(kind):
        toolbox.chosen = value
        return FREELY
    means_a_client_tool = toolbox.nested or _is_declared(value.get("name"), toolbox)
    if means_a_client_tool and shown(kind) not in toolbox.hosted:
        raise wrong_value(
            f"{PARAM}.type",
            f"is {quoted(kind)}, and no tool of that type is declared: name a declared tool by its own type.",
        )
    return _not_demanded(ledger)


def _not_demanded(ledger: Ledger) -> ToolChoice:
    """The choice where a tool is demanded that has been left out. Its client waits for a call that cannot come."""
    ledger.drop(PARAM)
    ledger.warn(NOT_DEMANDED)
    return FREELY


def _is_declared(name: Any, toolbox: Toolbox) -> bool:
    return isinstance(name, str) and bool(toolbox.called(name))


def _mode(word: str, param: str) -> ChoiceMode:
    if word not in MODES:
        raise wrong_value(param, f"must be one of {', '.join(MODES)}, got {quoted(word)}.")
    return MODES[word]


def _allowed(value: Json, toolbox: Toolbox, ledger: Ledger) -> ToolChoice:
    """A choice among the listed tools only. If all of them were left out, no tool may be called: the limit is never
    widened."""
    value, param = unnested(value, "allowed_tools", PARAM, "tools", nested=toolbox.nested)
    mode = _mode(optional_string_in(value, "mode", param) or "auto", f"{param}.mode")
    path = f"{param}.tools"
    if value.get("tools") is None:
        raise missing(path, "the tools that may be called")
    tools = array(value["tools"], path)
    if not tools:
        raise missing(f"{path}[0]", "a tool that may be called")
    if len(tools) > MAX_TOOLS:
        raise too_many(path, MAX_TOOLS, "tools")
    only: set[ToolName] = set()
    listed: set[str] = set()
    for index, raw in enumerate(tools):
        tool = mapping(raw, f"{path}[{index}]")
        kind = string_in(tool, "type", f"{path}[{index}]", KIND)
        listed.add(kind)
        if toolbox.knows(kind):
            only.update(_named(tool, kind, f"{path}[{index}]", toolbox))
        elif not toolbox.runs(kind):
            ledger.drop(PARAM)
    toolbox.kept = [tool for tool in toolbox.kept if tool["type"] in listed]
    if only:
        return ToolChoice(mode, frozenset(only))
    if not toolbox.kept:
        if mode is ChoiceMode.REQUIRED:
            ledger.warn(NOT_DEMANDED)
        return ToolChoice(ChoiceMode.NONE)
    toolbox.chosen = str(mode)  # among the backend's own tools; no other may be called
    return ToolChoice(ChoiceMode.NONE)


def _named(tool: Json, kind: str, param: str, toolbox: Toolbox) -> list[ToolName]:
    """The declared tools that a name stands for: the one without a namespace, or else all of that name."""
    tool, param = unnested(tool, kind, param, nested=toolbox.nested)
    name = kind if kind in UNNAMED else string_in(tool, "name", param, "the name of the tool")
    namespace = optional_string_in(tool, "namespace", param)
    exact = ToolName(name, namespace)
    if exact in toolbox.specs:
        return [exact]
    anywhere = toolbox.called(name) if namespace is None else []
    if not anywhere:
        raise wrong_value(
            f"{param}.{'type' if kind in UNNAMED else 'name'}",
            f"is {quoted(name)}, which is not declared{toolbox.listed}. Declare it, or name a tool that is.",
        )
    return anywhere
