"""R10, R14: the tools that only the Responses surface knows."""

from proxy.core.ledger import Ledger
from proxy.core.model import ToolKind, ToolName, ToolSpec
from tests.support.responses_asks import OBJECT, ask
from tests.support.tables import table


def test_tools_that_are_declared_by_their_type_alone():
    search = {"type": "tool_search", "execution": "client", "description": "Finds.", "parameters": OBJECT}
    others = [{"type": "local_shell"}, {"type": "shell"}, {"type": "apply_patch"}]
    assert ask(tools=[search, *others]).tools == [
        ToolSpec(ToolName("tool_search"), ToolKind.TOOL_SEARCH, "Finds.", OBJECT),
        ToolSpec(ToolName("local_shell"), ToolKind.LOCAL_SHELL),
        ToolSpec(ToolName("shell"), ToolKind.SHELL),
        ToolSpec(ToolName("apply_patch"), ToolKind.APPLY_PATCH),
    ]


@table("environment", [None, {}, {"type": "local"}, {"type": "local", "skills": []}])
def test_a_shell_on_the_clients_own_machine_is_the_clients(environment):
    assert ask(tools=[{"type": "shell", "environment": environment}]).tools


@table(
    "tool",
    [
        {"type": "tool_search"},
        {"type": "shell", "environment": {"type": "container_auto"}},
        {"type": "shell", "environment": {"type": "container_reference", "container_id": "c"}},
    ],
)
def test_what_a_server_would_run_is_left_out(tool):
    ledger = Ledger()
    assert ask(ledger, tools=[tool]).tools == []
    assert ledger.dropped == {"hosted_tool": 1}


def test_tools_that_are_to_be_found_are_declared_and_counted():
    """The model is told of all at once. How a server of its own is asked is another matter."""
    ledger = Ledger()
    late = {"type": "function", "name": "f", "defer_loading": True}
    space = {"type": "namespace", "name": "n", "tools": [late, late | {"name": "g", "defer_loading": False}]}
    server = {"type": "mcp", "server_label": "s", "defer_loading": True}
    declared = ask(ledger, tools=[late, space, server]).tools
    assert [spec.tool for spec in declared] == [ToolName("f"), ToolName("f", "n"), ToolName("g", "n")]
    assert ledger.dropped == {"defer_loading": 2, "hosted_tool": 1}


def test_tools_after_whose_call_the_model_is_to_go_on_are_counted():
    """Backends end the turn of the model at a call."""
    ledger = Ledger()
    async_tools = [{"type": kind, "name": kind, "async": True} for kind in ("function", "custom")]
    ask(ledger, tools=[*async_tools, {"type": "function", "name": "f", "async": False}])
    assert ledger.dropped == {"async": 2}
