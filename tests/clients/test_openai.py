"""The official Python SDK, all its ways of asking: create, stream(), parse(), sync and async."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseFunctionToolCall
from pydantic import BaseModel

from proxy import demo
from proxy.core import jsontext

WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
PARIS = "What is the weather in Paris?"


class Meeting(BaseModel):
    host: str
    guests: list[str]


@pytest.fixture
async def aclient(how: dict[str, Any]) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(**how) as client:
        yield client


def calls(response: Response) -> list[ResponseFunctionToolCall]:
    return [item for item in response.output if item.type == "function_call"]


def results(response: Response, said: str) -> list[Any]:
    """The next turn's input: what came back, and what the tools said to each call."""
    outputs = [
        {"type": "function_call_output", "call_id": call.call_id, "output": said} for call in calls(response)
    ]
    return [*response.output, *outputs]


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert "demo" in [model.id for model in client.models.list()]


def test_text_whole_and_streamed_is_the_same(client: openai.OpenAI) -> None:
    whole = client.responses.create(model="demo", input="good morning", instructions="Be kind.")
    assert (whole.status, whole.model, whole.instructions) == ("completed", "demo", "Be kind.")
    assert "“good morning”" in whole.output_text
    assert whole.usage is not None
    assert whole.usage.total_tokens == whole.usage.input_tokens + whole.usage.output_tokens > 0
    stream = client.responses.create(model="demo", input="good morning", instructions="Be kind.", stream=True)
    said = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    assert said == whole.output_text


def test_a_tool_loop_over_two_turns(client: openai.OpenAI) -> None:
    first = client.responses.create(model="demo", input=PARIS, tools=[WEATHER])
    assert [(call.name, jsontext.loads(call.arguments)) for call in calls(first)] == [
        ("get_weather", {"city": "Paris"})
    ]
    history = [{"role": "user", "content": PARIS}, *results(first, "18 °C, clear")]
    second = client.responses.create(model="demo", input=history, tools=[WEATHER])
    assert "18 °C, clear" in second.output_text
    assert not calls(second)


def test_parallel_calls_one_after_another(client: openai.OpenAI) -> None:
    """R06: each call's events are over before the next one's begin."""
    stream = client.responses.create(
        model="demo", input="Weather in Paris and London?", tools=[WEATHER], stream=True
    )
    events = [event for event in stream if hasattr(event, "output_index")]
    assert [event.output_index for event in events] == sorted(event.output_index for event in events)
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [jsontext.loads(item.arguments)["city"] for item in done] == ["Paris", "London"]
    assert len({item.call_id for item in done}) == len({item.id for item in done}) == 2


def test_parallel_calls_can_be_switched_off(client: openai.OpenAI) -> None:
    response = client.responses.create(
        model="demo", input="Weather in Paris and London?", tools=[WEATHER], parallel_tool_calls=False
    )
    assert len(calls(response)) == 1


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("none", 0),
        ("auto", 0),
        ("required", 1),
        ({"type": "function", "name": "get_weather"}, 1),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "get_weather"}],
            },
            1,
        ),
    ],
)
def test_tool_choice_is_obeyed(client: openai.OpenAI, choice: Any, expected: int) -> None:
    """R02"""
    response = client.responses.create(model="demo", input="hello", tools=[WEATHER], tool_choice=choice)
    assert len(calls(response)) == expected


def test_the_stream_helper_rebuilds_our_final_object(client: openai.OpenAI) -> None:
    with client.responses.stream(model="demo-talk", input=PARIS, tools=[WEATHER]) as stream:
        snapshots = [
            event.snapshot for event in stream if event.type == "response.function_call_arguments.delta"
        ]
        final = stream.get_final_response()
    assert [item.type for item in final.output] == ["message", "function_call"]
    assert snapshots[-1] == calls(final)[0].arguments


