"""R10, R14: the tools that only the Responses surface knows."""

from proxy.core.ledger import Ledger
from proxy.core.model import ToolKind, ToolName, ToolSpec
from tests.core.inbound.asks import OBJECT, ask


def test_tools_that_are_declared_by_their_type_alone():
    search = {"type": "tool_search", "execution": "client", "description": "Finds.", "parameters": OBJECT}
    assert ask(tools=[search, {"type": "local_shell"}]).tools == [
        ToolSpec(ToolName("tool_search"), ToolKind.TOOL_SEARCH, "Finds.", OBJECT),
        ToolSpec(ToolName("local_shell"), ToolKind.LOCAL_SHELL),
    ]


def test_a_search_that_a_server_would_make_is_left_out():
    ledger = Ledger()
    assert ask(ledger, tools=[{"type": "tool_search"}]).tools == []
    assert ledger.dropped == {"hosted_tool": 1}
