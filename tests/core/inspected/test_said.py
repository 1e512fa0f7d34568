"""What was said: by the model, and to the client."""

from typing import Any

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.inspected.said import Said, said_by_model, said_to_client
from tests.support.tables import table

PROFILE = PROFILES["default"]


def chunk(**delta: Any) -> bytes:
    return b"data: " + jsontext.dumps({"choices": [{"index": 0, "delta": delta}]}) + b"\n\n"


def call(index: int, name: str | None, arguments: str) -> dict[str, Any]:
    return {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": arguments}}


def test_what_the_model_wrote_is_there_before_it_is_mended() -> None:
    reads = [
        chunk(reasoning_content="Hm. "),
        chunk(content="I look: <tool_call>"),
        chunk(content="{}</tool_call>"),
        chunk(tool_calls=[call(0, "look", '{"a"')]),
        chunk(tool_calls=[call(0, None, ": 1}")]),
        chunk(tool_calls=[call(1, "again", "{}")]),
        b"data: [DONE]\n\n",
    ]
    assert said_by_model(reads, PROFILE).as_json() == {
        "text": "I look: <tool_call>{}</tool_call>",
        "thoughts": "Hm. ",
        "calls": [{"name": "look", "arguments": '{"a": 1}'}, {"name": "again", "arguments": "{}"}],
    }


def test_a_reply_that_cannot_be_read_says_what_came_before() -> None:
    assert said_by_model([chunk(content="So"), b"data: {", b""], PROFILE).text == ["So"]
    assert said_by_model([b"<html>"], PROFILE) == Said()


RESPONSES = [
    {"type": "response.created", "response": {}},
    {"type": "response.reasoning_text.delta", "delta": "Hm."},
    {"type": "response.output_text.delta", "delta": "I "},
    {"type": "response.output_text.delta", "delta": "look."},
    {"type": "response.output_item.done", "item": {"type": "message", "content": [{"text": "I look."}]}},
    {
        "type": "response.output_item.done",
        "item": {"type": "function_call", "name": "look", "arguments": "{}"},
    },
    {"type": "response.output_item.done", "item": 1},
]
CHAT = [
    {"choices": [{"delta": {"content": "I ", "reasoning_content": "Hm."}}]},
    {"choices": [{"delta": {"content": "look."}}, 3]},
    {
        "choices": [
            {"delta": {"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": "{"}}, 5]}}
        ]
    },
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}, {"index": 1}]}}]},
    {"choices": [{"delta": None}]},
    {"choices": "none"},
    [],
]
WHOLE = {
    "output": [
        {"type": "reasoning", "summary": [{"text": "Hm."}], "content": None},
        {"type": "message", "content": [{"text": "I look."}, {"text": 3}]},
        {"type": "function_call", "name": "look", "arguments": "{}"},
    ]
}
WHOLE_CHAT = {
    "choices": [
        {
            "message": {
                "content": "I look.",
                "reasoning_content": "Hm.",
                "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}],
            }
        }
    ]
}


@table("events, answer", [(RESPONSES, None), (CHAT, None), ([], WHOLE), ([], WHOLE_CHAT)])
def test_what_the_client_got(events: list[Any], answer: Any) -> None:
    said = said_to_client([*map(jsontext.compact, events), "[DONE]"], answer)
    assert said.as_json() == {
        "text": "I look.",
        "thoughts": "Hm.",
        "calls": [{"name": "look", "arguments": "{}"}],
    }


ADDED = {"type": "response.output_item.added", "output_index": 1}
CUT = [
    {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "of no call"},
    ADDED | {"item": {"type": "function_call", "name": "look", "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"ci'},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "ty"},
]
CUT_CUSTOM = [
    ADDED | {"item": {"type": "custom_tool_call", "name": "look", "input": ""}},
    {"type": "response.custom_tool_call_input.delta", "output_index": 1, "delta": '{"city'},
]


@table("events", [CUT, CUT_CUSTOM])
def test_of_a_call_that_was_cut_the_client_got_the_beginning(events: list[Any]) -> None:
    began = [{"name": "look", "arguments": '{"city'}]
    assert said_to_client(map(jsontext.compact, events), None).as_json()["calls"] == began
    item = {"type": "function_call", "name": "look", "arguments": '{"city": 1}'}
    ended = [*events, ADDED | {"type": "response.output_item.done", "item": item}]
    assert said_to_client(map(jsontext.compact, ended), None).as_json()["calls"] == [
        {"name": "look", "arguments": '{"city": 1}'}
    ]


@table(
    "events, answer",
    [
        ([{"type": "response.refusal.delta", "delta": "No."}], None),
        ([], {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]}),
        ([{"choices": [{"delta": {"refusal": "No."}}]}], None),
        ([], {"choices": [{"message": {"content": None, "refusal": "No."}}]}),
    ],
)
def test_a_refusal_is_text(events: list[Any], answer: Any) -> None:
    assert said_to_client(map(jsontext.compact, events), answer).as_json()["text"] == "No."
    assert said_by_model([chunk(refusal="No.")], PROFILE).text == ["No."]


@table(
    "item, expected",
    [
        (
            {"type": "custom_tool_call", "name": "write", "input": "text"},
            {"name": "write", "arguments": "text"},
        ),
        (
            {"type": "local_shell_call", "action": {"a": 1}},
            {"name": "local_shell_call", "arguments": '{"a":1}'},
        ),
        ({}, {"name": "", "arguments": ""}),
    ],
)
def test_other_kinds_of_calls(item: dict[str, Any], expected: dict[str, str]) -> None:
    assert said_to_client([], {"output": [item]}).as_json()["calls"] == [expected]
