"""What may be called, and how the choice is told."""

from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, Hosted, ToolChoice, ToolKind, ToolName, ToolSpec
from proxy.core.profile import BackendProfile
from tests.support.chat_requests import assistant, call, result, tool, user
from tests.support.responses_requests import OPENAI, body_of, local, openai, tool_spec
from tests.support.tables import table

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
F, G = tool_spec("f", description="Does.", parameters=CITY, strict=True), tool_spec("g")
ONE = frozenset({ToolName("f")})


def test_tools_are_functions_that_say_whether_they_are_strict() -> None:
    """Left out it would mean that they are."""
    assert body_of(tools=[F, G])["tools"] == [
        {"type": "function", "name": "f", "parameters": CITY, "description": "Does.", "strict": True},
        {
            "type": "function",
            "name": "g",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
    ]


def test_a_backend_that_cannot_hold_a_model_to_a_schema() -> None:
    ledger = Ledger()
    body = body_of(tools=[F], on=local(strict_tools=False), ledger=ledger)
    assert body["tools"][0]["strict"] is False
    assert ledger.dropped["strict"] == 1


@table(
    ("choice", "on", "told", "dropped"),
    [
        (ToolChoice(), OPENAI, None, {}),
        (ToolChoice(ChoiceMode.NONE), OPENAI, "none", {}),
        (ToolChoice(ChoiceMode.REQUIRED), OPENAI, "required", {}),
        (ToolChoice(ChoiceMode.REQUIRED, ONE), OPENAI, {"type": "function", "name": "f"}, {}),
        (ToolChoice(ChoiceMode.REQUIRED, ONE), openai(force_tool="required"), "required", {}),
        (ToolChoice(ChoiceMode.REQUIRED), openai(force_tool="auto"), None, {"tool_choice": 1}),
        (ToolChoice(ChoiceMode.AUTO, ONE), OPENAI, None, {}),
    ],
)
def test_the_choice(choice: ToolChoice, on: BackendProfile, told: Any, dropped: dict[str, int]) -> None:
    ledger = Ledger()
    body = body_of(tools=[F, G], choice=choice, on=on, ledger=ledger)
    assert body.get("tool_choice") == told
    assert ledger.dropped == dropped
    left_out = choice.only and not isinstance(told, dict)
    assert len(body["tools"]) == (1 if left_out else 2)


LARK = {"type": "grammar", "syntax": "lark", "definition": "start: X"}
FREE = tool_spec("sh", kind=ToolKind.CUSTOM, description="Runs.", grammar=LARK)
SHELL = tool_spec("shell", kind=ToolKind.SHELL)
LOCAL = tool_spec("local_shell", kind=ToolKind.LOCAL_SHELL)
INNER = ToolSpec(ToolName("find", "docs"), description="Finds.")
INNER_FREE = ToolSpec(ToolName("run", "docs"), ToolKind.CUSTOM)
NATIVE = openai(
    native_tools=frozenset({"custom", "apply_patch", "shell", "local_shell", "namespace", "allowed_tools"})
)


def test_what_is_no_function_is_declared_as_it_is() -> None:
    nested = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a+"}}  # Chat's form
    tools = [FREE, tool_spec("re", kind=ToolKind.CUSTOM, grammar=nested), SHELL, LOCAL]
    assert body_of(tools=tools, on=NATIVE)["tools"] == [
        {"type": "custom", "name": "sh", "description": "Runs.", "format": LARK},
        {
            "type": "custom",
            "name": "re",
            "format": {"type": "grammar", "syntax": "regex", "definition": "a+"},
        },
        {"type": "shell"},
        {"type": "local_shell"},
    ]
    elsewhere = body_of(tools=tools, on=openai(native_tools=frozenset({"shell"})))["tools"]
    assert [tool["type"] for tool in elsewhere] == ["function", "function", "shell", "function"]


def test_a_namespace_is_declared_as_one() -> None:
    spaces = {"docs": "Documents.", "web": ""}
    web = ToolSpec(ToolName("find", "web"))
    body = body_of(tools=[INNER, F, web, INNER_FREE], on=NATIVE, namespaces=spaces)
    inner = {"type": "function", "name": "find", "parameters": {"type": "object", "properties": {}}}
    docs, f, other = body["tools"]
    assert docs == {
        "type": "namespace",
        "name": "docs",
        "description": "Documents.",
        "tools": [inner | {"description": "Finds.", "strict": False}, {"type": "custom", "name": "run"}],
    }
    assert f["name"] == "f"
    assert (other["name"], other["description"], len(other["tools"])) == ("web", "web", 1)


def test_a_tool_whose_own_name_would_not_do_stays_a_function() -> None:
    """Nothing else would have its calls come back to it."""
    doubled = ToolSpec(ToolName("docs__find", "docs"))
    long = ToolSpec(ToolName("f" * 60, "docs"), ToolKind.CUSTOM)
    plain = ToolSpec(ToolName("find", "functions"))
    tools = body_of(tools=[doubled, long, plain], on=NATIVE)["tools"]
    assert [tool["type"] for tool in tools] == ["function"] * 3


@table(
    ("choice", "told", "declared"),
    [
        (
            ToolChoice(ChoiceMode.AUTO, ONE),
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            5,
        ),
        (
            ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("sh"), ToolName("shell")})),
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "custom", "name": "sh"}, {"type": "shell"}],
            },
            5,
        ),
        (ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("shell")})), {"type": "shell"}, 5),
        (ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("sh")})), {"type": "custom", "name": "sh"}, 5),
        (ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("local_shell")})), "required", 1),
        (ToolChoice(ChoiceMode.REQUIRED, frozenset({INNER.tool})), "required", 1),
        (ToolChoice(ChoiceMode.AUTO, frozenset({INNER.tool, ToolName("f")})), None, 2),
        (ToolChoice(ChoiceMode.NONE), "none", 5),
    ],
)
def test_a_choice_among_some_tools(choice: ToolChoice, told: Any, declared: int) -> None:
    """Where it can be told, all tools stay declared: the prompt begins as before."""
    body = body_of(tools=[F, FREE, SHELL, LOCAL, INNER], choice=choice, on=NATIVE)
    assert body.get("tool_choice") == told
    assert len(body["tools"]) == declared


