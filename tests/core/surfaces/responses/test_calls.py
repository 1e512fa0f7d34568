"""The items in which each kind of call comes back, with every member that Codex insists on."""

from typing import Any

from proxy.core.model import Call, ToolKind, ToolName
from proxy.core.surfaces.responses.calls import FORMS, call_item
from tests.support.tables import table


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


@table(
    ("arguments", "commands", "timeout", "length"),
    [
        ('{"commands":["ls",1]}', ["ls", "1"], None, None),
        ('{"commands":[],"timeout_ms":5.0,"max_output_length":9,"more":1}', [], 5, 9),
        ('{"commands":"ls","timeout_ms":"5","max_output_length":0.5}', [], None, None),
        ('{"commands":["ls"],"timeout_ms":true}', ["ls"], None, None),
        ("", [], None, None),
    ],
)
def test_a_shell_call_has_command_lines_and_both_limits(
    arguments: str, commands: list[str], timeout: int | None, length: int | None
) -> None:
    """openai-agents ends its run over a limit that is no whole number."""
    action = {"commands": commands, "timeout_ms": timeout, "max_output_length": length}
    assert item(ToolKind.SHELL, arguments) == {
        "id": "x_1",
        "type": "shell_call",
        "status": "completed",
        "call_id": "a",
        "action": action,
    }


@table(
    ("arguments", "operation"),
    [
        (
            '{"type":"create_file","path":"a","diff":"+x"}',
            {"type": "create_file", "path": "a", "diff": "+x"},
        ),
        ('{"type":"delete_file","path":"a","diff":"x"}', {"type": "delete_file", "path": "a"}),
        ('{"type":["x"],"path":null}', {"type": "update_file", "path": "", "diff": ""}),
        ("", {"type": "update_file", "path": "", "diff": ""}),
    ],
)
def test_a_patch_has_one_of_the_operations_that_there_are(arguments: str, operation: object) -> None:
    assert item(ToolKind.APPLY_PATCH, arguments)["operation"] == operation
