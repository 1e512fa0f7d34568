"""The official Python SDK's helpers for streams and types, turn after turn behind what is kept."""

from typing import Any

import openai
import pytest
from pydantic import BaseModel

from proxy import demo
from tests.clients.spoken import roles

PARIS = "What is the weather in Paris?"
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city.",
    "strict": False,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


class Weather(BaseModel):
    temperature: int


def streamed(client: openai.OpenAI, **asked: Any) -> Any:
    with client.responses.stream(model="demo", tools=[WEATHER], **asked) as stream:
        return stream.get_final_response()


def whole(client: openai.OpenAI, **asked: Any) -> Any:
    return client.responses.create(model="demo", tools=[WEATHER], **asked)


def results(response: Any) -> Any:
    return [
        {"type": "function_call_output", "call_id": item.call_id, "output": '{"temperature": 18}'}
        for item in response.output
    ]


@pytest.mark.parametrize("ask", [whole, streamed])
@pytest.mark.parametrize("in_conversation", [False, True])
def test_t16_t75_a_tool_round_then_a_typed_answer(
    client: openai.OpenAI, asked: list[demo.Recorded], ask: Any, in_conversation: bool
) -> None:
    """Of the first turn only what was said is carried over: neither its tools nor its format."""
    kept: Any = {"conversation": client.conversations.create().id} if in_conversation else {}
    first = ask(client, input=PARIS, **kept)
    second = client.responses.parse(
        model="demo",
        input=results(first),
        text_format=Weather,
        **(kept or {"previous_response_id": first.id}),
    )
    assert second.output_parsed == Weather(temperature=18)
    assert roles(asked) == ["user", "assistant", "tool"]
    assert "tools" not in asked[-1].body
    third = ask(client, input="Thanks", **(kept or {"previous_response_id": second.id}))
    assert roles(asked) == ["user", "assistant", "tool", "assistant", "user"]
    assert "response_format" not in asked[-1].body
    assert (third.conversation is None) is not in_conversation
    assert third.previous_response_id == (None if in_conversation else second.id)
    assert third.usage.input_tokens > first.usage.input_tokens
