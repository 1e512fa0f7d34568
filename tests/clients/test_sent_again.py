"""What Semantic Kernel sends with each step of a loop, and the AI SDK in a conversation: the prompt and all outputs so
far, behind what is kept. It brings half a gigabyte of packages; `manual_tests` has the client itself."""

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


@pytest.mark.parametrize("in_conversation", [False, True])
def test_t20_a_loop_comes_to_its_end(
    client: openai.OpenAI, asked: list[demo.Recorded], in_conversation: bool
) -> None:
    """The demo model calls its tool for each new question."""
    kept: Any = {"conversation": client.conversations.create().id} if in_conversation else {}
    first = client.responses.create(model="demo", input=[PARIS], tools=[WEATHER], **kept)
    behind: Any = kept or {"previous_response_id": first.id}
    second = client.responses.create(model="demo", input=[PARIS, *ran(first)], tools=[WEATHER], **behind)
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
