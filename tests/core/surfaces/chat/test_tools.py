"""C03, C04: tools in a chat's request, the choice among them, and both in the form before there were tools."""

from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, ToolChoice, ToolKind, ToolName, ToolSpec
from proxy.core.surfaces.reading.tools import MAX_TOOLS
from tests.support.chat_asks import OBJECT, chat, refused, tool
from tests.support.responses_asks import Notes
from tests.support.tables import table

CLOSED = OBJECT | {"additionalProperties": False}
STRICT = tool(parameters=CLOSED, strict=True)
GRAMMAR = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}}
PATCH = {"type": "custom", "custom": {"name": "patch", "format": GRAMMAR}}
SEARCH = {"type": "web_search_preview"}
FUNCTION = {"name": "weather", "parameters": OBJECT}


def only(*names):
    return frozenset(map(ToolName, names))


@table(
    ("declared", "spec"),
    [
        (tool(), ToolSpec(ToolName("weather"), parameters=OBJECT)),
        (
            tool("a-b_" + "9" * 60, description="d", strict=False),
            ToolSpec(ToolName("a-b_" + "9" * 60), description="d", parameters=OBJECT, strict=False),
        ),
        (STRICT, ToolSpec(ToolName("weather"), parameters=CLOSED, strict=True)),
        (tool(parameters=None), ToolSpec(ToolName("weather"))),
        (tool(parameters={"type": "object"}), ToolSpec(ToolName("weather"), parameters={"type": "object"})),
        ({"type": "function", **FUNCTION}, ToolSpec(ToolName("weather"), parameters=OBJECT)),
        (PATCH, ToolSpec(ToolName("patch"), ToolKind.CUSTOM, grammar=GRAMMAR)),
    ],
)
def test_what_can_be_declared(declared, spec):
    """C03; a function without parameters takes none."""
    assert chat(tools=[declared]).request.tools == [spec]


@table(
    ("declared", "place"),
    [
        (5, ""),
        ({}, ".type"),
        (tool() | {"type": "Function"}, ".type"),
        (tool() | {"type": ""}, ".type"),
        ({"type": "function"}, ".function"),
        ({"type": "function", "function": None}, ".function"),
        ({"type": "function", "function": "f"}, ".function"),
        ({"type": "function", "function": {}}, ".function.name"),
        (tool(""), ".function.name"),
        (tool("x" * 65), ".function.name"),
        (tool("a b"), ".function.name"),
        (tool("ü"), ".function.name"),
        (tool("１"), ".function.name"),
        (tool("a\n"), ".function.name"),
        (tool(description=5), ".function.description"),
        (tool(strict="yes"), ".function.strict"),
        (tool(parameters="x"), ".function.parameters"),
        (tool(parameters={"type": "array"}), ".function.parameters.type"),
        (tool(parameters={}), ".function.parameters.type"),
        (tool(parameters={"properties": {}}), ".function.parameters.type"),
        (tool(parameters={"type": ["object", "null"]}), ".function.parameters.type"),
        (
            tool(parameters={"type": "object", "properties": {"x": {"type": 5}}}),
            ".function.parameters.properties.x.type",
        ),
        (tool(strict=True), ".function.parameters.additionalProperties"),
        (tool(parameters=None, strict=True), ".function.parameters.additionalProperties"),
        ({"type": "custom", "custom": {}}, ".custom.name"),
    ],
)
def test_a_tool_that_breaks_a_rule_is_refused_where_it_does(declared, place):
    """C03."""
    fault = refused(tools=[tool("first"), declared])
    assert fault.param == f"tools[1]{place}"


def test_names_are_unique():
    """C03."""
    assert refused(tools=[tool(), tool()]).param == "tools[1].function.name"


@table("tools", [None, []])
def test_no_tools(tools):
    """P04: empty and null are both no tool calling."""
    asked = chat(tools=tools)
    assert asked == chat()
    assert asked.request.tools == []


def test_hosted_tools_are_left_out_with_one_line():
    """C05, R10: what another API's server would run, declared as a tool or asked for by a field of its own."""
    notes = Notes()
    ledger = Ledger(notes)
    asked = chat(ledger, tools=[tool(), SEARCH], web_search_options={})
    assert [spec.tool.name for spec in asked.request.tools] == ["weather"]
    assert notes.lines == [
        ("info", "hosted_tools_dropped", {"types": ["web_search_options", "web_search_preview"]})
    ]
    assert ledger.dropped == {"hosted_tool": 2}


@table(
    ("wish", "tools", "allowed"),
    [
        (None, [tool()], True),
        (True, [tool()], True),
        (False, [tool()], False),
        (None, [STRICT], True),
        (True, [STRICT], True),
        (False, [STRICT], False),
        (True, [tool(strict=False)], True),
        (None, [], True),
    ],
)
def test_parallel_calls(wish, tools, allowed):
    """C03, V04: whether strict tools are called alone is for admission to say, which knows the tenant's mode."""
    request = chat(tools=tools, parallel_tool_calls=wish).request
    assert request.parallel_calls is allowed
    assert request.parallel_wanted is bool(wish)
    assert request.strict_alone is (STRICT in tools)


