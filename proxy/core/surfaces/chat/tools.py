"""How the Chat Completions surface declares tools and chooses among them, in the present form and the older one."""

from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted
from proxy.core.model import ChoiceMode, ToolChoice, ToolName, ToolSpec
from proxy.core.schemas import strictness
from proxy.core.schemas.validity import BAD_PARAMETERS
from proxy.core.surfaces.chat.envelope import ChatEnvelope
from proxy.core.surfaces.reading import tools
from proxy.core.surfaces.reading.checks import FieldFault, string_in, unsupported, wrong_type, wrong_value
from proxy.core.surfaces.reading.tool_choice import read_choice
from proxy.core.surfaces.reading.tools import Json, Toolbox, ToolReader, read_tools
from proxy.core.work import Work

LEGACY_MODES = {"auto": ChoiceMode.AUTO, "none": ChoiceMode.NONE}


def _function(tool: Json, param: str, namespace: str | None, work: Work) -> ToolSpec:
    spec = tools.function(tool, param, namespace, work)
    if spec.parameters is not None and spec.parameters.get("type") != "object":
        complaint = 'must be "object": for a tool that takes none, leave parameters out.'
        raise FieldFault(f"{param}.parameters.type", complaint, BAD_PARAMETERS)
    if spec.strict:
        strictness.check(spec.parameters, f"{param}.parameters")
    return spec


READERS: dict[str, ToolReader] = {"function": _function, "custom": tools.custom}
LEGACY_READERS: dict[str, ToolReader] = {"function": _function}


def read(envelope: ChatEnvelope, ledger: Ledger) -> tuple[Toolbox, ToolChoice]:
    if envelope.functions:
        return _legacy(envelope, envelope.functions, ledger)
    hosted = [] if envelope.web_search_options is None else ["web_search_options"]
    found = read_tools([(envelope.tools or [], "tools")], ledger, READERS, hosted, nested=True)
    if envelope.function_call is None:
        return found, read_choice(envelope.tool_choice, found, ledger)
    if envelope.tools:
        raise unsupported("function_call", "chooses among functions: for tools, use tool_choice.")
    return found, _legacy_choice(envelope.function_call, found)


def _legacy(envelope: ChatEnvelope, functions: list[Any], ledger: Ledger) -> tuple[Toolbox, ToolChoice]:
    if envelope.tools:
        raise unsupported("functions", "cannot stand beside tools: declare them all as tools.")
    declared = [each | {"type": "function"} if isinstance(each, dict) else each for each in functions]
    found = read_tools([(declared, "functions")], ledger, LEGACY_READERS)
    if envelope.function_call is None:
        return found, read_choice(envelope.tool_choice, found, ledger)
    return found, _legacy_choice(envelope.function_call, found)


def _legacy_choice(value: Any, found: Toolbox) -> ToolChoice:
    if isinstance(value, str):
        if value not in LEGACY_MODES:
            raise wrong_value(
                "function_call",
                f"must be one of {', '.join(LEGACY_MODES)} or an object, got {quoted(value)}.",
            )
        return ToolChoice(LEGACY_MODES[value])
    if not isinstance(value, dict):
        raise wrong_type("function_call", "a string or an object", value)
    name = ToolName(string_in(value, "name", "function_call", "the name of a function"))
    if name not in found.specs:
        raise wrong_value(
            "function_call.name",
            f"is {quoted(name.name)}, which is not declared{found.listed}. Declare it, or name one that is.",
        )
    return ToolChoice(ChoiceMode.REQUIRED, frozenset({name}))