def test_beside_tools_of_the_backends_own_the_others_are_left_out() -> None:
    """The choice would be one against those."""
    search = Hosted([{"type": "web_search"}])
    body = body_of(tools=[F, G], choice=ToolChoice(ChoiceMode.AUTO, ONE), hosted=search, on=NATIVE)
    assert [tool.get("name") for tool in body["tools"]] == ["f", None]
    assert "tool_choice" not in body


@table(
    ("parallel", "wanted", "told", "dropped"),
    [
        ("obey", True, None, {}),
        ("obey", False, False, {}),
        ("false", True, False, {}),
        ("omit", False, None, {"parallel_tool_calls": 1}),
    ],
)
def test_parallel_calls(parallel: Any, wanted: bool, told: Any, dropped: dict[str, int]) -> None:
    ledger = Ledger()
    body = body_of(tools=[G], parallel_calls=wanted, on=openai(parallel=parallel), ledger=ledger)
    assert body.get("parallel_tool_calls") == told
    assert ledger.dropped == dropped


def test_a_history_with_calls_in_a_request_without_tools() -> None:
    history = [user("Hi"), assistant(call()), tool(result("c1", "ok"))]
    assert "tools" not in body_of(*history)
    (declared,) = body_of(*history, on=openai(orphan_tools="declare"))["tools"]
    assert declared["name"] == "_noop"
    assert "tools" not in body_of(on=openai(orphan_tools="declare"))


SEARCH = {"type": "web_search", "filters": {"allowed_domains": ["x.example"]}}


@table(
    ("tools", "hosted", "types", "told", "dropped"),
    [
        ([], Hosted([SEARCH]), ["web_search"], None, {}),
        ([G], Hosted([SEARCH]), ["function", "web_search"], None, {}),
        ([G], Hosted([SEARCH, {"type": "hologram"}]), ["function", "web_search"], None, {"hosted_tool": 1}),
        ([], Hosted([{"type": "hologram"}]), [], None, {"hosted_tool": 1}),
        (
            [G],
            Hosted([SEARCH], {"type": "web_search"}),
            ["function", "web_search"],
            {"type": "web_search"},
            {},
        ),
        ([], Hosted([SEARCH], "required"), ["web_search"], "required", {}),
        ([G], Hosted([{"type": "hologram"}], {"type": "hologram"}), ["function"], None, {"hosted_tool": 1}),
    ],
)
def test_tools_that_the_backend_runs(
    tools: list[Any], hosted: Hosted, types: list[str], told: Any, dropped: dict[str, int]
) -> None:
    ledger = Ledger()
    body = body_of(tools=tools, hosted=hosted, ledger=ledger)
    assert bool(ledger.warnings) is bool(dropped)
    assert [tool["type"] for tool in body.get("tools", ())] == types
    assert body.get("tool_choice") == told
    assert ledger.dropped == dropped