@table(
    ("choice", "expected"),
    [
        (None, ToolChoice()),
        ("auto", ToolChoice()),
        ("none", ToolChoice(ChoiceMode.NONE)),
        ("required", ToolChoice(ChoiceMode.REQUIRED)),
        (
            {"type": "function", "function": {"name": "weather"}},
            ToolChoice(ChoiceMode.REQUIRED, only("weather")),
        ),
        ({"type": "custom", "custom": {"name": "patch"}}, ToolChoice(ChoiceMode.REQUIRED, only("patch"))),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [tool(), PATCH]}},
            ToolChoice(ChoiceMode.AUTO, only("weather", "patch")),
        ),
    ],
)
def test_every_form_of_a_choice(choice, expected):
    """C04."""
    assert chat(tools=[tool(), PATCH], tool_choice=choice).request.choice == expected


@table(
    ("fields", "param"),
    [
        (
            {"tools": [tool()], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "tool_choice.function.name",
        ),
        ({"tools": [tool()], "tool_choice": {"type": "function"}}, "tool_choice.function"),
        ({"tools": [tool()], "tool_choice": {"type": "function", "function": "x"}}, "tool_choice.function"),
        ({"tools": [tool()], "tool_choice": {"type": "function", "name": "x"}}, "tool_choice.name"),
        ({"tools": [PATCH], "tool_choice": {"type": "custom"}}, "tool_choice.custom"),
        ({"tools": [tool()], "tool_choice": {"type": "allowed_tools"}}, "tool_choice.allowed_tools"),
        ({"tools": [{"type": "custom"}]}, "tools[0].custom"),
        ({"tools": [tool()], "tool_choice": "any"}, "tool_choice"),
        ({"tools": [tool()], "tool_choice": {"type": "any"}}, "tool_choice.type"),
        ({"tools": [tool()], "tool_choice": {"type": "tool", "name": "weather"}}, "tool_choice.type"),
        ({"tools": [tool()], "tool_choice": SEARCH}, "tool_choice.type"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice.function.name"),
        ({"tools": [tool()] * 1, "tool_choice": 5}, "tool_choice"),
        ({"tools": [SEARCH] * (MAX_TOOLS + 1)}, "tools"),
    ],
)
def test_a_choice_names_what_exists(fields, param):
    """C04."""
    assert refused(**fields).param == param


def test_the_choice_of_a_hosted_tool_that_was_left_out_is_left_to_the_model():
    """C05, R10: it was declared, so the request is not wrong."""
    ledger = Ledger()
    assert chat(ledger, tools=[tool(), SEARCH], tool_choice=SEARCH).request.choice == ToolChoice()
    assert ledger.dropped["tool_choice"] == 1


# ── before there were tools ──


def test_functions_are_tools():
    """Only that an answer has one place for a call, and so they are called one at a time."""
    asked = chat(functions=[FUNCTION, {"name": "clock", "type": "x"}])
    assert asked.legacy_functions is True
    assert asked.request.tools == [
        ToolSpec(ToolName("weather"), parameters=OBJECT),
        ToolSpec(ToolName("clock")),
    ]
    assert asked.request.parallel_calls is False
    assert chat(tools=[tool()]).legacy_functions is False


@table(
    ("fields", "expected"),
    [
        ({"function_call": "auto"}, ToolChoice()),
        ({"function_call": "none"}, ToolChoice(ChoiceMode.NONE)),
        ({"function_call": {"name": "weather"}}, ToolChoice(ChoiceMode.REQUIRED, only("weather"))),
        ({"tool_choice": "required"}, ToolChoice(ChoiceMode.REQUIRED)),
        ({}, ToolChoice()),
    ],
)
def test_a_choice_among_functions(fields, expected):
    assert chat(functions=[FUNCTION], **fields).request.choice == expected


@table("word", ["auto", "none"])
def test_a_word_about_functions_needs_none(word):
    assert chat(function_call=word).request.choice.mode == word


@table(
    ("fields", "param"),
    [
        ({"functions": [5]}, "functions[0]"),
        ({"functions": [{}]}, "functions[0].name"),
        ({"functions": [{"name": "a b"}]}, "functions[0].name"),
        ({"functions": [FUNCTION, FUNCTION]}, "functions[1].name"),
        ({"functions": [{"name": "f", "parameters": {"type": "array"}}]}, "functions[0].parameters.type"),
        ({"functions": [FUNCTION], "function_call": "required"}, "function_call"),
        ({"functions": [FUNCTION], "function_call": 5}, "function_call"),
        ({"functions": [FUNCTION], "function_call": {}}, "function_call.name"),
        ({"functions": [FUNCTION], "function_call": {"name": "x"}}, "function_call.name"),
        ({"function_call": {"name": "x"}}, "function_call.name"),
        ({"functions": {}}, "functions"),
    ],
)
def test_functions_have_the_same_rules(fields, param):
    """C03, C04."""
    assert refused(**fields).param == param


@table(
    ("fields", "param", "instead"),
    [
        ({"functions": [FUNCTION], "tools": [tool()]}, "functions", "as tools"),
        ({"function_call": "auto", "tools": [tool()]}, "function_call", "tool_choice"),
    ],
)
def test_what_cannot_be_translated_exactly_names_its_replacement(fields, param, instead):
    fault = refused(**fields)
    assert (fault.param, fault.code) == (param, "unsupported_value")
    assert instead in fault.message
