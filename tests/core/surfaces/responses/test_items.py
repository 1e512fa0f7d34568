"""Input items: every published form, and the exact place of every wrong one."""

from dataclasses import replace

from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    ChoiceMode,
    FormatKind,
    OutputFormat,
    Reasoning,
    Result,
    Role,
    Text,
    ToolChoice,
    ToolKind,
    ToolName,
)
from proxy.core.stored.private import opened, with_thought
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses import items
from proxy.core.surfaces.responses.compaction import INSTRUCTION, SUMMED_UP
from proxy.core.surfaces.responses.decode import decode
from tests.support.responses_asks import (
    OBJECT,
    Notes,
    ask,
    assistant,
    call,
    called,
    output,
    refused,
    result,
    spoken,
    turns,
    user,
)
from tests.support.tables import table

TEXT = {"type": "input_text", "text": "x"}
ANY_TEXT = OutputFormat()
JSON = OutputFormat(FormatKind.JSON_SCHEMA, "n", OBJECT)


@table(
    ("item", "role", "parts"),
    [
        ({"type": "message", "role": "user", "content": "x"}, "user", ["x"]),
        ({"role": "user", "content": [TEXT, TEXT]}, "user", ["x", "x"]),
        ({"type": None, "role": "system", "content": "x"}, "system", ["x"]),
        ({"role": "developer", "content": [TEXT]}, "developer", ["x"]),
        (
            {
                "id": "msg_1",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "phase": "commentary",
                "content": [{"type": "output_text", "text": "x", "annotations": []}],
            },
            "assistant",
            [Text("x", phase="commentary")],
        ),
        (
            {
                "type": "agent_message",
                "author": "/root",
                "recipient": "/root/a",
                "content": [TEXT, {"type": "encrypted_content", "encrypted_content": "Do it"}],
            },
            "user",
            ["x", "Do it"],
        ),
    ],
)
def test_messages(item, role, parts):
    """With and without `type`, string or parts, ids and states ignored."""
    assert spoken(*turns(item)) == [(role, parts)]


@table(
    ("item", "expected"),
    [
        (call("call_1", arguments='{"a":1}'), called("call_1", arguments='{"a":1}')),
        (call("call_1", arguments="{broken"), called("call_1", arguments="{broken")),
        (call("call_1", arguments={"a": [1, "ü"]}), called("call_1", arguments='{"a":[1,"ü"]}')),
        (call("call_1", arguments=None), called("call_1", arguments="")),
        ({"type": "function_call", "call_id": "call_1", "name": "weather"}, called("call_1", arguments="")),
        ({"type": "function_call", "id": "fc_1", "name": "weather", "arguments": "{}"}, called("fc_1")),
        (call("call_1", id="fc_1", status="completed"), called("call_1")),
        (call("0" * 300, "any name.at all"), called("0" * 300, "any name.at all")),
        (
            call("call_1", "echo", namespace="mcp__demo"),
            Call("call_1", ToolName("echo", "mcp__demo"), ToolKind.FUNCTION, "{}"),
        ),
        (call("call_1", namespace=""), called("call_1")),
        (call("call_1", namespace=None), called("call_1")),
        (
            {
                "type": "custom_tool_call",
                "call_id": "c",
                "name": "exec",
                "namespace": "functions",
                "input": "ls",
            },
            Call("c", ToolName("exec", "functions"), ToolKind.CUSTOM, "ls"),
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "exec", "input": None},
            Call("c", ToolName("exec"), ToolKind.CUSTOM, ""),
        ),
    ],
)
def test_calls(item, expected):
    """Arguments stay what the model wrote; only an object, which some clients send, is written out."""
    assert turns(item)[0][1] == [expected]


