"""Tools that the backend itself runs: kept as they are where it does, with their choice, and left out elsewhere."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, Hosted, HostedItem, Request, ToolChoice, ToolName
from proxy.core.stored.named import Known, Named
from proxy.core.surfaces.responses.decode import decode
from proxy.core.surfaces.responses.echo import echoed
from tests.support.replies import RESPONSES
from tests.support.responses_asks import CLOCK, SEARCH, WEATHER, Notes, user
from tests.support.tables import table
from tests.support.written import as_sent

MCP = {
    "type": "mcp",
    "server_label": "s",
    "server_url": "https://x.example",
    "authorization": "secret",
    "headers": {},
}
RUN = ("web_search", "mcp")
AUTO, NONE, REQUIRED = ChoiceMode


def ask(ledger: Ledger | None = None, run: tuple[str, ...] = RUN, **fields: Any) -> Request:
    return decode({"model": "m", "input": "Hi"} | fields, ledger or Ledger(), run=lambda: run)


def test_they_are_kept_where_they_run() -> None:
    notes = Notes()
    ledger = Ledger(notes)
    sources = "web_search_call.action.sources"
    request = ask(ledger, tools=[CLOCK, SEARCH, MCP, {"type": "file_search"}], include=[sources])
    assert request.hosted == Hosted([SEARCH, MCP], None, [sources])
    assert [spec.tool.name for spec in request.tools] == ["clock"]
    assert ledger.dropped == {"hosted_tool": 1}
    assert notes.lines[-1] == ("info", "hosted_tools_dropped", {"types": ["file_search"]})


def test_elsewhere_they_are_left_out() -> None:
    ledger = Ledger()
    assert ask(ledger, run=(), tools=[SEARCH]).hosted is None
    assert ledger.dropped == {"hosted_tool": 1}
    inside = {"type": "namespace", "name": "n", "tools": [SEARCH]}
    assert ask(tools=[inside]).hosted is None


@table(
    ("choice", "tools", "hosted", "functions"),
    [
        ("auto", [SEARCH], Hosted([SEARCH]), ToolChoice(AUTO)),
        ("none", [SEARCH], None, ToolChoice(NONE)),
        ("required", [SEARCH], Hosted([SEARCH], "required"), ToolChoice(AUTO)),
        ("required", [SEARCH, CLOCK], Hosted([SEARCH]), ToolChoice(REQUIRED)),
        ({"type": "web_search"}, [SEARCH, CLOCK], Hosted([SEARCH], {"type": "web_search"}), ToolChoice(AUTO)),
        ({"type": "mcp"}, [SEARCH], Hosted([SEARCH]), ToolChoice(AUTO)),
        (
            {"type": "function", "name": "clock"},
            [SEARCH, CLOCK],
            Hosted([SEARCH]),
            ToolChoice(REQUIRED, frozenset({ToolName("clock")})),
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "clock"}]},
            [SEARCH, CLOCK, WEATHER],
            None,
            ToolChoice(AUTO, frozenset({ToolName("clock")})),
        ),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "clock"}, {"type": "mcp"}],
            },
            [SEARCH, CLOCK, MCP],
            Hosted([MCP]),
            ToolChoice(REQUIRED, frozenset({ToolName("clock")})),
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
            [SEARCH, CLOCK],
            Hosted([SEARCH], "required"),
            ToolChoice(NONE),
        ),
    ],
)
def test_a_choice_is_never_widened(choice: Any, tools: list[Any], hosted: Any, functions: ToolChoice) -> None:
    request = ask(tools=tools, tool_choice=choice)
    assert request.hosted == hosted
    assert request.choice == functions


def test_what_they_did_and_what_was_answered_is_in_the_history() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    items = [user("Hi"), search, answer]
    spoken = [(str(role), parts) for role, parts in ask(input=items).turns]
    assert spoken == [
        ("user", ["Hi"]),
        ("assistant", [HostedItem(search)]),
        ("user", [HostedItem(answer)]),
    ]
    ledger = Ledger()
    assert len(ask(ledger, run=(), input=items).turns) == 1
    assert ledger.dropped == {"unknown_item": 2}


def test_what_they_did_is_in_a_history_that_a_mere_text_continues() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    surface = replace(RESPONSES, hosted_tools=lambda model: RUN)
    known = Known(Named(previous="resp_1"), jsontext.dumps([user("Hi"), search]))
    asked = surface.read({"model": "m", "input": "And?"}, {}, ledger := Ledger(), known=known)
    assert [part for _, parts in asked.request.turns for part in parts][1:] == [
        HostedItem(search),
        "And?",
    ]
    assert not ledger.dropped


def test_unless_somebody_says_so_nobody_runs_any() -> None:
    RESPONSES.read({"model": "m", "input": "Hi", "tools": [SEARCH]}, {}, ledger := Ledger())
    assert ledger.dropped == {"hosted_tool": 1}
    with pytest.raises(ClientFault, match="must be a JSON object"):
        RESPONSES.read([], {}, ledger)


def test_the_echo_has_them_without_their_secrets() -> None:
    body = {"tools": [CLOCK, SEARCH, MCP, {"type": "file_search"}]}
    told = as_sent(echoed(body, lambda: RUN))["tools"]
    assert [tool["type"] for tool in told] == ["function", "web_search", "mcp"]
    assert told[2] == {"type": "mcp", "server_label": "s", "server_url": "https://x.example"}
    assert [tool["type"] for tool in as_sent(echoed(body))["tools"]] == ["function"]


def test_how_often_they_may_be_called() -> None:
    """Without such a tool there is nothing that it could limit here."""
    ledger = Ledger()
    hosted = ask(ledger, tools=[SEARCH], max_tool_calls=3).hosted
    assert hosted is not None
    assert (hosted.max_calls, ledger.dropped) == (3, {})
    assert ask(ledger, max_tool_calls=3).hosted is None
    assert ledger.dropped == {"max_tool_calls": 1}
