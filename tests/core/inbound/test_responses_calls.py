"""codex.md 6 and 7: the items in which each kind of call comes back, with every member that Codex insists on."""

from typing import Any

from proxy.core.inbound.responses_calls import FORMS, call_item
from proxy.core.model import Call, ToolKind, ToolName
from tests.tables import table


def item(kind: ToolKind, arguments: str, name: str = "t", namespace: str | None = None) -> dict[str, Any]:
    call = Call("a", ToolName(name, namespace), kind, arguments)
    return call_item("x_1", call, "completed", call.arguments)


def test_there_is_a_row_for_every_kind() -> None:
    assert set(FORMS) == set(ToolKind)


def test_a_custom_call_has_an_input_and_no_arguments() -> None:
    assert item(ToolKind.CUSTOM, "*** Begin", "apply_patch") == {
        "id": "x_1",
        "type": "custom_tool_call",
        "status": "completed",
        "call_id": "a",
        "name": "apply_patch",
        "input": "*** Begin",
    }


@table("kind", [ToolKind.FUNCTION, ToolKind.CUSTOM])
def test_a_call_to_a_tool_in_a_namespace_says_so_and_no_other_does(kind: ToolKind) -> None:
    assert item(kind, "", "f", "n")["namespace"] == "n"
    assert "namespace" not in item(kind, "", "f")


@table(
    ("arguments", "told"),
    [('{"query":"x","limit":3}', {"query": "x", "limit": 3}), ("", {}), ("[1]", {}), ('{"query":"x', {})],
)
def test_a_search_for_tools_has_an_object_whatever_the_model_wrote(arguments: str, told: object) -> None:
    assert item(ToolKind.TOOL_SEARCH, arguments) == {
        "id": "x_1",
        "type": "tool_search_call",
        "status": "completed",
        "call_id": "a",
        "execution": "client",
        "arguments": told,
    }


@table(
    ("arguments", "action"),
    [
        ('{"command":["ls",1]}', {"env": {}, "command": ["ls", "1"]}),
        (
            '{"command":["ls"],"working_directory":"/x"}',
            {"env": {}, "command": ["ls"], "working_directory": "/x"},
        ),
        ('{"command":5,"env":{"A":"b"},"type":"run"}', {"env": {"A": "b"}, "command": []}),
        ("nonsense", {"env": {}, "command": []}),
    ],
)
def test_a_shell_call_has_an_action_with_a_command(arguments: str, action: dict[str, Any]) -> None:
    shell = item(ToolKind.LOCAL_SHELL, arguments)
    assert (shell["type"], shell["call_id"]) == ("local_shell_call", "a")
    assert shell["action"] == action | {"type": "exec"}
    assert "name" not in shell
