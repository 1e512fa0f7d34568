"""From a body to a Request: the whole, and what no part can check alone."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import (
    ChoiceMode,
    FormatKind,
    OutputFormat,
    ReasoningWish,
    Request,
    Role,
    Sampling,
    ToolChoice,
    ToolKind,
    ToolName,
    ToolSpec,
)
from proxy.core.surfaces.reading.fields import MAX_DEPTH
from proxy.core.surfaces.responses import decode as responses_decode
from proxy.core.surfaces.responses.decode import decode
from tests.support.responses_asks import (
    OBJECT,
    SEARCH,
    ask,
    call,
    called,
    output,
    refused,
    result,
    spoken,
    user,
)
from tests.support.tables import table


def test_the_least_request():
    """A string is one user message, and everything else has a default."""
    assert ask() == Request(model="m", turns=[(Role.USER, ["Hi"])])
    assert ask().parallel_calls is True


def test_every_field_arrives():
    """R01, R02: nothing that a backend could use is lost on the way."""
    request = ask(
        instructions="Be brief.",
        input=[user("Hi")],
        tools=[{"type": "function", "name": "f", "parameters": OBJECT}],
        tool_choice="required",
        parallel_tool_calls=False,
        include=["message.output_text.logprobs"],
        max_output_tokens=16,
        temperature=0.5,
        top_p=1,
        presence_penalty=-1,
        frequency_penalty=1.5,
        top_logprobs=2,
        text={
            "verbosity": "low",
            "format": {
                "type": "json_schema",
                "name": "n",
                "schema": OBJECT,
                "description": "d",
                "strict": True,
            },
        },
        reasoning={"effort": "minimal", "summary": "auto"},
        stream=True,
    )
    assert request == Request(
        model="m",
        turns=[(Role.SYSTEM, ["Be brief."]), (Role.USER, ["Hi"])],
        tools=[ToolSpec(ToolName("f"), ToolKind.FUNCTION, parameters=OBJECT)],
        choice=ToolChoice(ChoiceMode.REQUIRED),
        parallel_calls=False,
        sampling=Sampling(
            temperature=0.5,
            top_p=1,
            presence_penalty=-1,
            frequency_penalty=1.5,
            max_tokens=16,
            logprobs=True,
            top_logprobs=2,
        ),
        reasoning=ReasoningWish("minimal", "auto"),
        format=OutputFormat(FormatKind.JSON_SCHEMA, "n", OBJECT, "d", True),
        verbosity="low",
        stream=True,
    )


@table(
    ("fields", "logprobs", "top"),
    [
        ({}, False, 0),
        ({"include": ["message.output_text.logprobs"]}, True, 0),
        ({"top_logprobs": 3}, True, 3),
        ({"top_logprobs": 0}, False, 0),
        ({"include": ["reasoning.encrypted_content"]}, False, 0),
    ],
)
def test_logprobs_are_wanted_by_either_name(fields, logprobs, top):
    """Asking for the best three of each token is asking for them."""
    sampling = ask(**fields).sampling
    assert (sampling.logprobs, sampling.top_logprobs) == (logprobs, top)


@table(
    ("text", "expected"),
    [
        ({}, OutputFormat()),
        ({"format": None}, OutputFormat()),
        ({"format": {"type": "text"}}, OutputFormat()),
        ({"format": {"type": "json_object"}}, OutputFormat(FormatKind.JSON_OBJECT)),
        (
            {"format": {"type": "json_schema", "name": "n", "schema": {}}},
            OutputFormat(FormatKind.JSON_SCHEMA, "n", {}),
        ),
    ],
)
def test_output_formats(text, expected):
    """`text.format` in its three kinds."""
    assert ask(text=text).format == expected


def test_a_bad_schema_of_the_answer_is_refused():
    """Sent on, it would be the backend's 400 or 500, in words about its grammar."""
    wish = {"type": "json_schema", "name": "n", "schema": {"properties": 5}}
    assert refused(text={"format": wish}).param == "text.format.schema.properties"


@table("body", [None, True, 5, 1.5, "x", [], [{"model": "m", "input": "x"}]])
def test_a_body_is_an_object(body):
    """F72."""
    with pytest.raises(ClientFault) as caught:
        decode(body, Ledger())
    assert (caught.value.status, caught.value.param) == (400, None)


@table("model", [{}, {"model": None}, {"model": ""}])
def test_a_model_is_required(model):
    """F72: with the code that programs look for."""
    with pytest.raises(ClientFault) as caught:
        decode({"input": "x"} | model, Ledger())
    assert (caught.value.param, caught.value.code) == ("model", "missing_required_parameter")


@table(
    "body",
    [
        {},
        {"input": None},
        {"instructions": "x"},
        {"input": []},
        {"input": [], "instructions": ""},
        {"input": 5},
        {"input": {"role": "user", "content": "x"}},
        {"input": True},
        {"input": [{"type": "item_reference", "id": "msg_1"}]},
        {"input": [user([])]},
    ],
)
def test_an_input_is_required(body: dict[str, Any]):
    """F72: and one of which nothing is left is none."""
    with pytest.raises(ClientFault) as caught:
        decode({"model": "m"} | body, Ledger())
    assert "input" in caught.value.message
    assert caught.value.status == 400


def test_instructions_may_be_all_there_is():
    """An agent's first turn may hold nothing else."""
    assert spoken(*ask(input=[], instructions="Go.").turns) == [("system", ["Go."])]


