"""Calls and results that are no functions, as they are, and where they must be told as functions after all."""

from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.model import Call, Image, Result, ToolKind, ToolName
from tests.support.chat_requests import assistant, call, result, tool, user
from tests.support.responses_requests import Json, items_of, openai, tool_spec
from tests.support.tables import table

LINK = Image("https://x.example/a.png")
NATIVE = openai(
    native_tools=frozenset({"custom", "apply_patch", "shell", "local_shell", "namespace", "allowed_tools"})
)
PATCH = '{"type":"update_file","path":"a","diff":"@@"}'
PRINTED = {"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}
EXITED = {"type": "exit", "exit_code": 0}


@table(
    ("made", "given", "asked", "answered"),
    [
        (
            call("c1", "sh", "ls", ToolKind.CUSTOM),
            result("c1", "ok"),
            {"type": "custom_tool_call", "call_id": "c1", "name": "sh", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
        ),
        (
            call("c1", "apply_patch", PATCH, ToolKind.APPLY_PATCH),
            Result("c1", ["No such file."], is_error=True),
            {
                "type": "apply_patch_call",
                "call_id": "c1",
                "operation": {"type": "update_file", "path": "a", "diff": "@@"},
                "status": "completed",
            },
            {
                "type": "apply_patch_call_output",
                "call_id": "c1",
                "status": "failed",
                "output": "No such file.",
            },
        ),
        (
            call("c1", "shell", '{"commands":["ls"],"timeout_ms":5,"max_output_length":"x"}', ToolKind.SHELL),
            Result("c1", ["…"], extras={"responses": {"runs": [PRINTED | {"created_by": "x"}]}}),
            {
                "type": "shell_call",
                "call_id": "c1",
                "action": {"commands": ["ls"], "timeout_ms": 5},
                "status": "completed",
            },
            {"type": "shell_call_output", "call_id": "c1", "output": [PRINTED]},
        ),
        (
            call("c1", "shell", '{"commands":["ls"]}', ToolKind.SHELL),
            result("c1", "a.py", "b.py"),
            {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}, "status": "completed"},
            {
                "type": "shell_call_output",
                "call_id": "c1",
                "output": [{"stdout": "a.py\nb.py", "stderr": "", "outcome": EXITED}],
            },
        ),
        (
            call("c1", "shell", '{"commands":["ls"]}', ToolKind.SHELL),
            Result("c1", [LINK], is_error=True),
            {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}, "status": "completed"},
            {
                "type": "shell_call_output",
                "call_id": "c1",
                "output": [{"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}],
            },
        ),
        (
            call("c1", "local_shell", '{"command":["ls"],"user":"me","x":1}', ToolKind.LOCAL_SHELL),
            result("c1", "a.py"),
            {
                "type": "local_shell_call",
                "call_id": "c1",
                "id": "lsh_1286ad401da45716dfe9529338383a79",
                "action": {"type": "exec", "command": ["ls"], "env": {}, "user": "me"},
                "status": "completed",
            },
            {"type": "local_shell_call_output", "call_id": "c1", "output": "a.py"},
        ),
    ],
)
def test_a_call_that_is_no_function_goes_as_it_is(
    made: Any, given: Result, asked: Json, answered: Json
) -> None:
    items = items_of(user("Hi"), assistant(made), tool(given), on=NATIVE)
    assert items[1:] == [asked, answered]


def test_a_picture_that_a_shell_returned_is_counted() -> None:
    ledger = Ledger()
    made = call("c1", "shell", '{"commands":["ls"]}', ToolKind.SHELL)
    given = Result("c1", ["a", LINK])
    *_, answered = items_of(user("Hi"), assistant(made), tool(given), on=NATIVE, ledger=ledger)
    assert answered["output"][0]["stdout"] == "a"
    assert ledger.dropped == {"tool_output_part": 1}


@table(
    ("kind", "arguments"),
    [
        (ToolKind.SHELL, '{"commands":'),
        (ToolKind.SHELL, "[]"),
        (ToolKind.SHELL, '{"commands":[1]}'),
        (ToolKind.SHELL, '{"commands":"ls"}'),
        (ToolKind.LOCAL_SHELL, "{}"),
        (ToolKind.APPLY_PATCH, '{"type":"move"}'),
    ],
)
def test_a_call_that_has_not_its_kinds_form_is_told_as_a_function(kind: ToolKind, arguments: str) -> None:
    made = call("c1", kind.value, arguments, kind)
    _, asked, answered = items_of(user("Hi"), assistant(made), tool(result("c1", "?")), on=NATIVE)
    assert (asked["type"], answered["type"]) == ("function_call", "function_call_output")


def test_the_call_of_a_tool_whose_name_is_taken_is_that_of_a_function() -> None:
    tools = [tool_spec("sh"), tool_spec("sh", kind=ToolKind.CUSTOM)]
    made = call("c1", "sh", "ls", ToolKind.CUSTOM)
    _, asked, answered = items_of(user("Hi"), assistant(made), tool(result()), on=NATIVE, tools=tools)
    assert (asked["type"], answered["type"]) == ("function_call", "function_call_output")
    assert asked["name"].startswith("sh_")


def test_calls_in_a_namespace() -> None:
    inner = Call("c1", ToolName("find", "docs"), ToolKind.FUNCTION, "{}")
    free = Call("c2", ToolName("run", "docs"), ToolKind.CUSTOM, "ls")
    odd = Call("c3", ToolName("docs__find", "docs"), ToolKind.FUNCTION, "{}")
    _, *asked = items_of(user("Hi"), assistant(inner, free, odd), on=NATIVE)[:4]
    assert [(item["name"], item.get("namespace")) for item in asked] == [
        ("find", "docs"),
        ("run", "docs"),
        ("docs__docs__find", None),
    ]
