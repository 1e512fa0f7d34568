"""What is sent with each step of a loop, behind what is kept: by Semantic Kernel, and by the AI SDK in a conversation,
the prompt and all outputs so far; by Strands' stateful agents the whole turn. Semantic Kernel brings half a gigabyte of
packages; `manual_tests` has the client itself."""

from collections.abc import Callable
from typing import Any

import openai
import pytest

from proxy import demo
from tests.clients.spoken import roles
from tests.codex.backend import Model, call, calling
from tests.support.sockets import reply, text

PARIS: Any = {"role": "user", "content": [{"type": "input_text", "text": "What is the weather in Paris?"}]}
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def ran(response: Any) -> list[Any]:
    return [
        {"type": "function_call_output", "call_id": item.call_id, "output": "18 degrees"}
        for item in response.output
        if item.type == "function_call"
    ]


def named(response: Any) -> list[Any]:
    return [{"type": "item_reference", "id": item.id} for item in response.output]


def whole(response: Any) -> list[Any]:
    return [item.model_dump(exclude_none=True) for item in response.output]


@pytest.mark.parametrize("between", [lambda _: [], named, whole], ids=["nothing", "named", "whole"])
@pytest.mark.parametrize("in_conversation", [False, True])
def test_t20_a_loop_comes_to_its_end(
    client: openai.OpenAI,
    asked: list[demo.Recorded],
    in_conversation: bool,
    between: Callable[[Any], list[Any]],
) -> None:
    """The demo model calls its tool for each new question. Version 5 of the AI SDK names the call besides."""
    kept: Any = {"conversation": client.conversations.create().id} if in_conversation else {}
    first = client.responses.create(model="demo", input=[PARIS], tools=[WEATHER], **kept)
    behind: Any = kept or {"previous_response_id": first.id}
    second = client.responses.create(
        model="demo", input=[PARIS, *between(first), *ran(first)], tools=[WEATHER], **behind
    )
    assert "18 degrees" in second.output_text
    assert roles(asked) == ["user", "assistant", "tool"]
    assert "conversation has it already: 'input[0]'" in str(second.model_extra)


def test_t20_each_output_of_a_longer_loop_is_told_once(model: Model, scripted_url: str) -> None:
    model.plays(
        calling(call("get_weather", {"city": "Paris"})),
        calling(call("get_weather", {"city": "Rome"}, index=1)),
        reply(text("It is 18 degrees.")),
    )
    with openai.OpenAI(base_url=scripted_url, api_key="none", max_retries=0) as client:
        given: list[Any] = [PARIS]
        turn = client.responses.create(model="demo", input=given, tools=[WEATHER])
        while outputs := ran(turn):
            given += outputs
            turn = client.responses.create(
                model="demo", input=given, tools=[WEATHER], previous_response_id=turn.id
            )
    assert turn.output_text == "It is 18 degrees."
    assert [message["role"] for message in model.requests[-1]["messages"]] == [
        *("user", "assistant", "tool", "assistant", "tool")
    ]


def test_t20_a_whole_turn_is_told_once(model: Model, scripted_url: str) -> None:
    """Calls have no ids of items then, and their arguments are written anew."""
    both = calling(
        text("I look."),
        call("get_weather", {"city": "Paris"}),
        call("get_weather", {"city": "Évora"}, index=1),
    )
    model.plays(
        both, calling(call("get_weather", {"city": "Rome"}, index=2)), reply(text("It is 18 degrees."))
    )
    with openai.OpenAI(base_url=scripted_url, api_key="none", max_retries=0) as client:
        turn = client.responses.create(model="demo", input=[PARIS], tools=[WEATHER])
        so_far: list[Any] = [PARIS, {"role": "assistant", "content": "I look."}]
        while outputs := ran(turn):
            so_far += [*map(called, turn.output[-len(outputs) :]), *outputs]
            turn = client.responses.create(
                model="demo", input=so_far, tools=[WEATHER], previous_response_id=turn.id
            )
    assert turn.output_text == "It is 18 degrees."
    said = model.requests[-1]["messages"]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    assert {message["content"] for message in said if message["role"] == "tool"} == {"18 degrees"}


def called(item: Any) -> Any:
    arguments = item.arguments.replace('"É', '"\\u00c9').replace(":", " : ")
    return {"type": item.type, "call_id": item.call_id, "name": item.name, "arguments": arguments}
