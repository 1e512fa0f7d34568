"""What tools returned: a string, parts or any JSON, in every form that clients send it in."""

from proxy.core.model import Call, Image, Result, Role, ToolKind, ToolName
from tests.support.responses_asks import call, output, turns
from tests.support.tables import table

TEXT = {"type": "input_text", "text": "x"}


@table(
    ("value", "content"),
    [
        ("sunny", ["sunny"]),
        ("", [""]),
        (None, [""]),
        ([], [""]),
        ([{"type": "hologram"}], ['[{"type":"hologram"}]']),
        ([TEXT, {"type": "hologram"}], ["x"]),
        (
            [TEXT, {"type": "input_image", "image_url": "data:,", "detail": "high"}],
            ["x", Image("data:,", "high")],
        ),
        ([{"type": ["text"]}], ['[{"type":["text"]}]']),
        ([1, "ü"], ['[1,"ü"]']),
        ({"temp": 21}, ['{"temp":21}']),
        (21, ["21"]),
        (False, ["false"]),
    ],
)
def test_outputs(value, content):
    """A string, parts, or whatever JSON the tool returned; never nothing."""
    assert turns(call("a"), output("a", value))[1][1] == [Result("a", content)]


@table(
    ("more", "answer"),
    [
        ({"call_id": "s"}, {"call_id": "s", "type": "local_shell_call_output"}),
        ({"call_id": "s"}, {"id": "s", "type": "local_shell_call_output"}),
        ({"call_id": "s"}, {"call_id": "s", "type": "function_call_output"}),
    ],
)
def test_a_local_shell_call_and_its_result(more, answer):
    action = {"type": "exec", "command": ["ls"], "env": {}, "timeout_ms": 5, "user": None}
    asked, answered = turns(
        {"type": "local_shell_call", "action": action} | more, answer | {"output": "a.py"}
    )
    assert asked[1] == [
        Call("s", ToolName("local_shell"), ToolKind.LOCAL_SHELL, '{"command":["ls"],"timeout_ms":5}')
    ]
    assert answered[1] == [Result("s", ["a.py"])]


@table(
    ("output", "parts"),
    [
        ("<heartbeat>Look.</heartbeat>", ["<heartbeat>Look.</heartbeat>"]),
        ([{"type": "output_text", "text": "Look."}], ["Look."]),
        (
            [{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": "u"}],
            ["Look.", Image("u")],
        ),
    ],
)
def test_what_a_tool_returned_that_nobody_called_is_a_message(output, parts):
    """Codex begins the threads of its automations like this, and each later turn has it again."""
    told = {
        "type": "function_call_output",
        "id": "fco_1",
        "name": "automation_update",
        "namespace": "codex_app",
    }
    assert turns(told | {"output": output}) == [(Role.USER, parts)]
    called = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    answered = {"type": "function_call_output", "call_id": "a", "output": "1"}
    said = turns(called, told | {"output": output}, answered)
    assert [role for role, _ in said] == [Role.ASSISTANT, Role.TOOL, Role.USER]
    assert said[2][1] == parts


def test_a_shell_call_and_what_its_commands_printed():
    action = {"commands": ["ls", "pwd"], "timeout_ms": 5, "max_output_length": None}
    printed = [{"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    asked, answered = turns(
        {"type": "shell_call", "call_id": "s", "action": action},
        {"type": "shell_call_output", "call_id": "s", "output": printed},
    )
    told = '{"commands":["ls","pwd"],"timeout_ms":5}'
    assert asked[1] == [Call("s", ToolName("shell"), ToolKind.SHELL, told)]
    text = '[{"stdout":"a.py","stderr":"","outcome":{"type":"exit","exit_code":0}}]'
    assert answered[1] == [Result("s", [text], extras={"responses": {"runs": printed}})]


@table("output", ["a.py", None, [], [1], [{"stdout": "a.py"}], [{"stdout": "a", "outcome": "exit"}]])
def test_what_was_printed_is_kept_apart_only_in_its_own_form(output):
    call = {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}}
    _, answered = turns(call, {"type": "shell_call_output", "call_id": "s", "output": output})
    assert answered[1][0].extras == {}


@table(
    ("said", "told"),
    [
        ({"status": "completed", "output": "Done."}, Result("p", ["Done."], is_error=False)),
        ({"status": "completed"}, Result("p", ["The patch has completed."], is_error=False)),
        ({"status": "failed", "output": None}, Result("p", ["The patch has failed."], is_error=True)),
        ({"output": ""}, Result("p", ["The patch has completed."], is_error=False)),
    ],
)
def test_a_patch_and_how_it_went(said, told):
    operation = {"type": "delete_file", "path": "a"}
    asked, answered = turns(
        {"type": "apply_patch_call", "call_id": "p", "operation": operation, "status": "completed"},
        {"type": "apply_patch_call_output", "call_id": "p"} | said,
    )
    [call] = asked[1]
    assert (call.tool, call.kind) == (ToolName("apply_patch"), ToolKind.APPLY_PATCH)
    assert call.arguments == '{"type":"delete_file","path":"a"}'
    assert answered[1] == [told]