@table(
    ("item", "expected"),
    [
        ({"summary": [{"type": "summary_text", "text": "hm"}]}, Reasoning("hm")),
        ({"summary": [{"type": "summary_text", "text": t} for t in ("a", "b")]}, Reasoning("a\n\nb")),
        ({"summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}, Reasoning("hm")),
        (
            {
                "summary": [{"type": "summary_text", "text": "short"}],
                "content": [{"type": "reasoning_text", "text": "long"}],
            },
            Reasoning("long"),
        ),
        ({"summary": [{"type": "text", "text": "hm"}], "content": None}, Reasoning("hm")),
        ({"summary": "hm"}, Reasoning("hm")),
        (
            {"summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "ENC"},
            Reasoning("hm", {"responses": {"encrypted_content": "ENC"}}),
        ),
        ({"summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": None}, Reasoning("hm")),
        ({"encrypted_content": "ENC"}, Reasoning("", {"responses": {"encrypted_content": "ENC"}})),
        (  # V32: a blank hides no summary
            {
                "summary": [{"type": "summary_text", "text": "hm"}],
                "content": [{"type": "reasoning_text", "text": " "}],
            },
            Reasoning("hm"),
        ),
    ],
)
def test_reasoning(item, expected):
    """The thought itself before its summary; what another server signed is carried, not read."""
    assert turns({"type": "reasoning", "id": "rs_1"} | item)[0][1] == [expected]


SIGNER = TokenSigner("of the tests")
ABOUT = [{"type": "summary_text", "text": "About."}]
THOUGHT = Reasoning("Exactly.", {"chat": {"reasoning_details": [{"data": "x"}]}})


@table(
    ("token", "expected", "dropped"),
    [
        (SIGNER.reasoning(THOUGHT), THOUGHT, {}),
        (TokenSigner("another").reasoning(THOUGHT), Reasoning("About."), {"foreign_token": 1}),
        ("ENC", Reasoning("About."), {"foreign_token": 1}),
        (None, Reasoning("About."), {}),
        (SIGNER.reasoning(replace(THOUGHT, text="")), replace(THOUGHT, text="About."), {}),  # V32
    ],
)
def test_what_we_signed_is_believed_before_the_summary(token, expected, dropped):
    """Codex gives back summary and token; only the token is exact. Nobody else's is one."""
    item = {"type": "reasoning", "summary": ABOUT}
    ledger = Ledger()
    body = {"model": "m", "input": [item | {"encrypted_content": token}]}
    [part] = decode(body, ledger, signer=SIGNER).turns[0][1]
    assert (part.text, part.extras.get("chat")) == (expected.text, expected.extras.get("chat"))
    assert ledger.dropped == dropped


@table("text", ["Exactly.", ""])
def test_what_the_store_has_kept_is_believed_before_all_else(text):
    """A client cannot send it: no JSON is a KeptThought."""
    kept = with_thought(
        {"type": "reasoning", "id": "rs_1", "summary": ABOUT}, replace(THOUGHT, text=text), "m"
    )
    kept["encrypted_content"] = SIGNER.reasoning(Reasoning("Signed."))
    [read] = opened([kept], "m", Ledger())
    expected = replace(THOUGHT, text=text or "About.")
    assert decode({"model": "m", "input": [read]}, Ledger(), signer=SIGNER).turns[0][1] == [expected]
    [sent] = decode({"model": "m", "input": [kept]}, Ledger(), signer=SIGNER).turns[0][1]
    assert sent == Reasoning("Signed.")


@table(
    ("item", "counted"),
    [
        ({"type": "item_reference", "id": "msg_1"}, "item_reference"),
        ({"type": None, "id": "msg_1"}, "item_reference"),
        ({"id": "msg_1"}, "item_reference"),
        ({"type": "web_search_call", "status": "completed"}, "unknown_item"),
        ({"type": "image_generation_call", "id": "ig_1", "result": None}, "unknown_item"),
        ({"type": "context_compaction", "encrypted_content": "x"}, "unknown_item"),
        ({"type": "local_shell_call"}, "hosted_call"),
        ({"type": "shell_call", "call_id": "s"}, "hosted_call"),
        ({"type": "apply_patch_call", "operation": {}}, "hosted_call"),
        (
            {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {}},
            "hosted_call",
        ),
        ({"type": "tool_search_call", "call_id": "s", "arguments": "paint"}, "hosted_call"),
        ({"type": "compaction", "encrypted_content": "x"}, "foreign_token"),
        ({"type": "compaction"}, "foreign_token"),
        ({"type": "acme:telemetry"}, "unknown_item"),
    ],
)
def test_items_that_are_counted_and_ignored(item, counted):
    """Old threads and other servers' items must not end a conversation."""
    ledger = Ledger()
    assert spoken(*turns(user("x"), item, ledger=ledger)) == [("user", ["x"])]
    assert ledger.dropped == {counted: 1}


def test_the_type_of_an_ignored_item_is_told_at_debug():
    """The count is under one name, so that clients cannot fill the log with names of their own."""
    notes = Notes()
    turns(user("x"), {"type": "y" * 500}, ledger=Ledger(notes))
    [(level, event, fields)] = notes.lines
    assert (level, event) == ("debug", "input_item_ignored")
    assert len(fields["type"]) < 100


@table("kind", ["compaction", "compaction_summary"])
def test_a_summary_stands_for_what_it_sums_up(kind):
    signed = {"type": kind, "id": "cmp_1", "encrypted_content": SIGNER.summary("We met.")}
    opened = {"type": kind, "encrypted_content": "We met, somebody says."}
    request = decode({"model": "m", "input": [signed, opened]}, Ledger(), signer=SIGNER)
    assert spoken(*request.turns) == [
        ("user", [f"{SUMMED_UP}\n\nWe met."]),
        ("user", [f"{SUMMED_UP}\n\nWe met, somebody says."]),
    ]


def test_a_trigger_at_the_end_asks_for_a_summary_and_no_calls():
    """Whatever the request says of tools and formats was meant for answers."""
    request = ask(
        input=[user("x"), {"type": "compaction_trigger"}],
        tools=[{"type": "function", "name": "f"}],
        tool_choice="required",
        text={"format": {"type": "json_schema", "name": "n", "schema": {}}},
    )
    assert request.compact
    assert spoken(*request.turns) == [("user", ["x"]), ("user", [INSTRUCTION])]
    assert (request.choice, request.format) == (ToolChoice(ChoiceMode.NONE), OutputFormat())
    assert [spec.tool.name for spec in request.tools] == ["f"]


def test_a_trigger_that_stayed_in_a_history_is_over():
    ledger = Ledger()
    request = ask(ledger, input=[{"type": "compaction_trigger"}, user("x")])
    assert not request.compact
    assert spoken(*request.turns) == [("user", ["x"])]
    assert ledger.dropped == {"compaction_trigger": 1}


FOUND = [
    {"type": "namespace", "name": "team", "tools": [{"type": "function", "name": "hire"}]},
    {"type": "function", "name": "paint"},
]


@table(
    ("tools", "told"),
    [(FOUND, "These tools can be called now: team__hire, paint"), ([], "No tools were found.")],
)
def test_a_search_for_tools_is_a_call_and_its_result(tools, told):
    """The model must know that it has searched, and what it may call since."""
    search = {
        "type": "tool_search_call",
        "call_id": "s",
        "execution": "client",
        "arguments": {"query": "hire"},
    }
    found = {"type": "tool_search_output", "call_id": "s", "execution": "client", "tools": tools}
    asked, answered = turns(search, found)
    assert asked[1] == [Call("s", ToolName("tool_search"), ToolKind.TOOL_SEARCH, '{"query":"hire"}')]
    assert answered[1] == [Result("s", [told])]


@table("broken", [5, {"type": "function"}, {"type": "namespace", "name": None}])
def test_found_tools_that_are_none_are_refused_like_any_others(broken):
    fault = refused(input=[{"type": "tool_search_output", "call_id": "s", "tools": [broken]}])
    assert fault.param.startswith("input[0].tools[0]")


def test_tools_among_the_items_are_declared_like_any_others():
    """Codex sends its whole tool list there for some models, and found tools as search results."""
    request = ask(
        input=[
            {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "one"}]},
            {"type": "tool_search_output", "call_id": None, "tools": [{"type": "function", "name": "two"}]},
            {"type": "additional_tools", "tools": None},
            user("x"),
        ],
        tools=[{"type": "function", "name": "zero"}],
    )
    assert [spec.tool.name for spec in request.tools] == ["zero", "one", "two"]
    assert spoken(*request.turns) == [("user", ["x"])]


@table(
    ("item", "param"),
    [
        (5, ""),
        (None, ""),
        ("Hi", ""),
        ([user("x")], ""),
        ({}, ".role"),
        ({"type": 5}, ".type"),
        ({"type": ["message"]}, ".type"),
        ({"content": "x"}, ".role"),
        ({"role": None, "content": "x"}, ".role"),
        ({"role": 5, "content": "x"}, ".role"),
        ({"role": "tool", "content": "x"}, ".role"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, ".content[0].text"),
        ({"type": "agent_message"}, ".content"),
        (
            {"type": "agent_message", "content": [{"type": "encrypted_content"}]},
            ".content[0].encrypted_content",
        ),
        ({"type": "function_call", "name": "f", "arguments": "{}"}, ".call_id"),
        ({"type": "function_call", "call_id": None, "name": "f", "arguments": "{}"}, ".call_id"),
        (call(5), ".call_id"),
        ({"type": "function_call", "id": 5, "name": "f"}, ".id"),
        ({"type": "function_call", "call_id": "a"}, ".name"),
        (call("a", None), ".name"),
        (call("a", ""), ".name"),
        (call("a", 5), ".name"),
        (call("a", arguments=5), ".arguments"),
        (call("a", arguments=["x"]), ".arguments"),
        (call("a", namespace=5), ".namespace"),
        ({"type": "custom_tool_call", "call_id": "a", "name": "f", "input": {}}, ".input"),
        ({"type": "custom_tool_call", "name": "f", "input": ""}, ".call_id"),
        ({"type": "function_call_output", "output": "x"}, ".call_id"),
        ({"type": "function_call_output", "call_id": None, "output": "x"}, ".call_id"),
        (output(5), ".call_id"),
        ({"type": "function_call_output", "call_id": "a"}, ".output"),
        ({"type": "custom_tool_call_output", "call_id": "a"}, ".output"),
        (output("a", [{"type": "input_text", "text": 5}]), ".output[0].text"),
        (output("a", [{"type": "text", "text": "x"}, 5]), ".output[1]"),
        (output("a", [{"type": "refusal", "refusal": "x"}]), ".output[0].type"),
        ({"type": "reasoning", "summary": 5}, ".summary"),
        ({"type": "reasoning", "summary": [5]}, ".summary[0]"),
        ({"type": "reasoning", "summary": [{"type": "summary_text"}]}, ".summary[0].text"),
        ({"type": "reasoning", "content": [{"type": "refusal", "refusal": "x"}]}, ".content[0].type"),
        ({"type": "reasoning", "summary": [], "encrypted_content": 5}, ".encrypted_content"),
        ({"type": "item_reference"}, ".id"),
        ({"type": "item_reference", "id": 5}, ".id"),
        ({"type": "additional_tools", "tools": 5}, ".tools"),
        ({"type": "additional_tools", "tools": [{"type": "function", "name": "a b"}]}, ".tools[0].name"),
    ],
)
def test_an_item_that_cannot_be_read_is_refused_where_it_is_wrong(item, param):
    """F72: `input[3].output`, not "bad request"."""
    fault = refused(input=[user("x"), item])
    assert fault.param == f"input[1]{param}"
    assert fault.message.startswith(fault.param)
    assert (fault.status, fault.type) == (400, "invalid_request_error")


def test_a_role_that_does_not_exist_is_answered_with_those_that_do():
    """Chat's `tool` is what people try."""
    fault = refused(input=[{"role": "boss", "content": "x"}])
    assert fault.message == "input[0].role must be one of user, assistant, system, developer, got 'boss'."
    fault = refused(input=[{"role": "tool", "content": "x"}])
    assert fault.message.endswith(
        "got 'tool'. What a tool returned is an item of its own: send a function_call_output."
    )


@table("content", [None, "Let me see."])
def test_calls_in_the_chat_form_are_not_passed_over(content):
    """The conversation would go on as if they had never been made."""
    fault = refused(input=[{"role": "assistant", "content": content, "tool_calls": [{"id": "c"}]}])
    assert (fault.param, fault.code) == ("input[0].tool_calls", "invalid_value")
    assert turns({"role": "assistant", "content": content, "tool_calls": []}, user("Hi"))


def test_the_items_of_a_request_are_limited(monkeypatch):
    """S19: the walk runs on the event loop."""
    monkeypatch.setattr(items, "MAX_ITEMS", 2)
    assert len(turns(user("x"), user("x"))) == 2
    fault = refused(input=[user("x")] * 3)
    assert (fault.param, fault.code) == ("input", "array_above_max_length")


def test_what_the_published_clients_send_back():
    """The forms seen on the wire: whole items with ids and states, easy messages, echoes without ids."""
    said = turns(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [TEXT]},
        {"id": "rs_1", "type": "reasoning", "summary": [], "status": None},
        {
            "id": "msg_1",
            "content": [{"annotations": [], "text": "Well", "type": "output_text", "logprobs": []}],
            "role": "assistant",
            "status": "completed",
            "type": "message",
        },
        call("call_1", id="fc_1", status="completed"),
        output("call_1"),
        assistant([{"type": "output_text", "text": "Sunny."}]),
        {"type": "message", "role": "user", "content": "Thanks"},
    )
    assert [role for role, _ in said] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
        Role.USER,
    ]
    assert said[2][1] == [Text("Well"), called("call_1")]
    assert said[3][1] == [result("call_1")]


