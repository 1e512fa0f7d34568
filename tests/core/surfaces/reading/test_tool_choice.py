"""R02: every form of `tool_choice`, and a restriction that is never widened."""

from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, ToolChoice, ToolName
from proxy.core.surfaces.reading import tools as reading_tools
from proxy.core.surfaces.reading.tool_choice import NOT_DEMANDED
from tests.support.responses_asks import CLOCK, SEARCH, WEATHER, ask, refused
from tests.support.tables import table

AUTO, NONE, REQUIRED = ChoiceMode
PATCH = {"type": "custom", "name": "patch"}
TEAM = {"type": "namespace", "name": "team", "tools": [{"type": "function", "name": "hire"}, CLOCK]}
CREW = {"type": "namespace", "name": "crew", "tools": [{"type": "function", "name": "hire"}]}
SHELL = {"type": "local_shell"}
TOOLS = [WEATHER, CLOCK, PATCH, TEAM, CREW, SEARCH, SHELL]
HOSTED_SEARCH = {"type": "tool_search"}


def only(*names):
    return frozenset(ToolName(*name.split("@")) for name in names)


@table(
    ("choice", "expected"),
    [
        (None, ToolChoice(AUTO)),
        ("auto", ToolChoice(AUTO)),
        ("none", ToolChoice(NONE)),
        ("required", ToolChoice(REQUIRED)),
        ({"type": "function", "name": "weather"}, ToolChoice(REQUIRED, only("weather"))),
        ({"type": "function", "function": {"name": "weather"}}, ToolChoice(REQUIRED, only("weather"))),
        ({"type": "custom", "name": "patch"}, ToolChoice(REQUIRED, only("patch"))),
        ({"type": "custom", "custom": {"name": "patch"}}, ToolChoice(REQUIRED, only("patch"))),
        ({"type": "function", "name": "clock"}, ToolChoice(REQUIRED, only("clock"))),
        (
            {"type": "function", "name": "clock", "namespace": "team"},
            ToolChoice(REQUIRED, only("clock@team")),
        ),
        ({"type": "function", "name": "hire"}, ToolChoice(REQUIRED, only("hire@team", "hire@crew"))),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]},
            ToolChoice(AUTO, only("weather")),
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [WEATHER, PATCH, SEARCH]},
            ToolChoice(REQUIRED, only("weather", "patch")),
        ),
        (
            {"type": "allowed_tools", "tools": [{"type": "function", "function": {"name": "clock"}}]},
            ToolChoice(AUTO, only("clock")),
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [WEATHER]}},
            ToolChoice(REQUIRED, only("weather")),
        ),
        ({"type": "none"}, ToolChoice(NONE)),
        (SHELL, ToolChoice(REQUIRED, only("local_shell"))),
        ({"type": "allowed_tools", "tools": [SHELL]}, ToolChoice(AUTO, only("local_shell"))),
    ],
)
def test_every_form_of_a_choice(choice, expected):
    """R02."""
    assert ask(tools=TOOLS, tool_choice=choice).choice == expected


@table("choice", ["auto", "none", None, {"type": "web_search"}])
@table("tools", [None, [], [SEARCH]])
def test_a_choice_that_demands_nothing_needs_no_tools(choice, tools):
    """Codex compacts with `tools: []` and `tool_choice: "auto"`."""
    assert ask(tools=tools, tool_choice=choice).choice.mode in (AUTO, NONE)


def test_a_declared_tool_under_another_apis_type_is_not_left_to_the_model():
    """R02: Anthropic says so of a forced tool, and it was taken for a hosted one."""
    fault = refused(tools=TOOLS, tool_choice={"type": "tool", "name": "weather"})
    assert fault.param == "tool_choice.type"
    assert "'tool'" in fault.message


def test_the_choice_of_a_hosted_tool_is_left_to_the_model():
    """R10: the tool was left out, so it cannot be demanded; that it was is counted, and the client told."""
    ledger = Ledger()
    assert ask(ledger, tools=TOOLS, tool_choice={"type": "web_search"}).choice == ToolChoice()
    assert ledger.dropped["tool_choice"] == 1
    assert ledger.warnings == [NOT_DEMANDED]


