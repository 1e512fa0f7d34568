"""R01, R10, S22: what is declared, what is left out, and what is refused, on every surface alike."""

from copy import deepcopy
from dataclasses import replace

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.profile import DEFAULT
from proxy.core.surfaces.chat.decode import decode as chat_decode
from proxy.core.surfaces.reading import tools as reading_tools
from proxy.core.surfaces.responses.decode import decode
from proxy.core.surfaces.responses.echo import echoed
from proxy.core.tools.prepare import prepare
from tests.support.responses_asks import OBJECT, SEARCH, Notes, ask, refused, user
from tests.support.tables import table

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}


@table(
    ("tool", "spec"),
    [
        ({"type": "function", "name": "f"}, ToolSpec(ToolName("f"))),
        (
            {"type": "function", "name": "f", "description": "d", "parameters": OBJECT, "strict": True},
            ToolSpec(ToolName("f"), description="d", parameters=OBJECT, strict=True),
        ),
        (
            {"type": "function", "name": "f", "description": None, "parameters": None, "strict": None},
            ToolSpec(ToolName("f")),
        ),
        (
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": OBJECT}},
            ToolSpec(ToolName("f"), description="d", parameters=OBJECT),
        ),
        ({"type": "function", "name": "x" * 64}, ToolSpec(ToolName("x" * 64))),
        ({"type": "custom", "name": "c"}, ToolSpec(ToolName("c"), ToolKind.CUSTOM)),
        (
            {"type": "custom", "name": "c", "description": "d", "format": GRAMMAR},
            ToolSpec(ToolName("c"), ToolKind.CUSTOM, "d", grammar=GRAMMAR),
        ),
        (
            {"type": "custom", "custom": {"name": "c", "format": None}},
            ToolSpec(ToolName("c"), ToolKind.CUSTOM),
        ),
    ],
)
def test_flat_and_nested_forms(tool, spec):
    """R01: the Responses form, and Chat's, which people bring along."""
    assert ask(tools=[tool]).tools == [spec]


def test_the_tools_of_a_namespace_are_declared_one_by_one():
    """Two namespaces may hold the same inner name, and it is neither the plain tool of that name."""
    namespaces = [
        {"type": "namespace", "name": name, "description": "", "tools": [{"type": kind, "name": "run"}]}
        for name, kind in (("one", "function"), ("two", "custom"))
    ]
    tools = ask(tools=[*namespaces, {"type": "function", "name": "run"}]).tools
    assert [(spec.tool, spec.kind) for spec in tools] == [
        (ToolName("run", "one"), ToolKind.FUNCTION),
        (ToolName("run", "two"), ToolKind.CUSTOM),
        (ToolName("run"), ToolKind.FUNCTION),
    ]


def test_hosted_tools_are_left_out_with_one_line():
    """R10: an agent's fixed tool list must work, whatever of it only another server can run."""
    notes = Notes()
    ledger = Ledger(notes)
    inner = {
        "type": "namespace",
        "name": "n",
        "tools": [SEARCH, {"type": "namespace", "name": "deep", "tools": []}],
    }
    hosted = [SEARCH, {"type": "file_search", "vector_store_ids": ["v"]}, inner, {"type": "z" * 500}]
    assert ask(ledger, tools=[*hosted, {"type": "function", "name": "f"}]).tools == [ToolSpec(ToolName("f"))]
    assert ledger.dropped == {"hosted_tool": 5}
    [(level, event, fields)] = notes.lines
    assert (level, event) == ("info", "hosted_tools_dropped")
    assert fields["types"] == ["*", "file_search", "namespace", "web_search"]


@table("tools", [None, []])
def test_no_tools(tools):
    """P04: empty and null are both no tool calling, and no line in the log."""
    notes = Notes()
    assert ask(Ledger(notes), tools=tools).tools == []
    assert notes.lines == []


