"""Tools and the choice among them, as each surface declares them, and their schemas."""

from typing import Any

from tests.refusals.cases import HI, Case, chat, native, responses
from tests.refusals.of_responses import LONG, MISSING, NO, OBJECT, STRING, TYPE

CODE = "invalid_value"
BAD_PARAMETERS = "invalid_function_parameters"
F: dict[str, Any] = {"type": "function", "name": "f"}
CHAT_F: dict[str, Any] = {"type": "function", "function": {"name": "f"}}
CUSTOM: dict[str, Any] = {"type": "custom", "name": "c"}
SEARCH = {"type": "tool_search", "execution": "client"}
TYPES = "one of array, boolean, integer, null, number, object, string"


def _tool(says: str, param: str, code: str = TYPE, **fields: Any) -> Case:
    """Of the second of two tools."""
    return responses(says, f"tools[1]{param}", code, tools=[CUSTOM, F | fields])


def _schema(says: str, where: str, parameters: Any) -> Case:
    return _tool(says, f".parameters{where}", BAD_PARAMETERS, parameters=parameters)


def _choice(says: str, where: str, choice: Any, code: str = CODE) -> Case:
    return responses(says, f"tool_choice{where}", code, tools=[F, SEARCH], tool_choice=choice)


def _chat_choice(says: str, where: str, choice: Any, code: str = CODE) -> Case:
    return chat(says, f"tool_choice{where}", code, tools=[CHAT_F], tool_choice=choice)


def _of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


def _repeated(times: int, text: str) -> dict[str, Any]:
    """Each definition points twice at the next one, and the last says something."""
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)}
    return _of(x={"$ref": "#/$defs/d0"}) | {"$defs": steps | {f"d{times}": {"description": text}}}


DECLARED = (
    responses("more than 1024 tools in all: send fewer", "tools", LONG, tools=[{}] * 1_025),
    responses(OBJECT, "tools[0]", TYPE, tools=[5]),
    responses("the type of the tool, such as function", "tools[0].type", MISSING, tools=[{}]),
    _tool("the name of the tool", ".name", MISSING, name=None),
    _tool("the schema that stands in input_schema", ".parameters", MISSING, input_schema=_of()),
    _tool("must be 1 to 64 letters, digits, underscores or dashes", ".name", CODE, name="a b"),
    _tool(STRING, ".description", description=5),
    _tool("must be a boolean", ".strict", strict="yes"),
    responses(STRING, "tools[0].description", TYPE, tools=[CUSTOM | {"description": 5}]),
    responses(OBJECT, "tools[0].format", TYPE, tools=[CUSTOM | {"format": 5}]),
    responses("Leave one out, or rename it", "tools[1].name", tools=[F, F]),
    responses("must be an array", "tools[0].tools", TYPE, tools=[{"type": "namespace", "name": "n"}]),
    responses(
        STRING,
        "input[1].tools[0].description",
        TYPE,
        input=[HI, {"type": "additional_tools", "tools": [F | {"description": 5}]}],
    ),
)

SCHEMAS = (
    _schema("must be an object: the JSON Schema of the parameters", "", []),
    _schema('must be "object"', ".type", {"type": "array"}),
    _schema(TYPES, ".properties.x.type", _of(x={"type": "str"})),
    _schema(TYPES, ".properties.x.items[1].type", _of(x={"items": [{}, {"type": "int"}]})),
    _schema(TYPES, ".properties.x.type", _of(x={"type": ["string", "date"]})),
    _schema("must be a schema: an object, true or false", ".properties.x", _of(x=None)),
    _schema("must be a whole number from 0 up", ".properties.x.minLength", _of(x={"minLength": -1})),
    _schema("must be an array of names", ".dependentRequired.x", {"dependentRequired": {"x": 5}}),
    _schema("deeper than 64 levels: flatten it", "", _of(x=_nested(64))),
    _schema("more than 1000 schemas: send fewer", "", {"anyOf": [{}] * 1_000}),
    _schema("longer than 131072 bytes: shorten it", "", {"description": "x" * 131_072}),
    responses(
        "must be an array of strings",
        "text.format.schema.required",
        "invalid_json_schema",
        text={"format": {"type": "json_schema", "name": "n", "schema": {"required": "x"}}},
    ),
    responses(
        "put what it means under $defs",
        "text.format.schema.properties.x.$ref",
        "invalid_json_schema",
        text={"format": {"type": "json_schema", "name": "n", "schema": _of(x={"$ref": "#/$defs/X"})}},
    ),
    chat(
        "must be false in a strict tool: mend it, or leave strict out",
        "tools[0].function.parameters.additionalProperties",
        BAD_PARAMETERS,
        tools=[{"type": "function", "function": {"name": "f", "strict": True, "parameters": _of()}}],
    ),
    chat(
        'must be "object"',
        "tools[0].function.parameters.type",
        BAD_PARAMETERS,
        tools=[{"type": "function", "function": {"name": "f", "parameters": {"properties": {}}}}],
    ),
)

