"""Whatever tools Codex has, the model gets them as functions, and its calls do what they say, on the disk."""

import base64
import sys
from pathlib import Path
from typing import Any

from proxy.core import jsontext
from tests.codex.backend import Model, Request, call, calling, shell
from tests.codex.harness import Codex
from tests.support.sockets import Line, reply, text

PATCH = "*** Begin Patch\n*** Add File: made.txt\n+one\n+two\n*** End Patch\n"
DONE = reply(text("Done."))
KNOWS_PATCHES = "gpt-5.5"
"""A model that Codex offers `apply_patch` as a tool of its own, and hides others behind a search."""
LITE = "gpt-6.1-sol"
"""A model that Codex gives its tools within the conversation."""

MCP_SERVER = f"""
[mcp_servers.probe]
command = "{sys.executable}"
args = ["{Path(__file__).with_name("mcp_server.py")}"]
"""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def last_calls(request: Request) -> list[tuple[str, str]]:
    """The name of each call of the last assistant message, and the output that it was given."""
    messages = request["messages"]
    asked: Any = next(message for message in reversed(messages) if message["role"] == "assistant")
    outputs = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    return [(made["function"]["name"], outputs[made["id"]]) for made in asked["tool_calls"]]


def test_text_is_what_the_model_says(codex: Codex, model: Model) -> None:
    model.plays(reply(text("Hello "), text("there.")))
    run = codex.run("Hello")
    assert (run.status, run.failure, run.said) == (0, None, ["Hello there."])
    assert (run.usage["input_tokens"], run.usage["output_tokens"]) == (3, 5)
    assert len(model.requests) == 1


def test_a_command_is_run_and_its_output_goes_back(codex: Codex, model: Model) -> None:
    model.plays(shell("echo hello > made.txt; cat made.txt"), DONE)
    run = codex.run("Make a file")
    assert run.said == ["Done."]
    assert codex.file("made.txt") == "hello\n"
    assert [item["exit_code"] for item in run.items("command_execution")] == [0]
    [(name, output)] = last_calls(model.requests[1])
    assert name == "exec_command"
    assert "hello" in output
    assert len(model.requests) == 2


def test_parallel_commands_are_all_run(codex: Codex, model: Model) -> None:
    commands = [f"echo {name} | tee {name}.txt" for name in ("one", "two")]
    calls = [call("exec_command", {"cmd": command}, index=i) for i, command in enumerate(commands)]
    model.plays(calling(*calls), DONE)
    run = codex.run("Make two files")
    assert (codex.file("one.txt"), codex.file("two.txt")) == ("one\n", "two\n")
    assert len(run.items("command_execution")) == 2
    outputs = [output for _, output in last_calls(model.requests[1])]
    assert ["one" in outputs[0], "two" in outputs[1]] == [True, True]


def test_a_call_that_leaked_into_the_text_is_run(codex: Codex, model: Model) -> None:
    leaked = '<tool_call>\n{"name": "exec_command", "arguments": {"cmd": "echo x > made.txt"}}\n</tool_call>'
    model.plays(reply(text("I will. "), text(leaked)), DONE)
    run = codex.run("Make a file")
    assert codex.file("made.txt") == "x\n"
    assert not any("tool_call" in said for said in run.said)


def test_a_patch_by_heredoc_changes_the_file(codex: Codex, model: Model) -> None:
    """Codex does not run this command: it knows it, and applies the patch itself."""
    model.plays(shell(f"apply_patch <<'EOF'\n{PATCH}EOF\n"), DONE)
    run = codex.run("Make a file")
    assert codex.file("made.txt") == "one\ntwo\n"
    assert [change["kind"] for item in run.items("file_change") for change in item["changes"]] == ["add"]
    assert not run.items("command_execution")


def test_a_patch_by_custom_tool_changes_the_file(codex: Codex, model: Model) -> None:
    codex.configure(model=KNOWS_PATCHES)
    model.plays(calling(call("apply_patch", {"input": PATCH})), DONE)
    run = codex.run("Make a file")
    assert codex.file("made.txt") == "one\ntwo\n"
    assert len(run.items("file_change")) == 1
    [(name, output)] = last_calls(model.requests[1])
    assert name == "apply_patch"
    assert "Success" in output


