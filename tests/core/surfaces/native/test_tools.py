"""N01, N02: tools of the native surface, refused before anything is sent."""

from proxy.core.model import ToolName, ToolSpec
from tests.support.chat_asks import OBJECT, native, native_refused, native_tool
from tests.support.tables import table

FULL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@table(
    ("declared", "spec"),
    [
        (native_tool(), ToolSpec(ToolName("weather"), description="Tells it.", parameters=OBJECT)),
        (
            native_tool("A_9" + "x" * 61, parameters=FULL),
            ToolSpec(ToolName("A_9" + "x" * 61), description="Tells it.", parameters=FULL),
        ),
        (
            native_tool(parameters={"type": "object"}, strict=False) | {"strict": None},
            ToolSpec(ToolName("weather"), description="Tells it.", parameters={"type": "object"}),
        ),
    ],
)
def test_what_can_be_declared(declared, spec):
    """N01."""
    assert native(tools=[declared]).request.tools == [spec]


@table(
    ("declared", "place"),
    [
        (5, ""),
        ({}, ".type"),
        ({"type": "web_search"}, ".type"),
        ({"type": "custom", "custom": {"name": "c"}}, ".type"),
        ({"type": "function"}, ".function"),
        ({"type": "function", "name": "weather", "description": "d", "parameters": OBJECT}, ".function"),
        ({"type": "function", "function": "f"}, ".function"),
        (native_tool(None), ".function.name"),
        (native_tool(""), ".function.name"),
        (native_tool("a-b"), ".function.name"),
        (native_tool("a b"), ".function.name"),
        (native_tool("x" * 65), ".function.name"),
        (native_tool("a\n"), ".function.name"),
        (native_tool("ü"), ".function.name"),
        (native_tool("１"), ".function.name"),
        (native_tool(description=None), ".function.description"),
        (native_tool(description=""), ".function.description"),
        (native_tool(description=" \n"), ".function.description"),
        (native_tool(description=5), ".function.description"),
        (native_tool(parameters=None), ".function.parameters"),
        (native_tool(parameters="x"), ".function.parameters"),
        (native_tool(parameters={}), ".function.parameters.type"),
        (native_tool(parameters={"type": "array"}), ".function.parameters.type"),
        (native_tool(parameters={"type": ["object"]}), ".function.parameters.type"),
        (native_tool(parameters=FULL | {"properties": []}), ".function.parameters.properties"),
        (native_tool(parameters=FULL | {"properties": None}), ".function.parameters.properties"),
        (native_tool(parameters=FULL | {"required": "city"}), ".function.parameters.required"),
        (native_tool(parameters=FULL | {"required": True}), ".function.parameters.required"),
        (native_tool(parameters=FULL | {"required": None}), ".function.parameters.required"),
        (native_tool(parameters=FULL | {"required": [5]}), ".function.parameters.required[0]"),
        (native_tool(parameters=FULL | {"properties": {"x": 5}}), ".function.parameters.properties.x"),
    ],
)
def test_a_tool_that_breaks_a_rule_is_refused_where_it_does(declared, place):
    """N01: name, description, schema."""
    fault = native_refused(tools=[native_tool("first"), declared])
    assert fault.param == f"tools[1]{place}"
    assert f"tools[1]{place}" in fault.message


def test_names_are_unique():
    assert native_refused(tools=[native_tool(), native_tool()]).param == "tools[1].function.name"


@table(
    ("fields", "param"),
    [
        ({"strict": True}, "strict"),
        ({"tools": [native_tool(strict=True)]}, "tools[0].function.strict"),
        ({"tools": [native_tool() | {"strict": True}]}, "tools[0].strict"),
    ],
)
def test_strict_is_refused_with_its_replacement(fields, param):
    """N02."""
    fault = native_refused(**fields)
    assert (fault.param, fault.code) == (param, "unsupported_value")
    assert "request_options.validate_tool_arguments" in fault.message


@table("tools", [None, []])
def test_no_tools(tools):
    """P04."""
    assert native(tools=tools).request.tools == []