def test_a_demand_with_nothing_but_hosted_tools_is_left_to_the_model():
    """The client did declare tools, so the request is not wrong."""
    ledger = Ledger()
    assert ask(ledger, tools=[SEARCH], tool_choice="required").choice == ToolChoice()
    assert ledger.dropped["tool_choice"] == 1
    assert ledger.warnings == [NOT_DEMANDED]


@table("choice", [None, "auto", "none", {"type": "allowed_tools", "tools": [SEARCH, CLOCK]}])
def test_nobody_is_told_of_a_hosted_tool_that_was_not_demanded(choice):
    """Agents declare them in every request."""
    ledger = Ledger()
    ask(ledger, tools=TOOLS, tool_choice=choice)
    assert ledger.warnings == []


def test_where_only_hosted_tools_are_allowed_no_other_may_be_called():
    """A restriction must not be weakened to a hint, still less to its opposite."""
    ledger = Ledger()
    choice = {"type": "allowed_tools", "mode": "required", "tools": [SEARCH]}
    assert ask(ledger, tools=TOOLS, tool_choice=choice).choice == ToolChoice(NONE)
    assert ledger.dropped["tool_choice"] == 1
    assert ledger.warnings == [NOT_DEMANDED]


@table(
    ("choice", "param"),
    [
        (5, "tool_choice"),
        ([], "tool_choice"),
        ("any", "tool_choice"),
        ("weather", "tool_choice"),
        ({}, "tool_choice.type"),
        ({"type": 5}, "tool_choice.type"),
        ({"type": "function"}, "tool_choice.name"),
        ({"type": "function", "name": 5}, "tool_choice.name"),
        ({"type": "function", "function": {}}, "tool_choice.function.name"),
        ({"type": "function", "name": "unheard_of"}, "tool_choice.name"),
        ({"type": "function", "name": "clock", "namespace": "crew"}, "tool_choice.name"),
        ({"type": "function", "name": "clock", "namespace": 5}, "tool_choice.namespace"),
        ({"type": "custom", "name": "unheard_of"}, "tool_choice.name"),
        ({"type": "allowed_tools", "mode": "sometimes", "tools": [WEATHER]}, "tool_choice.mode"),
        ({"type": "allowed_tools", "mode": 5, "tools": [WEATHER]}, "tool_choice.mode"),
        ({"type": "allowed_tools"}, "tool_choice.tools"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": 5}}, "tool_choice.allowed_tools.mode"),
        ({"type": "allowed_tools", "allowed_tools": {"tools": []}}, "tool_choice.allowed_tools.tools[0]"),
        ({"type": "allowed_tools", "tools": []}, "tool_choice.tools[0]"),
        ({"type": "allowed_tools", "tools": ["weather"]}, "tool_choice.tools[0]"),
        ({"type": "allowed_tools", "tools": [{"name": "weather"}]}, "tool_choice.tools[0].type"),
        ({"type": "allowed_tools", "tools": [WEATHER, {"type": "function"}]}, "tool_choice.tools[1].name"),
        (
            {"type": "allowed_tools", "tools": [{"type": "function", "name": "unheard_of"}]},
            "tool_choice.tools[0].name",
        ),
        (
            {"type": "allowed_tools", "tools": [WEATHER] * (reading_tools.MAX_TOOLS + 1)},
            "tool_choice.tools",
        ),
    ],
)
def test_a_choice_that_cannot_be_met_is_refused(choice, param):
    """F72: before anything is sent."""
    fault = refused(tools=TOOLS, tool_choice=choice)
    assert fault.param == param
    assert fault.message.startswith(param)
    assert fault.status == 400


@table(
    ("choice", "param"),
    [("required", "tool_choice"), ({"type": "function", "name": "weather"}, "tool_choice.name")],
)
@table("tools", [None, []])
def test_a_demand_without_any_tools_is_refused(choice, param, tools):
    """Nothing could meet it."""
    assert refused(tools=tools, tool_choice=choice).param == param


def test_a_search_that_a_server_would_make_is_no_choice_either():
    ledger = Ledger()
    assert ask(ledger, tools=[WEATHER, HOSTED_SEARCH], tool_choice=HOSTED_SEARCH).choice == ToolChoice(AUTO)
    allowed = {"type": "allowed_tools", "tools": [HOSTED_SEARCH]}
    assert ask(ledger, tools=[WEATHER, HOSTED_SEARCH], tool_choice=allowed).choice == ToolChoice(NONE)
    assert ledger.dropped["tool_choice"] == 2