@table(
    ("tool", "param"),
    [
        (5, ""),
        (None, ""),
        ({}, ".type"),
        ({"name": "f"}, ".type"),
        ({"type": 5, "name": "f"}, ".type"),
        ({"type": "function"}, ".name"),
        ({"type": "function", "name": None}, ".name"),
        ({"type": "function", "name": 5}, ".name"),
        ({"type": "function", "name": ""}, ".name"),
        ({"type": "function", "name": "x" * 65}, ".name"),
        ({"type": "function", "name": "a b"}, ".name"),
        ({"type": "function", "name": "a.b"}, ".name"),
        ({"type": "function", "name": "a\n"}, ".name"),
        ({"type": "function", "name": "ü"}, ".name"),
        ({"type": "function", "function": {}}, ".function.name"),
        ({"type": "function", "function": {"name": "a b"}}, ".function.name"),
        ({"type": "function", "name": "f", "description": 5}, ".description"),
        ({"type": "function", "name": "f", "strict": "yes"}, ".strict"),
        ({"type": "function", "name": "f", "strict": 1}, ".strict"),
        ({"type": "function", "name": "f", "parameters": 5}, ".parameters"),
        ({"type": "function", "name": "f", "parameters": {"type": "array"}}, ".parameters.type"),
        ({"type": "function", "function": {"name": "f", "parameters": "x"}}, ".function.parameters"),
        ({"type": "custom"}, ".name"),
        ({"type": "custom", "name": "a b"}, ".name"),
        ({"type": "custom", "name": "c", "format": "lark"}, ".format"),
        ({"type": "custom", "name": "c", "description": []}, ".description"),
        ({"type": "namespace", "tools": []}, ".name"),
        ({"type": "namespace", "name": "a.b", "tools": []}, ".name"),
        ({"type": "namespace", "name": "n"}, ".tools"),
        ({"type": "namespace", "name": "n", "tools": [{"type": "function", "name": ""}]}, ".tools[0].name"),
    ],
)
def test_a_tool_that_cannot_be_read_is_refused_where_it_is_wrong(tool, param):
    """F72, S22: names are what everything later hangs on."""
    fault = refused(tools=[SEARCH, tool])
    assert fault.param == f"tools[1]{param}"
    assert fault.status == 400


@table(
    ("second", "param"),
    [
        ({"type": "function", "name": "f"}, "tools[1].name"),
        ({"type": "function", "function": {"name": "f"}}, "tools[1].function.name"),
        ({"type": "custom", "name": "f"}, "tools[1].name"),
    ],
)
def test_a_name_declared_twice_is_refused(second, param):
    """S22: a call could not be given back to the right one."""
    fault = refused(tools=[{"type": "function", "name": "f"}, second])
    assert (fault.param, fault.code) == (param, "invalid_value")


def test_a_later_list_may_declare_a_tool_anew():
    """Codex: each search finds the same tools again."""
    found = {"type": "tool_search_output", "tools": [{"type": "function", "name": "f", "description": "new"}]}
    tools = ask(input=[found, found, user("x")], tools=[{"type": "function", "name": "f"}]).tools
    assert tools == [ToolSpec(ToolName("f"), description="new")]
    again = [found] * (reading_tools.MAX_TOOLS + 1)
    assert ask(input=[*again, user("x")]).tools == tools


@table("tools", ["f", {}, 5])
def test_tools_are_a_list(tools):
    """F72."""
    fault = refused(tools=tools)
    assert (fault.param, fault.code) == ("tools", "invalid_type")


def test_the_declarations_of_a_request_are_limited():
    """S19: hosted ones count too, or they would be a way around."""
    assert refused(tools=[SEARCH] * (reading_tools.MAX_TOOLS + 1)).code == "array_above_max_length"
    spread = [{"type": "namespace", "name": "n", "tools": [SEARCH] * reading_tools.MAX_TOOLS}]
    assert refused(tools=spread).param == "tools[0].tools"
    assert ask(tools=[SEARCH] * reading_tools.MAX_TOOLS).tools == []
    found = {"type": "tool_search_output", "tools": [{"type": "function", "name": "another"}]}
    assert (
        refused(tools=[SEARCH] * reading_tools.MAX_TOOLS, input=[found, user("x")]).param == "input[0].tools"
    )