def test_an_empty_string_is_an_input():
    """The API has no lower bound, and with instructions it makes sense."""
    assert spoken(*ask(input="").turns) == [("user", [""])]


def test_an_input_text_has_an_upper_bound(monkeypatch):
    """The published one."""
    monkeypatch.setattr(responses_decode, "MAX_INPUT_TEXT", 3)
    assert ask(input="abc").turns
    fault = refused(input="abcd")
    assert (fault.param, fault.message) == ("input", "input may have at most 3 characters: send less.")


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@table("wish", [True, False, None])
def test_a_request_may_have_its_calls_checked(wish):
    """P05."""
    assert ask(request_options={"validate_tool_arguments": wish, "more": 1}).validate_arguments is wish
    assert ask().validate_arguments is None


def test_nesting_has_a_limit_even_where_nobody_reads():
    """S18: what parses must also be writable."""
    assert ask(unknown=nested(MAX_DEPTH - 1)).model == "m"
    fault = refused(unknown=nested(MAX_DEPTH))
    assert (fault.status, fault.param) == (400, "unknown")
    assert "128" in fault.message


def test_a_deep_output_is_written_out():
    """S18: the deepest that passes the door can be made a string."""
    value = nested(MAX_DEPTH - 3)
    [_, tool_turn] = ask(input=[call("a"), output("a", value)]).turns
    assert tool_turn[1] == [result("a", "[" * (MAX_DEPTH - 3) + "0" + "]" * (MAX_DEPTH - 3))]


def test_a_request_as_codex_sends_it():
    """Tools among the items, a namespace, a custom tool, a hosted one, a call in a namespace, a mid-history
    developer message, an orphan, unknown fields: none of it may be a fault."""
    ledger = Ledger()
    body = {
        "model": "any",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "01a1ed43-d614-7283-b1bb-7dc901bbb868",
        "client_metadata": {"x-codex-window-id": "w:0"},
        "reasoning": {"effort": "low", "context": "all_turns"},
        "text": {"verbosity": "low"},
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [SEARCH | {"external_web_access": False}],
        "input": [
            {
                "type": "additional_tools",
                "id": "at_1",
                "role": "developer",
                "tools": [
                    {
                        "type": "namespace",
                        "name": "functions",
                        "description": "",
                        "tools": [
                            {"type": "custom", "name": "exec", "format": {"type": "grammar", "syntax": "lark"}},
                            {"type": "function", "name": "wait", "strict": False, "parameters": OBJECT},
                        ],
                    }
                ],
            },
            {"type": "message", "id": "msg_1", "role": "developer", "content": [{"type": "input_text", "text": "You"}]},
            user([{"type": "input_text", "text": "Hi"}]),
            output("lost"),
            {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": None},
            call("call_1", "echo", namespace="mcp__demo", id="fc_1", status="completed"),
            output("call_1", [{"type": "input_text", "text": "hey"}]) | {"id": "fco_1"},
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Now"}]},
        ],
    }  # fmt: skip
    request = decode(body, ledger, "drop")
    assert [role.value for role, _ in request.turns] == [
        "developer",
        "user",
        "assistant",
        "tool",
        "developer",
    ]
    assert [spec.tool for spec in request.tools] == [
        ToolName("exec", "functions"),
        ToolName("wait", "functions"),
    ]
    assert request.reasoning.effort == "low"
    assert request.reasoning.ways == {"context": "all_turns"}
    assert ledger.dropped == {"hosted_tool": 1, "orphan_output": 1}
    assert not ledger.oddities


def test_a_tool_loop_in_the_form_of_the_python_sdk():
    """R03: pairs, in place."""
    request = ask(
        input=[user("Hi"), call("call_1", id="fc_1", status="completed"), output("call_1", {"t": 1})]
    )
    assert spoken(*request.turns) == [
        ("user", ["Hi"]),
        ("assistant", [called("call_1")]),
        ("tool", [result("call_1", '{"t":1}')]),
    ]


def test_a_user_may_be_named_by_the_longest_of_usual_digests() -> None:
    """SHA-512 has 128 digits; so many are the published bound."""
    assert ask(safety_identifier="f" * 128).user == "f" * 128


def test_a_warm_up_is_a_request_that_nobody_answers() -> None:
    assert ask().generate
    assert ask(generate=True).generate
    assert not ask(generate=False).generate
    assert not ask(generate=True, prompt_cache_options={"prewarm": True}).generate
    assert all(ask(prompt_cache_options=options).generate for options in ({"prewarm": False}, {}, None, "x"))


def test_what_is_said_of_the_cache():
    assert ask(prompt_cache_key="k", prompt_cache_retention="24h").cache == {
        "prompt_cache_key": "k",
        "prompt_cache_retention": "24h",
    }
    assert ask(prompt_cache_key=None, prompt_cache_retention=7).cache == {}


@table(
    ("reasoning", "wish"),
    [
        ({"context": "auto", "mode": "standard"}, ReasoningWish()),
        (
            {"context": "current_turn", "mode": "pro"},
            ReasoningWish(ways={"context": "current_turn", "mode": "pro"}),
        ),
        ({"context": None, "mode": ""}, ReasoningWish()),
        ({"generate_summary": "concise"}, ReasoningWish(summary="concise")),
        ({"generate_summary": "concise", "summary": "auto"}, ReasoningWish(summary="auto")),
    ],
)
def test_ways_of_thinking(reasoning: Any, wish: ReasoningWish) -> None:
    """What models do anyway is no wish; `generate_summary` is the older name of `summary`."""
    assert ask(reasoning=reasoning).reasoning == wish
