"""A conversation is more than one request: what Codex keeps comes back to the model as it was."""

from pathlib import Path
from typing import Any

import pytest

from proxy.core import jsontext
from tests.codex.backend import Model, call, calling
from tests.codex.harness import Codex
from tests.node import packages
from tests.support.programs import proxying
from tests.support.sockets import delta, reply, text

ANSWER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
SMALL_CONTEXT = """
model_context_window = 8000
model_auto_compact_token_limit = 5000
"""


def said(model: Model, *roles: str) -> list[tuple[str, Any]]:
    """Role and content of the last request's messages in these roles."""
    return [(m["role"], m["content"]) for m in model.requests[-1]["messages"] if m["role"] in roles]


def test_instructions_come_first_and_the_prompt_last(codex: Codex, model: Model) -> None:
    model.plays(reply(text("Hello.")))
    codex.run("The prompt")
    first, *_, last = model.requests[0]["messages"]
    assert (first["role"], "coding agent" in first["content"]) == ("developer", True)
    assert (last["role"], last["content"].endswith("The prompt")) == ("user", True)


def test_the_folders_own_instructions_arrive(codex: Codex, model: Model) -> None:
    (codex.work / "AGENTS.md").write_text("Always speak in rhymes.", encoding="utf-8")
    model.plays(reply(text("Hello.")))
    codex.run("The prompt")
    assert "Always speak in rhymes." in str(model.requests[0]["messages"])


@pytest.mark.parametrize("name", ["qwen3-coder", "gpt-5.5", "gpt-6.1-sol"])
def test_every_shape_of_request_is_streamed_and_asks_for_usage(codex: Codex, model: Model, name: str) -> None:
    codex.configure(model=name)
    model.plays(reply(text("Hello.")))
    assert codex.run("The prompt").said == ["Hello."]
    [request] = model.requests
    assert request["model"] == name
    assert request["stream"] is True
    assert request["stream_options"] == {"include_usage": True}
    assert "exec" in str(model.tools())


def test_a_schema_for_the_answer_is_asked_of_the_model(codex: Codex, model: Model) -> None:
    schema = codex.home / "schema.json"
    schema.write_bytes(jsontext.dumps(ANSWER))
    model.plays(reply(text('{"city": "Paris"}')))
    run = codex.run("Where?", "--output-schema", schema, "--output-last-message", "last.txt")
    assert run.failure is None
    assert jsontext.loads(codex.file("last.txt")) == {"city": "Paris"}
    wanted = model.requests[0]["response_format"]["json_schema"]
    assert (wanted["schema"], wanted["strict"]) == (ANSWER, True)


def test_reasoning_is_shown(codex: Codex, model: Model) -> None:
    model.plays(reply(delta(reasoning_content="I think "), delta(reasoning_content="hard."), text("Four.")))
    run = codex.run("Two and two?")
    assert [item["text"] for item in run.items("reasoning")] == ["I think hard."]
    assert run.said == ["Four."]


def test_a_resumed_conversation_is_told_in_full(codex: Codex, model: Model) -> None:
    shout = call("exec_command", {"cmd": "echo out loud"})
    model.plays(calling(text("First I look."), shout), reply(text("Then I speak.")))
    codex.run("Begin")
    model.plays(reply(text("Again.")))
    run = codex.run("Go on", "resume", "--last")
    assert run.said == ["Again."]
    told = said(model, "user", "assistant", "tool")[1:]
    assert [role for role, _ in told] == ["assistant", "tool", "assistant", "user"]
    assert [told[0][1], told[2][1], told[3][1]] == ["First I look.", "Then I speak.", "Go on"]
    assert "out loud" in told[1][1]


def test_a_full_context_is_compacted_by_the_model(codex: Codex, model: Model) -> None:
    """Codex asks for a summary, without tools, and goes on with nothing but that."""
    codex.configure(settings=SMALL_CONTEXT)
    full = calling(call("exec_command", {"cmd": "echo one > one.txt"}), prompt_tokens=9000)
    model.plays(full, reply(text("A file was made.")), reply(text("Done.")))
    run = codex.run("Make a file")
    assert run.said == ["Done."]
    work, summary, rest = model.requests
    assert ("tools" in work, "tools" in summary, "tools" in rest) == (True, False, True)
    assert "CHECKPOINT" in str(summary["messages"][-1])
    assert "A file was made." in str(rest["messages"])
    assert "tool" not in [message["role"] for message in rest["messages"]]


def test_a_full_context_is_compacted_by_the_proxy(codex: Codex, model: Model) -> None:
    """A provider that is called OpenAI is asked to do it itself, and to answer with an item that Codex cannot read."""
    codex.configure(name="OpenAI", settings=SMALL_CONTEXT)
    full = calling(call("exec_command", {"cmd": "echo one > one.txt"}), prompt_tokens=9000)
    model.plays(full, reply(text("A file was made.")), reply(text("Done.")))
    run = codex.run("Make a file")
    assert run.said == ["Done."]
    assert len(model.requests) == 3
    assert "A file was made." in str(model.requests[2]["messages"])


def test_instructions_within_the_history_stay_in_their_place(codex: Codex, model: Model) -> None:
    """Whoever goes on with another model has that model told so, after what the first one said."""
    model.plays(reply(text("One.")))
    codex.run("Begin")
    codex.configure(model="gpt-5.5")
    codex.run("Go on", "resume", "--last")
    roles = [message["role"] for message in model.requests[-1]["messages"]]
    assert roles[:4] == ["developer", "user", "assistant", "developer"]
    assert roles[-1] == "user"
    assert "<model_switch>" in model.requests[-1]["messages"][3]["content"]


REPLAY = """
[backend.overrides]
replay = "reasoning_content"
replay_scope = "all"
"""


def test_reasoning_comes_back_to_the_model(backend: Model, tmp_path: Path) -> None:
    backend.plays(reply(delta(reasoning_content="I think hard."), text("Four.")), reply(text("Five.")))
    with proxying(backend.url, tmp_path, REPLAY) as url:
        codex = Codex([packages.required(), packages.CODEX], f"{url}/v1", tmp_path)
        codex.run("Two and two?")
        run = codex.run("And one?", "resume", "--last")
    assert run.said == ["Five."]
    [answer] = [m for m in backend.requests[1]["messages"] if m["role"] == "assistant"]
    assert (answer["content"], answer["reasoning_content"]) == ("Four.", "I think hard.")


def test_reasoning_is_not_told_to_a_model_that_does_not_want_it(codex: Codex, model: Model) -> None:
    model.plays(reply(delta(reasoning_content="I think hard."), text("Four.")), reply(text("Five.")))
    codex.run("Two and two?")
    codex.run("And one?", "resume", "--last")
    assert "I think hard." not in str(model.requests[1]["messages"])


def test_a_model_that_nobody_describes_is_warned_of(codex: Codex, model: Model) -> None:
    model.plays(reply(text("Hello.")))
    [warning] = codex.run("Hello").warnings
    assert "metadata for `qwen3-coder` not found" in warning


def test_a_model_of_the_catalog_is_known_to_codex(codex: Codex, model: Model, proxy: str) -> None:
    """Codex asks for the catalog only where it has a key to show; any will do."""
    catalog = f'model_catalog_url = "{proxy}/v1/models"'
    codex.configure(provider=f'{catalog}\nexperimental_bearer_token = "any"')
    model.plays(reply(text("Hello.")))
    assert codex.run("Hello").warnings == []
    assert "apply_patch" in model.tools()
    assert "exec_command" in model.tools()