def configuration(**update):
    return {"type": "configuration_update", **update}


FORM = {"type": "json_schema", "name": "n", "schema": OBJECT}


@table(
    ("updates", "effort", "form"),
    [
        ([configuration(reasoning={"effort": "high"})], "high", ANY_TEXT),
        ([configuration(reasoning={"effort": "high"}), configuration(reasoning={"effort": "none"})], "none", ANY_TEXT),
        ([configuration(reasoning={"effort": "high"}), configuration(text={"format": FORM})], "high", JSON),
        ([configuration(text={"format": FORM}), configuration(text={"format": {"type": "text"}})], "low", ANY_TEXT),
        ([configuration(reasoning={"effort": None}, text={})], "low", ANY_TEXT),
        ([configuration()], "low", ANY_TEXT),
    ],
)  # fmt: skip
def test_an_item_changes_effort_and_format_until_the_next_one(updates, effort, form):
    """The request's own words are the baseline, which a client leaves as it is so that the prompt stays cached."""
    request = ask(
        input=[user("Hi"), *updates, user("Go on.")], reasoning={"effort": "low", "summary": "auto"}
    )
    assert (request.reasoning.effort, request.reasoning.summary, request.format) == (effort, "auto", form)
    assert len(request.turns) == 2


def test_an_item_sets_the_effort_of_a_request_that_has_none():
    assert ask(input=[user("Hi"), configuration(reasoning={"effort": "high"})]).reasoning.effort == "high"


def test_an_items_format_goes_before_the_requests_own_and_tells_its_place():
    request = ask(
        input=[user("Hi"), configuration(text={"format": FORM})], text={"format": {"type": "json_object"}}
    )
    assert (request.format, request.format.path) == (JSON, "input[1].text.format.schema")


@table(
    ("update", "param"),
    [
        ({"reasoning": {"effort": 3}}, "input[1].reasoning.effort"),
        ({"reasoning": "high"}, "input[1].reasoning"),
        ({"text": {"format": {"type": "xml"}}}, "input[1].text.format.type"),
        ({"text": {"format": {"type": "json_schema", "name": "n"}}}, "input[1].text.format.schema"),
    ],
)
def test_a_wrong_update_is_refused_at_its_place(update, param):
    assert refused(input=[user("Hi"), configuration(**update)]).param == param
