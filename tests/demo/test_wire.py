"""What the strict backend accepts and refuses: each rule has a request that breaks it, and the place it names."""

import copy
from typing import Any

import orjson
import pytest

from proxy.demo.refusals import Refused, read

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USER = {"role": "user", "content": "hi"}
CALLING = {"role": "assistant", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "done"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}

FULL: dict[str, Any] = {
    "model": "demo",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "image_url", "image_url": {"url": "data:,"}},
            ],
        },
        CALLING,
        RESULT,
        {"role": "assistant", "content": "so"},
        USER,
    ],
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "parallel_tool_calls": False,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": {"type": "object"}, "strict": True},
    },
    "temperature": 0,
    "top_p": 0.5,
    "max_completion_tokens": 16,
    "stop": ["a"],
    "logprobs": True,
    "top_logprobs": 2,
    "reasoning_effort": "low",
}


def refusal_of(**changes: Any) -> dict[str, Any]:
    body = {"model": "demo", "messages": [USER], **changes}
    with pytest.raises(Refused) as caught:
        read(orjson.dumps(body))
    assert caught.value.status == 400
    error: dict[str, Any] = caught.value.body["error"]
    assert error["type"] == "invalid_request_error"
    return error


def test_a_request_with_every_field_is_accepted() -> None:
    request = read(orjson.dumps(FULL))
    assert (request.limit, request.forced) == (16, "f")


def test_unset_is_told_by_absence_or_null() -> None:
    request = read(orjson.dumps({"model": "demo", "messages": [USER], "tools": None, "tool_choice": None}))
    assert (request.limit, request.forced, request.tools) == (None, None, None)


def function(**changes: Any) -> dict[str, Any]:
    tool = copy.deepcopy(TOOL)
    tool["function"] |= changes
    return tool


@pytest.mark.parametrize(
    ("changes", "param", "rule"),
    [
        ({"model": ""}, "model", "at least 1"),
        ({"model": None}, "model", "valid string"),
        ({"store": False}, "store", "not permitted"),  # G1
        ({"temperature": 2.1}, "temperature", "less than"),
        ({"temperature": "1"}, "temperature", "valid number"),
        ({"max_tokens": 0}, "max_tokens", "greater"),
        ({"stream_options": {"include_usage": True}}, None, "when stream is true"),  # G5
        ({"stream": True, "stream_options": {"x": 1}}, "stream_options.x", "not permitted"),
        ({"top_logprobs": 3}, None, "when logprobs is true"),
        ({"max_tokens": 1, "max_completion_tokens": 1}, None, "exclude"),
        ({"reasoning_effort": "very"}, "reasoning_effort", "Input should be"),
        ({"tools": []}, "tools", "at least 1"),  # G3
        ({"tools": [TOOL] * 129}, "tools", "at most 128"),
        ({"tools": [TOOL, TOOL]}, "tools", "unique"),
        ({"tools": [{"type": "custom"}]}, "tools[0].type", "function"),  # G6
        ({"tools": [function(name="a b")]}, "tools[0].function.name", "pattern"),
        ({"tools": [function(description=None)]}, "tools[0].function.description", "valid string"),  # G6
        ({"tools": [function(strict=None)]}, "tools[0].function.strict", "valid boolean"),  # G7
        ({"tools": [function(parameters={})]}, "tools[0].function.parameters", "properties"),  # G6
        (
            {"tools": [function(parameters={"type": "object", "properties": {"a": {"type": "text"}}})]},
            "tools[0].function.parameters",
            "not a JSON schema",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f"}}]},
            "tools[0].function.parameters",
            "required",
        ),
        ({"tool_choice": "auto"}, None, "when tools are specified"),  # G3
        ({"parallel_tool_calls": True}, None, "when tools are specified"),
        ({"tools": [TOOL], "tool_choice": "any"}, "tool_choice", "Input should be"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}},
            None,
            "undeclared",
        ),
        ({"response_format": {"type": "yaml"}}, "response_format", "does not match"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": 1}}}},
            "response_format.json_schema.schema",
            "not a JSON schema",
        ),
    ],
)
def test_a_field_out_of_order_is_named(changes: dict[str, Any], param: str | None, rule: str) -> None:
    error = refusal_of(**changes)
    assert (error["param"], rule in error["message"]) == (param, True), error


def calling(**changes: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [CALL | {"function": CALL["function"] | changes}]}


@pytest.mark.parametrize(
    ("messages", "param", "rule"),
    [
        ([], "messages", "at least 1"),
        ([{"role": "bot", "content": "x"}], "messages[0]", "does not match"),
        ([{"content": "x"}], "messages[0]", "discriminator"),
        ([{"role": "user"}], "messages[0].content", "required"),
        ([{"role": "user", "content": None}], "messages[0].content", "valid list"),
        ([{"role": "user", "content": []}], "messages[0].content", "at least 1"),
        ([USER | {"name": "x"}], "messages[0].name", "not permitted"),  # G2
        (
            [{"role": "system", "content": [{"type": "text", "text": "x"}]}, USER],
            "messages[0].content",
            "string",
        ),  # G12
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp://x"}}]}],
            "messages[0].content[0].image_url.url",
            "pattern",
        ),
        ([USER, {"role": "assistant", "content": ""}, USER], "messages[1]", "needs content"),  # G11
        ([USER, {"role": "assistant", "content": "x"}], "messages", "last message"),  # G11
        (
            [{"role": "assistant", "content": "x"}, {"role": "assistant", "content": "y"}, USER],
            "messages",
            "in a row",
        ),
        ([RESULT], "messages", "follow their calls"),  # G10
        ([USER, CALLING], "messages", "without a tool message: call_1"),
        ([USER, CALLING, USER, RESULT], "messages", "without a tool message"),
        ([USER, CALLING, RESULT, RESULT], "messages", "follow their calls"),
        ([USER, CALLING, RESULT, CALLING, RESULT], "messages", "ids must be unique"),
        (
            [USER, CALLING, {"role": "tool", "tool_call_id": "call_1"}],
            "messages[2].content",
            "required",
        ),  # G9
        (
            [USER, CALLING, RESULT | {"content": [{"type": "text", "text": "x"}]}],
            "messages[2].content",
            "string",
        ),  # G9
        (
            [USER, calling(arguments=""), RESULT],
            "messages[1].tool_calls[0].function.arguments",
            "must be JSON",
        ),  # G8
        (
            [USER, calling(arguments="[]"), RESULT],
            "messages[1].tool_calls[0].function.arguments",
            "object",
        ),  # G8
        ([USER, calling(name="ns.f"), RESULT], "messages[1].tool_calls[0].function.name", "pattern"),
        (
            [USER, {"role": "assistant", "tool_calls": [CALL | {"id": "x" * 41}]}],
            "messages[1].tool_calls[0].id",
            "at most 40",
        ),
    ],
)
def test_a_history_out_of_order_is_named(messages: list[Any], param: str, rule: str) -> None:
    error = refusal_of(messages=messages)
    assert (error["param"], rule in error["message"]) == (param, True), error


def test_results_follow_their_calls_in_call_order() -> None:
    """R03: whatever order the items came in, the backend sees the order of the calls."""
    two = {"role": "assistant", "tool_calls": [CALL, CALL | {"id": "call_2"}]}
    other = RESULT | {"tool_call_id": "call_2"}
    assert read(orjson.dumps({"model": "demo", "messages": [USER, two, RESULT, other]}))
    assert "in the order of the calls" in refusal_of(messages=[USER, two, other, RESULT])["message"]