CHOICES = (
    _choice("must be a string or an object", "", 5, TYPE),
    _choice("must be one of auto, none, required", "", "any"),
    _choice("the type of the tool, such as function", ".type", {}, MISSING),
    _choice("the name of the tool", ".name", {"type": "function"}, MISSING),
    _choice(STRING, ".namespace", F | {"namespace": 5}, TYPE),
    _choice("Declare it, or name a tool that is", ".name", F | {"name": "g"}),
    _choice("name a declared tool by its own type", ".type", F | {"type": "tool"}),
    _choice("must be one of auto, none, required", ".mode", {"type": "allowed_tools", "mode": "x"}),
    _choice(STRING, ".mode", {"type": "allowed_tools", "mode": 5}, TYPE),
    _choice("must be an array", ".tools", {"type": "allowed_tools", "tools": 5}, TYPE),
    _choice("the tools that may be called", ".tools", {"type": "allowed_tools"}, MISSING),
    _choice("a tool that may be called", ".tools[0]", {"type": "allowed_tools", "tools": []}, MISSING),
    _choice("1024 tools: send fewer", ".tools", {"type": "allowed_tools", "tools": [F] * 1_025}, LONG),
    _choice(OBJECT, ".tools[1]", {"type": "allowed_tools", "tools": [F, 5]}, TYPE),
    _choice("the type of the tool", ".tools[1].type", {"type": "allowed_tools", "tools": [F, {}]}, MISSING),
    responses("declare one, or send auto", "tool_choice", tool_choice="required"),
    responses(
        "the name of the tool",
        "tool_choice.function.name",
        MISSING,
        input=[HI, {"type": "compaction_trigger"}],
        tool_choice={"type": "function", "function": {}},
    ),
    _chat_choice(OBJECT, ".function", {"type": "function", "function": "f"}, TYPE),
    _chat_choice("an object with the name", ".function", {"type": "function"}, MISSING),
    _chat_choice("name a declared tool by its own type", ".type", {"type": "web_search"}),
    _chat_choice("an object with the tools", ".allowed_tools", {"type": "allowed_tools"}, MISSING),
    _chat_choice("Declare it, or name", ".function.name", {"type": "function", "function": {"name": "g"}}),
)

IN_CHAT = (
    chat("an object with the name", "tools[0].function", MISSING, tools=[{"type": "function"}]),
    chat(OBJECT, "tools[0].function", TYPE, tools=[{"type": "function", "function": "f"}]),
    chat("an object with the name", "tools[0].custom", MISSING, tools=[{"type": "custom"}]),
    chat('must be "function"', "tools[0].type", tools=[{"type": "f", "function": {"name": "f"}}]),
    chat("Set it to false, or leave it out", "parallel_tool_calls", world="enforcing", parallel_tool_calls=True,
         tools=[CHAT_F | {"function": {"name": "f", "strict": True, "parameters": {
             "type": "object", "properties": {}, "additionalProperties": False}}}]),
    chat("declare them all as tools", "functions", NO, functions=[{"name": "g"}], tools=[CHAT_F]),
    chat("for tools, use tool_choice", "function_call", NO, function_call="auto", tools=[CHAT_F]),
    chat("must be one of auto, none or an object", "function_call", functions=[{"name": "g"}],
         function_call="any"),
    chat("must be a string or an object", "function_call", TYPE, functions=[{"name": "g"}], function_call=5),
    chat("the name of a function", "function_call.name", MISSING, functions=[{"name": "g"}], function_call={}),
    chat("Declare it, or name one that is", "function_call.name", functions=[{"name": "g"}],
         function_call={"name": "h"}),
)  # fmt: skip

WHOLE = {"name": "f", "description": "Does it.", "parameters": {"type": "object", "properties": {}}}


def _native(says: str, param: str, code: str = MISSING, **fields: Any) -> Case:
    tool = {"type": "function", "function": WHOLE | fields}
    return native(says, f"tools[0].function{param}", code, tools=[tool])


ON_NATIVE = (
    native(OBJECT, "tools[0]", TYPE, tools=[5]),
    native('it must be "function"', "tools[0].type", MISSING, tools=[{}]),
    native('must be "function"', "tools[0].type", NO, tools=[{"type": "custom"}]),
    native("an object with the tool", "tools[0].function", MISSING, tools=[{"type": "function"}]),
    native(OBJECT, "tools[0].function", TYPE, tools=[{"type": "function", "function": "f"}]),
    native(
        "leave it out and set request_options.validate_tool_arguments to true",
        "tools[0].strict",
        NO,
        tools=[{"type": "function", "function": WHOLE, "strict": True}],
    ),
    _native("leave it out and set request_options.validate_tool_arguments", ".strict", NO, strict=True),
    _native("the name of the tool", ".name", name=None),
    _native("must be 1 to 64 letters, digits or underscores", ".name", CODE, name="a-b"),
    _native("what the tool does", ".description", description=None),
    _native("must say what the tool does", ".description", CODE, description=" "),
    _native("a JSON Schema of the type object", ".parameters", parameters=None),
    _native(OBJECT, ".parameters", TYPE, parameters=5),
    _native('it must be "object"', ".parameters.type", parameters={}),
    _native('must be "object"', ".parameters.type", CODE, parameters={"type": "array"}),
    _native(OBJECT, ".parameters.properties", TYPE, parameters={"type": "object", "properties": 5}),
    _native("must be an array", ".parameters.required", TYPE, parameters={"type": "object", "required": 5}),
    _native("Shorten it", ".description", "tool_limit_exceeded", description="d" * 1_025),
    native(
        "129 tools, more than 128. Send fewer",
        "tools",
        LONG,
        tools=[{"type": "function", "function": WHOLE | {"name": f"f{number}"}} for number in range(129)],
    ),
)

IN_SUM = (
    responses(
        "write it in a simpler way, with fewer alternatives and references in schemas",
        "tools[8].parameters",
        "request_too_complex",
        world="google",
        tools=[F | {"name": f"f{number}", "parameters": _repeated(4, "x" * 32_000)} for number in range(9)],
    ),
)

CASES = (*DECLARED, *SCHEMAS, *IN_SUM, *CHOICES, *IN_CHAT, *ON_NATIVE)