def test_reasoning_comes_as_a_summary_before_the_text(client: openai.OpenAI) -> None:
    with client.responses.stream(
        model="demo", input="hello", reasoning={"effort": "low", "summary": "auto"}
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert [item.type for item in final.output] == ["reasoning", "message"]
    assert "directly" in final.output[0].summary[0].text
    assert kinds.index("response.reasoning_summary_text.done") < kinds.index("response.output_text.delta")
    assert final.usage is not None
    assert final.usage.output_tokens_details.reasoning_tokens > 0


def test_a_refusal_is_a_refusal(client: openai.OpenAI) -> None:
    with client.responses.stream(model="demo", input="please refuse") as stream:
        said = "".join(event.delta for event in stream if event.type == "response.refusal.delta")
        content = stream.get_final_response().output[0].content[0]
    assert (content.type, content.refusal) == ("refusal", said)


def test_structured_output_is_parsed(client: openai.OpenAI) -> None:
    response = client.responses.parse(model="demo", input="Ann meets Bob and Cid", text_format=Meeting)
    assert response.output_parsed == Meeting(host="Ann", guests=["Bob", "Cid"])
    with client.responses.stream(model="demo", input="Ann meets Bob and Cid", text_format=Meeting) as stream:
        stream.until_done()
        assert stream.get_final_response().output_parsed == response.output_parsed


def test_pydantic_tools_are_parsed(client: openai.OpenAI) -> None:
    tool = openai.pydantic_function_tool(Meeting, name="plan_meeting")
    response = client.responses.parse(model="demo", input="Plan a meeting of Ann with Bob", tools=[tool])
    assert calls(response)[0].parsed_arguments == Meeting(host="Ann", guests=["Bob"])


def test_a_length_limit_makes_it_incomplete(client: openai.OpenAI) -> None:
    response = client.responses.create(model="demo", input="hello", max_output_tokens=16)
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.output_text


def test_logprobs_come_when_included(client: openai.OpenAI) -> None:
    response = client.responses.create(
        model="demo", input="hello", include=["message.output_text.logprobs"], top_logprobs=1
    )
    told = response.output[0].content[0].logprobs
    assert "".join(entry.token for entry in told) == response.output_text
    assert told[0].top_logprobs[0].token == told[0].token


def test_an_image_reaches_the_backend(client: openai.OpenAI, asked: list[demo.Recorded]) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}
    content = [{"type": "input_text", "text": "what is this"}, image]
    client.responses.create(model="demo", input=[{"role": "user", "content": content}])
    assert asked[0].body["messages"][-1]["content"][1]["image_url"]["url"] == image["image_url"]


def test_the_clients_own_key_stays_here(client: openai.OpenAI, asked: list[demo.Recorded]) -> None:
    client.responses.create(model="demo", input="hello")
    assert "Authorization" not in asked[0].headers


def test_errors_say_what_and_where(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as bad:
        client.responses.create(
            model="demo", input=[{"type": "function_call_output", "call_id": "x", "output": "y"}]
        )
    assert bad.value.param == "input"
    assert bad.value.type == "invalid_request_error"
    with pytest.raises(openai.NotFoundError) as missing:
        client.responses.create(model="demo-nope", input="hello")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.RateLimitError) as busy:
        client.responses.create(model="demo-busy", input="hello")
    assert busy.value.response.headers["retry-after"] == "1"
    assert busy.value.request_id


@pytest.mark.parametrize("model", ["demo-error", "demo-cut"])
def test_a_failure_in_the_middle_raises_after_what_was_said(client: openai.OpenAI, model: str) -> None:
    stream = client.responses.create(model=model, input="hello", stream=True)
    kinds = [next(stream).type for _ in range(5)]
    assert kinds[-1] == "response.output_text.delta"
    with pytest.raises(openai.APIError):
        list(stream)


def test_a_failure_in_the_middle_of_what_was_not_streamed_is_a_status(client: openai.OpenAI) -> None:
    with pytest.raises(openai.InternalServerError):
        client.responses.create(model="demo-error", input="hello")


async def test_async_text_and_tool_loop(aclient: openai.AsyncOpenAI) -> None:
    first = await aclient.responses.create(model="demo", input=PARIS, tools=[WEATHER])
    history = [{"role": "user", "content": PARIS}, *results(first, "18 °C")]
    async with aclient.responses.stream(model="demo", input=history, tools=[WEATHER]) as stream:
        said = "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])
        final = await stream.get_final_response()
    assert final.output_text == said
    assert "18 °C" in said


async def test_async_structured_output_is_parsed(aclient: openai.AsyncOpenAI) -> None:
    response = await aclient.responses.parse(model="demo", input="Ann meets Bob", text_format=Meeting)
    assert response.output_parsed == Meeting(host="Ann", guests=["Bob"])


async def test_who_leaves_a_stream_harms_nobody(aclient: openai.AsyncOpenAI) -> None:
    stream = await aclient.responses.create(model="demo", input="hello", stream=True)
    await anext(stream)
    await stream.close()
    assert (await aclient.responses.create(model="demo", input="hello")).status == "completed"