def test_the_grammar_of_a_custom_tool_is_told_to_the_model(codex: Codex, model: Model) -> None:
    codex.configure(model=KNOWS_PATCHES)
    model.plays(DONE)
    codex.run("Hello")
    [tool] = [
        tool["function"] for tool in model.requests[0]["tools"] if tool["function"]["name"] == "apply_patch"
    ]
    assert "begin_patch" in tool["description"]
    assert tool["parameters"]["required"] == ["input"]


def test_an_mcp_tool_is_called_within_its_namespace(codex: Codex, model: Model) -> None:
    codex.configure(tables=MCP_SERVER)
    model.plays(calling(call("mcp__probe__note", {"text": "from afar"})), DONE)
    run = codex.run("Take a note")
    assert codex.file("note.txt") == "from afar"
    [called] = run.items("mcp_tool_call")
    assert (called["server"], called["tool"], called["status"]) == ("probe", "note", "completed")
    [(name, output)] = last_calls(model.requests[1])
    assert name == "mcp__probe__note"
    assert "noted" in output


def test_a_sub_agent_asks_the_model_too(codex: Codex, model: Model) -> None:
    """Its requests come when they come, beside those of the agent that waits for it."""
    task = "Be a file maker"
    helper = [shell("echo deep > made.txt"), DONE]
    agent = [calling(call("multi_agent_v1__spawn_agent", {"message": task}))]

    async def play(line: Line, request: Request) -> None:
        told = [message["content"] for message in request["messages"] if message["role"] == "user"]
        results = [message["content"] for message in request["messages"] if message["role"] == "tool"]
        if len(results) == 1 and "agent_id" in results[0]:
            names = [jsontext.loads(results[0])["agent_id"]]
            line.send(calling(call("multi_agent_v1__wait_agent", {"targets": names})))
        else:
            line.send((helper if task in str(told) else [*agent, b"", DONE])[len(results)])

    model.plays(play)
    run = codex.run("Let somebody make a file")
    assert run.said == ["Done."]
    assert codex.file("made.txt") == "deep\n"
    assert [item["tool"] for item in run.items("collab_tool_call")] == ["spawn_agent", "wait"]


def test_tools_that_come_with_the_conversation_are_called(codex: Codex, model: Model) -> None:
    codex.configure(model=LITE)
    script = "const done = await tools.exec_command({cmd: 'echo lite > made.txt'}); text(done)"

    async def play(line: Line, request: Request) -> None:
        [name] = [name for name in model.tools() if name.endswith("exec")]
        line.send(calling(call(name, {"input": script})))

    model.plays(play, DONE)
    run = codex.run("Make a file")
    assert codex.file("made.txt") == "lite\n"
    assert run.said == ["Done."]
    [(_, output)] = last_calls(model.requests[1])
    assert "Script completed" in output


def test_an_image_that_the_model_asks_for_is_shown_to_it(codex: Codex, model: Model) -> None:
    (codex.work / "dot.png").write_bytes(base64.b64decode(PIXEL))
    model.plays(calling(call("view_image", {"path": "dot.png"})), DONE)
    assert codex.run("Look at dot.png").failure is None
    images = [part for part in model.requests[1]["messages"][-1]["content"] if part["type"] == "image_url"]
    assert [image["image_url"]["url"] for image in images] == [f"data:image/png;base64,{PIXEL}"]


def test_a_tool_that_was_searched_for_is_called(codex: Codex, model: Model) -> None:
    """Codex hides the tools of MCP servers behind a search; what that finds, the next request declares."""
    codex.configure(model=KNOWS_PATCHES, tables=MCP_SERVER)
    search = calling(call("tool_search", {"query": "write a note"}))
    model.plays(search, calling(call("mcp__probe__note", {"text": "found"})), DONE)
    run = codex.run("Take a note")
    assert codex.file("note.txt") == "found"
    assert run.said == ["Done."]
    assert ["mcp__probe__note" in model.tools(number) for number in range(3)] == [False, True, True]
    [(name, output)] = last_calls(model.requests[1])
    assert (name, "note" in output) == ("tool_search", True)


def test_an_image_beside_the_prompt_is_shown_to_the_model(codex: Codex, model: Model) -> None:
    dot = codex.work / "dot.png"
    dot.write_bytes(base64.b64decode(PIXEL))
    model.plays(DONE)
    assert codex.run("What is it?", f"--image={dot}").failure is None
    parts = model.requests[0]["messages"][-1]["content"]
    assert [part["image_url"]["url"] for part in parts if part["type"] == "image_url"] == [
        f"data:image/png;base64,{PIXEL}"
    ]
