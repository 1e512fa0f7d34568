"""Tools as the native surface declares them: in one form, and each with all that a model needs to use it well."""

import re
from collections.abc import Callable
from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted
from proxy.core.model import ToolName, ToolSpec
from proxy.core.schemas import validity
from proxy.core.surfaces.reading.checks import array, mapping, missing, string_in, unsupported, wrong_value
from proxy.core.surfaces.reading.tools import Json, Toolbox, ToolReader, read_tools
from proxy.core.work import Work

NAME = re.compile(r"[a-zA-Z0-9_]{1,64}")
"""There is no dash, because some backends refuse it."""

KEYWORDS: dict[str, Callable[[Any, str], object]] = {"properties": mapping, "required": array}
"""Keywords that may not be null. Elsewhere a null counts as absent, as many clients mean it."""

CHECK_INSTEAD = "set request_options.validate_tool_arguments to true, which has the arguments checked here."


def _function(tool: Json, param: str, namespace: str | None, work: Work) -> ToolSpec:
    name = string_in(tool, "name", param, "the name of the tool")
    if not NAME.fullmatch(name):
        raise wrong_value(
            f"{param}.name", f"must be 1 to 64 letters, digits or underscores, got {quoted(name)}."
        )
    refuse_strict(tool, param)
    description = string_in(tool, "description", param, "what the tool does")
    if not description.strip():
        raise wrong_value(f"{param}.description", "must say what the tool does: the model chooses by it.")
    if tool.get("parameters") is None:
        raise missing(f"{param}.parameters", "a JSON Schema of the type object")
    return ToolSpec(
        ToolName(name),
        description=description,
        parameters=_schema(tool["parameters"], f"{param}.parameters", work),
        path=param,
    )


def _schema(value: Any, param: str, work: Work) -> dict[str, Any]:
    parameters = mapping(value, param)
    if string_in(parameters, "type", param, 'it must be "object"') != "object":
        raise wrong_value(f"{param}.type", 'must be "object".')
    for field, read_as in KEYWORDS.items():
        if field in parameters:
            read_as(parameters[field], f"{param}.{field}")
    validity.check(parameters, param, work)
    return parameters


READERS: dict[str, ToolReader] = {"function": _function}


def refuse_strict(holder: Json, param: str) -> None:
    if holder.get("strict"):
        raise unsupported(
            f"{param}.strict".removeprefix("."), f"is not supported: leave it out and {CHECK_INSTEAD}"
        )


def read(tools: list[Any], ledger: Ledger) -> Toolbox:
    for index, raw in enumerate(tools):
        path = f"tools[{index}]"
        tool = mapping(raw, path)
        kind = string_in(tool, "type", path, 'it must be "function"')
        if kind not in READERS:
            raise unsupported(f"{path}.type", f'must be "function", got {quoted(kind)}.')
        if tool.get(kind) is None:
            raise missing(f"{path}.{kind}", "an object with the tool")
        mapping(tool[kind], f"{path}.{kind}")
        refuse_strict(tool, path)
    return read_tools([(tools, "tools")], ledger, READERS, nested=True)