@table("word", ["input_schema", "inputSchema"])
def test_parameters_under_another_apis_name_are_not_lost(word):
    """Without them the tool would have none, and the model would call it so."""
    fault = refused(tools=[{"type": "function", "name": "f", word: OBJECT}])
    assert (fault.param, fault.code) == ("tools[0].parameters", "missing_required_parameter")
    assert word in fault.message


def test_a_tool_that_says_its_parameters_twice_has_them():
    tool = {"type": "function", "name": "f", "parameters": OBJECT, "input_schema": OBJECT}
    assert ask(tools=[tool]).tools[0].parameters == OBJECT


def test_the_parameters_are_written_once_for_all_that_is_remembered_of_them():
    """Another schema in the tool's place is written anew."""
    (spec,) = ask(tools=[{"type": "function", "name": "f", "parameters": OBJECT}]).tools
    assert spec.written == jsontext.dumps(OBJECT)
    assert replace(spec, parameters={"type": "object", "title": "other"}).written is None


# ── the same tools again ──

LOOSE = {"type": "object", "properties": {"x": {"default": 1}}, "required": []}


def told(tools):
    """What a client is told of its tools, the JSON of its echo, and what the log has."""
    body, ledger = {"model": "m", "input": "Hi", "tools": tools}, Ledger()
    request = decode(body, ledger)
    return request.tools, jsontext.dumps(echoed(body, declared=request.tools)["tools"]), ledger.dropped


def test_the_same_tools_are_read_once_and_what_is_left_out_is_told_each_time():
    tools = [{"type": "function", "name": "seen", "parameters": LOOSE, "defer_loading": True}, SEARCH]
    first, again = told(tools), told(deepcopy(tools))
    assert first[0] is again[0]
    assert first == again
    assert again[2] == {"hosted_tool": 1, "defer_loading": 1}


@table(
    "other",
    [
        {"type": "object", "properties": {"x": {"default": 1.0}}, "required": []},
        {"type": "object", "properties": {"x": {"default": True}}, "required": []},
        {"type": "object", "required": [], "properties": {"x": {"default": 1}}},
    ],
)
def test_tools_that_python_takes_for_the_same_are_others(other):
    for parameters in LOOSE, other:
        (spec,), echo, _ = told([{"type": "function", "name": "f", "parameters": parameters}])
        assert repr(spec.parameters) == repr(parameters)
        assert jsontext.dumps(parameters) in echo


def test_the_same_tools_are_read_anew_where_something_else_is_to_be_made_of_them():
    chat = {"model": "m", "messages": [user("x")], "tools": [{"type": "function", "function": {"name": "f"}}]}
    (nested,), (flat,) = chat_decode(chat, Ledger()).request.tools, ask(tools=chat["tools"]).tools
    (found,) = ask(input=[user("x"), {"type": "additional_tools", "tools": chat["tools"]}]).tools
    assert [spec.path for spec in (nested, flat, found)] == [
        "tools[0].function",
        "tools[0].function",
        "input[1].tools[0].function",
    ]
    kept = [
        decode(chat | {"input": "x", "tools": [SEARCH]}, Ledger(), run=run)
        for run in (tuple, lambda: {"web_search"})
    ]
    assert [request.hosted is None for request in kept] == [True, False]


def test_what_is_found_of_several_lists_is_not_what_is_found_of_one():
    def named(request):
        prepared = prepare(request, DEFAULT, Ledger())
        return [tool.name for tool in prepared.tools]

    lists = [[{"type": "function", "name": name}] for name in "ab"]
    found = {"type": "tool_search_output", "tools": lists[1]}
    assert named(ask(tools=lists[0])) == ["a"]
    assert named(ask(tools=lists[0], input=[found, user("x")])) == ["a", "b"]
    assert named(ask(tools=lists[1], input=[{**found, "tools": lists[0]}, user("x")])) == ["b", "a"]


def test_a_list_that_is_wrong_is_refused_each_time():
    for _ in range(2):
        assert refused(tools=[{"type": "function", "name": "no name"}]).param == "tools[0].name"
