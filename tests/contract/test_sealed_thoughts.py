"""What a model seals of its thoughts, over real sockets: it comes back before the call that it led to, in the next
turn, to the same model of the same backend, and to nobody else.
"""

from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.contract.client import proxy
from tests.contract.item_backend import ItemBackend, Json, post, saying

CLOCK: Json = {"type": "function", "name": "clock", "parameters": {"type": "object", "properties": {}}}
THOUGHT: Json = {
    "type": "reasoning",
    "id": "rs_theirs",
    "summary": [{"type": "summary_text", "text": "A clock is needed."}],
    "encrypted_content": "gAAAAABsealed",
}
CALL: Json = {
    "type": "function_call",
    "id": "fc_theirs",
    "call_id": "call_theirs",
    "name": "clock",
    "arguments": "{}",
    "status": "completed",
}
SAID: Json = {
    "type": "message",
    "id": "msg_theirs",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Noon.", "annotations": []}],
}
MODEL, OTHER = "gpt-5.6", "gpt-5.5"
INCLUDE = ["reasoning.encrypted_content"]
ASK: Json = {"model": MODEL, "input": [{"role": "user", "content": "What time is it?"}], "tools": [CLOCK]}


def returned(output: list[Json]) -> list[Json]:
    (call,) = (item for item in output if item["type"] == "function_call")
    return [{"type": "function_call_output", "call_id": call["call_id"], "output": "12:00"}]


def kinds(body: Json) -> list[str]:
    return [item["type"] for item in body["input"]]


def sealed(backend: ItemBackend) -> list[str]:
    """What was sealed, in the last request."""
    return [
        item.get("encrypted_content")
        for item in backend.asked[-1].body["input"]
        if item["type"] == "reasoning"
    ]


@pytest.mark.parametrize("carried", ["by the client", "by the store"])
async def test_it_comes_back_before_the_call_that_it_led_to(carried: str) -> None:
    async with (
        saying([THOUGHT, CALL], [SAID]) as backend,
        proxy({"url": backend.url, "profile": "openai"}) as url,
    ):
        if carried == "by the client":
            told = await post(url, "/v1/responses", ASK | {"include": INCLUDE, "store": False})
            assert THOUGHT["encrypted_content"] not in str(told), (
                "it is sealed once more, for this proxy alone"
            )
            history = [*ASK["input"], *told["output"], *returned(told["output"])]
            last = await post(url, "/v1/responses", ASK | {"input": history, "include": INCLUDE})
        else:
            told = await post(url, "/v1/responses", ASK)
            following = {"input": returned(told["output"]), "previous_response_id": told["id"]}
            last = await post(url, "/v1/responses", ASK | following)
    first, second = (each.body for each in backend.asked)
    assert first["include"] == second["include"] == INCLUDE
    assert (first["store"], second["store"]) == (False, False)
    assert kinds(second) == ["message", "reasoning", "function_call", "function_call_output"]
    assert second["input"][1] == THOUGHT
    assert last["output"][-1]["content"][0]["text"] == "Noon."


async def test_a_chat_client_that_cannot_carry_it_has_it_remembered() -> None:
    function = {"type": "function", "function": {"name": "clock", "parameters": CLOCK["parameters"]}}
    ask: Json = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "What time is it?"}],
        "tools": [function],
    }
    async with (
        saying([THOUGHT, CALL], [SAID]) as backend,
        proxy({"url": backend.url, "profile": "openai"}) as url,
    ):
        told = await post(url, "/v1/chat/completions", ask)
        message = told["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "12:00"}
        said = {"role": "assistant", "content": None, "tool_calls": message["tool_calls"]}
        await post(url, "/v1/chat/completions", ask | {"messages": [*ask["messages"], said, result]})
    assert sealed(backend) == [THOUGHT["encrypted_content"]]


@pytest.mark.parametrize("model", [MODEL, "there", OTHER])
async def test_it_goes_to_the_model_that_has_made_it(model: str) -> None:
    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(saying([THOUGHT, CALL], [SAID])) for _ in "12"]
        backends: Any = {
            name: {"profile": "openai", "url": at.url} for name, at in (("one", one), ("two", two))
        }
        backends["two"]["models"] = {"there": MODEL}
        routing = {"default": "one", "models": {"there": "two"}}
        url = await stack.enter_async_context(proxy(backends=backends, routing=routing))
        told = await post(url, "/v1/responses", ASK | {"include": INCLUDE})
        history = [*ASK["input"], *told["output"], *returned(told["output"])]
        await post(url, "/v1/responses", ASK | {"model": model, "input": history, "include": INCLUDE})
        assert sealed(two if model == "there" else one) == (
            [THOUGHT["encrypted_content"]] if model == MODEL else []
        )


async def test_what_cannot_be_opened_any_more_is_left_out() -> None:
    """For this request only: what is sealed from then on may be opened."""

    def refuse(body: Json) -> str | None:
        known = THOUGHT["encrypted_content"] not in str(body)
        return None if known else "The encrypted content gAAA could not be verified."

    following = THOUGHT | {"encrypted_content": "gBBB"}
    async with (
        saying([THOUGHT, CALL], [following, CALL], [SAID], refuse=refuse) as backend,
        proxy({"url": backend.url, "profile": "openai"}) as url,
    ):
        told = await post(url, "/v1/responses", ASK)
        for _ in range(2):
            next_turn = {"input": returned(told["output"]), "previous_response_id": told["id"]}
            told = await post(url, "/v1/responses", ASK | next_turn)
    assert [sum(item["type"] == "reasoning" for item in each.body["input"]) for each in backend.asked] == [
        0, 1, 0, 2, 0,
    ]  # fmt: skip
    assert told["output"][-1]["content"][0]["text"] == "Noon."
