"""Tools that are no functions, over real sockets: as they are to a backend that takes them so, else as functions.

Either way the client gets the items that it knows.
"""

from typing import Any

import pytest
from openai.types.responses import ResponseInputItemParam, ResponseOutputItem, ToolParam
from pydantic import TypeAdapter

from tests.contract.client import proxy
from tests.contract.item_backend import Json, post, saying

LARK = {"type": "grammar", "syntax": "lark", "definition": 'start: "x"'}
FIND = {
    "type": "function",
    "name": "find",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
}
TOOLS: list[Json] = [
    {"type": "custom", "name": "patch", "description": "Patches.", "format": LARK},
    {"type": "namespace", "name": "docs", "description": "Documents.", "tools": [FIND]},
    {"type": "shell"},
    {"type": "apply_patch"},
]
LIMITS = {"timeout_ms": None, "max_output_length": None}
OPERATION = {"type": "delete_file", "path": "a"}
CALLS: list[Json] = [
    {"type": "custom_tool_call", "id": "ctc_t", "call_id": "call_1", "name": "patch", "input": "x"},
    {
        "type": "function_call",
        "id": "fc_t",
        "call_id": "call_2",
        "namespace": "docs",
        "name": "find",
        "arguments": '{"q":"y"}',
        "status": "completed",
    },
    {
        "type": "shell_call",
        "id": "sh_t",
        "call_id": "call_3",
        "action": {"commands": ["ls"]} | LIMITS,
        "status": "completed",
    },
    {
        "type": "apply_patch_call",
        "id": "apc_t",
        "call_id": "call_4",
        "operation": OPERATION,
        "status": "completed",
    },
]
PRINTED = [{"stdout": "a\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 3}}]
RESULTS: list[Json] = [
    {"type": "custom_tool_call_output", "output": "Done."},
    {"type": "function_call_output", "output": "Found."},
    {"type": "shell_call_output", "output": PRINTED},
    {"type": "apply_patch_call_output", "status": "failed", "output": "No such file."},
]
SAID: Json = {
    "type": "message",
    "id": "msg_t",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "So.", "annotations": [], "logprobs": []}],
}
AS_FUNCTIONS: list[Json] = [
    {"name": "patch", "arguments": '{"input":"x"}'},
    {"name": "docs__find", "arguments": '{"q":"y"}'},
    {"name": "shell", "arguments": '{"commands":["ls"]}'},
    {"name": "apply_patch", "arguments": '{"type":"delete_file","path":"a","diff":""}'},
]


def functions(*calls: Json) -> list[Json]:
    return [
        {"type": "function_call", "id": f"fc_{place}", "call_id": f"call_{place}", "status": "completed"}
        | call
        for place, call in enumerate(calls, 1)
    ]


def as_client_knows_it(item: Json) -> Json:
    return {name: value for name, value in item.items() if name not in ("id", "call_id", "status")}


async def two_turns(url: str, model: str) -> list[Json]:
    ask: Json = {"model": model, "input": [{"role": "user", "content": "Work."}], "tools": TOOLS}
    told = await post(url, "/v1/responses", ask)
    made = told["output"]
    results = [result | {"call_id": call["call_id"]} for result, call in zip(RESULTS, made, strict=True)]
    await post(url, "/v1/responses", ask | {"input": [*ask["input"], *made, *results]})
    return list(made)


async def test_they_go_as_they_are_and_come_back_as_the_items_that_they_are() -> None:
    async with saying(CALLS, [SAID]) as (backend, asked), proxy({"url": backend, "profile": "openai"}) as url:
        made = await two_turns(url, "gpt-5.6")
    first, second = (each.body for each in asked)
    inner = FIND | {"strict": False}
    assert first["tools"] == [TOOLS[0], TOOLS[1] | {"tools": [inner]}, *TOOLS[2:]]
    TypeAdapter(list[ToolParam]).validate_python(first["tools"])
    assert list(map(as_client_knows_it, made)) == list(map(as_client_knows_it, CALLS))
    TypeAdapter(list[ResponseOutputItem]).validate_python(made)
    _, *items = second["input"]
    TypeAdapter(list[ResponseInputItemParam]).validate_python(items)
    assert [item["type"] for item in items] == [item["type"] for item in [*CALLS, *RESULTS]]
    for told, meant in zip(items, [*CALLS, *RESULTS], strict=True):
        told.get("action", {}).update(LIMITS)
        assert as_client_knows_it(told) == as_client_knows_it(meant)
    assert [item["call_id"] for item in items] == ["call_1", "call_2", "call_3", "call_4"] * 2


async def test_elsewhere_they_are_functions() -> None:
    there: Json = {"profile": "default", "overrides": {"wire": "responses"}}
    said = functions(*AS_FUNCTIONS)
    async with saying(said, [SAID]) as (backend, asked), proxy({"url": backend, **there}) as url:
        made = await two_turns(url, "m")
    first, second = (each.body for each in asked)
    assert [(tool["type"], tool["name"]) for tool in first["tools"]] == [
        ("function", call["name"]) for call in AS_FUNCTIONS
    ]
    assert list(map(as_client_knows_it, made)) == list(map(as_client_knows_it, CALLS))
    _, *items = second["input"]
    assert [item["type"] for item in items] == ["function_call"] * 4 + ["function_call_output"] * 4


async def test_a_model_that_knows_one_of_them_not_gets_a_function_from_then_on() -> None:
    def refuse(body: Json) -> str | None:
        knows = all(tool["type"] != "apply_patch" for tool in body["tools"])
        return None if knows else "Tool 'apply_patch' is not supported with gpt-5.6."

    ask = {"model": "gpt-5.6", "input": "Work.", "tools": TOOLS}
    async with (
        saying([SAID], refuse=refuse) as (backend, asked),
        proxy({"url": backend, "profile": "openai"}) as url,
    ):
        for _ in range(2):
            await post(url, "/v1/responses", ask)
    kinds = [[tool["type"] for tool in each.body["tools"]] for each in asked]
    native = ["custom", "namespace", "shell"]
    assert kinds == [[*native, "apply_patch"], [*native, "function"], [*native, "function"]]


@pytest.mark.parametrize(
    ("choice", "said", "there"),
    [
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "patch"}]},
            SAID,
            None,
        ),
        ({"type": "custom", "name": "patch"}, CALLS[0], None),
        ({"type": "shell"}, CALLS[2], None),
        ({"type": "function", "name": "find"}, CALLS[1], "required"),
    ],
)
async def test_a_choice_is_told_as_it_is_where_there_are_words_for_it(
    choice: Any, said: Json, there: Any
) -> None:
    async with saying([said]) as (backend, asked), proxy({"url": backend, "profile": "openai"}) as url:
        ask = {"model": "gpt-5.6", "input": "Work.", "tools": TOOLS, "tool_choice": choice}
        told = await post(url, "/v1/responses", ask)
    assert told["tool_choice"] == choice
    assert [item["type"] for item in told["output"]] == [said["type"]]
    ((_, body, _),) = asked
    assert body["tool_choice"] == (there or choice)
    assert len(body["tools"]) == (1 if there else 4)
