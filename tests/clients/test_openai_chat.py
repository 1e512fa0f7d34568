"""The official Python SDK on the Chat Completions surface: create, stream(), parse(), sync and async."""

import re
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from proxy import demo
from proxy.core import jsontext

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
HELLO: Any = [{"role": "user", "content": "hello"}]
PARIS: Any = [{"role": "user", "content": "What is the weather in Paris?"}]
BOTH: Any = [{"role": "user", "content": "Weather in Paris and London?"}]


class Meeting(BaseModel):
    host: str
    guests: list[str]


@pytest.fixture
async def aclient(how: dict[str, Any]) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(**how) as client:
        yield client


def calls(completion: ChatCompletion) -> list[Any]:
    return completion.choices[0].message.tool_calls or []


def results(completion: ChatCompletion, said: str) -> list[Any]:
    """The next turn's messages: what came back, and what the tools said to each call."""
    outputs = [{"role": "tool", "tool_call_id": call.id, "content": said} for call in calls(completion)]
    return [completion.choices[0].message, *outputs]


def test_text_whole_and_streamed_is_the_same(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="demo", messages=HELLO)
    assert (whole.object, whole.model) == ("chat.completion", "demo")
    assert re.fullmatch(r"chatcmpl-[0-9a-f]{32}", whole.id)
    [choice] = whole.choices
    assert choice.finish_reason == "stop"
    assert "“hello”" in (choice.message.content or "")
    assert whole.usage is not None
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens > 0
    chunks = list(client.chat.completions.create(model="demo", messages=HELLO, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == choice.message.content
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert len({chunk.id for chunk in chunks}) == 1


def test_usage_ends_a_stream_that_asks_for_it(client: openai.OpenAI) -> None:
    asking = client.chat.completions.create(
        model="demo", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    *chunks, last = list(asking)
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)
    assert not last.choices
    assert last.usage is not None
    assert last.usage.total_tokens == last.usage.prompt_tokens + last.usage.completion_tokens > 0


def test_a_tool_loop_over_two_turns(client: openai.OpenAI) -> None:
    first = client.chat.completions.create(model="demo", messages=PARIS, tools=[WEATHER])
    [call] = calls(first)
    assert first.choices[0].finish_reason == "tool_calls"
    assert first.choices[0].message.content is None
    assert re.fullmatch(r"call_[0-9a-f]{32}", call.id)
    assert (call.function.name, call.function.arguments) == ("get_weather", '{"city":"Paris"}')
    assert first.model_extra is not None
    assert "tool_call_id" in first.model_extra["_proxy"]["warnings"][0]
    history = [*PARIS, *results(first, "18 °C, clear")]
    second = client.chat.completions.create(model="demo", messages=history, tools=[WEATHER])
    assert "18 °C, clear" in (second.choices[0].message.content or "")
    assert second.choices[0].finish_reason == "stop"


def test_parallel_calls_are_whole_one_after_another(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(model="demo", messages=BOTH, tools=[WEATHER], stream=True)
    said: dict[int, str] = {}
    heads = []
    reasons = []
    for chunk in stream:
        reasons.append(chunk.choices[0].finish_reason)
        for call in chunk.choices[0].delta.tool_calls or ():
            assert call.index >= max(said, default=0)
            assert call.function is not None
            said[call.index] = said.get(call.index, "") + (call.function.arguments or "")
            heads += [(call.id, call.type, call.function.name)] if call.id else []
    assert [jsontext.loads(said[index])["city"] for index in range(2)] == ["Paris", "London"]
    assert [head[1:] for head in heads] == [("function", "get_weather")] * 2
    assert len({call_id for call_id, *_ in heads}) == 2
    assert reasons[-1] == "tool_calls"


def test_parallel_calls_can_be_switched_off(client: openai.OpenAI) -> None:
    completion = client.chat.completions.create(
        model="demo", messages=BOTH, tools=[WEATHER], parallel_tool_calls=False
    )
    assert len(calls(completion)) == 1


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("none", 0),
        ("auto", 0),
        ("required", 1),
        ({"type": "function", "function": {"name": "get_weather"}}, 1),
    ],
)
def test_tool_choice_is_obeyed(client: openai.OpenAI, choice: Any, expected: int) -> None:
    """C04"""
    completion = client.chat.completions.create(
        model="demo", messages=HELLO, tools=[WEATHER], tool_choice=choice
    )
    assert len(calls(completion)) == expected


def test_the_old_form_of_tools(client: openai.OpenAI) -> None:
    functions = [WEATHER["function"]]
    first = client.chat.completions.create(model="demo", messages=PARIS, functions=functions)
    called = first.choices[0].message.function_call
    assert called is not None
    assert (called.name, called.arguments) == ("get_weather", '{"city":"Paris"}')
    assert first.choices[0].finish_reason == "function_call"
    said: Any = [first.choices[0].message, {"role": "function", "name": "get_weather", "content": "18 °C"}]
    second = client.chat.completions.create(model="demo", messages=[*PARIS, *said], functions=functions)
    assert "18 °C" in (second.choices[0].message.content or "")


def test_the_stream_helper_rebuilds_the_whole(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(
        model="demo-talk", messages=PARIS, tools=[WEATHER], stream_options={"include_usage": True}
    ) as stream:
        events = list(stream)
        final = stream.get_final_completion()
    said = "".join(event.delta for event in events if event.type == "content.delta")
    [done] = [event for event in events if event.type == "tool_calls.function.arguments.done"]
    assert said == final.choices[0].message.content != ""
    assert (done.name, done.arguments) == ("get_weather", calls(final)[0].function.arguments)
    assert final.choices[0].finish_reason == "tool_calls"
    assert final.usage is not None


def test_reasoning_comes_beside_the_text(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="demo", messages=HELLO, reasoning_effort="low")
    thought = whole.choices[0].message.model_extra["reasoning_content"]  # type: ignore[index]
    assert "directly" in thought
    stream = client.chat.completions.create(model="demo", messages=HELLO, reasoning_effort="low", stream=True)
    deltas = [chunk.choices[0].delta.model_extra or {} for chunk in stream]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == thought


def test_a_refusal_is_a_refusal(client: openai.OpenAI) -> None:
    please: Any = [{"role": "user", "content": "please refuse"}]
    message = client.chat.completions.create(model="demo", messages=please).choices[0].message
    assert message.content is None
    assert message.refusal
    with client.chat.completions.stream(model="demo", messages=please) as stream:
        assert "".join(event.delta for event in stream if event.type == "refusal.delta") == message.refusal


def test_structured_output_is_parsed(client: openai.OpenAI) -> None:
    asked: Any = [{"role": "user", "content": "Ann meets Bob and Cid"}]
    expected = Meeting(host="Ann", guests=["Bob", "Cid"])
    parsed = client.chat.completions.parse(model="demo", messages=asked, response_format=Meeting)
    assert parsed.choices[0].message.parsed == expected
    with client.chat.completions.stream(model="demo", messages=asked, response_format=Meeting) as stream:
        assert stream.until_done().get_final_completion().choices[0].message.parsed == expected


def test_pydantic_tools_are_parsed(client: openai.OpenAI) -> None:
    asked: Any = [{"role": "user", "content": "Plan a meeting of Ann with Bob"}]
    tool = openai.pydantic_function_tool(Meeting, name="plan_meeting")
    parsed = client.chat.completions.parse(model="demo", messages=asked, tools=[tool])
    [call] = calls(parsed)
    assert call.function.parsed_arguments == Meeting(host="Ann", guests=["Bob"])


def test_a_custom_tool_gets_its_input_as_text(client: openai.OpenAI) -> None:
    tool: Any = {"type": "custom", "custom": {"name": "note", "description": "Takes a note."}}
    completion = client.chat.completions.create(
        model="demo", messages=HELLO, tools=[tool], tool_choice="required"
    )
    [call] = calls(completion)
    assert (call.type, call.custom.name) == ("custom", "note")
    assert isinstance(call.custom.input, str)
    assert completion.choices[0].finish_reason == "tool_calls"


def test_a_length_limit_is_told_and_raises_where_whole_text_is_needed(client: openai.OpenAI) -> None:
    completion = client.chat.completions.create(model="demo", messages=HELLO, max_tokens=16)
    assert completion.choices[0].finish_reason == "length"
    assert completion.choices[0].message.content
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(model="demo", messages=HELLO, max_tokens=1, response_format=Meeting)


def test_logprobs_come_when_asked_for(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="demo", messages=HELLO, logprobs=True, top_logprobs=1)
    told = whole.choices[0].logprobs
    assert told is not None
    assert told.content is not None
    assert "".join(entry.token for entry in told.content) == whole.choices[0].message.content
    assert told.content[0].top_logprobs[0].token == told.content[0].token
    assert client.chat.completions.create(model="demo", messages=HELLO).choices[0].logprobs is None


def test_the_clients_own_key_stays_here(client: openai.OpenAI, asked: list[demo.Recorded]) -> None:
    client.chat.completions.create(model="demo", messages=HELLO)
    assert "Authorization" not in asked[0].headers


def test_errors_say_what_and_where(client: openai.OpenAI) -> None:
    orphan: Any = [*HELLO, {"role": "tool", "tool_call_id": "x", "content": "y"}]
    with pytest.raises(openai.BadRequestError) as bad:
        client.chat.completions.create(model="demo", messages=orphan)
    assert bad.value.param == "messages[1].tool_call_id"
    assert bad.value.type == "invalid_request_error"
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="demo-nope", messages=HELLO, stream=True)
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.RateLimitError) as busy:
        client.chat.completions.create(model="demo-busy", messages=HELLO)
    assert busy.value.response.headers["retry-after"] == "1"
    assert busy.value.request_id


@pytest.mark.parametrize("model", ["demo-error", "demo-cut"])
def test_a_failure_in_the_middle_raises_after_what_was_said(client: openai.OpenAI, model: str) -> None:
    """E3: the SDK takes the end of a stream for its success, unless an error says otherwise."""
    said: list[Any] = []
    stream = client.chat.completions.create(model=model, messages=HELLO, stream=True)
    with pytest.raises(openai.APIError) as failure:
        said.extend(chunk.choices[0] for chunk in stream)
    assert any(choice.delta.content for choice in said)
    assert {choice.finish_reason for choice in said} == {None}
    assert failure.value.code
    with pytest.raises(openai.InternalServerError):
        client.chat.completions.create(model=model, messages=HELLO)


async def test_async_text_and_tool_loop(aclient: openai.AsyncOpenAI) -> None:
    first = await aclient.chat.completions.create(model="demo", messages=PARIS, tools=[WEATHER])
    history = [*PARIS, *results(first, "18 °C")]
    async with aclient.chat.completions.stream(model="demo", messages=history, tools=[WEATHER]) as stream:
        said = "".join([event.delta async for event in stream if event.type == "content.delta"])
        final = await stream.get_final_completion()
    assert final.choices[0].message.content == said
    assert "18 °C" in said


async def test_async_structured_output_is_parsed(aclient: openai.AsyncOpenAI) -> None:
    asked: Any = [{"role": "user", "content": "Ann meets Bob"}]
    parsed = await aclient.chat.completions.parse(model="demo", messages=asked, response_format=Meeting)
    assert parsed.choices[0].message.parsed == Meeting(host="Ann", guests=["Bob"])


async def test_who_leaves_a_stream_harms_nobody(aclient: openai.AsyncOpenAI) -> None:
    stream = await aclient.chat.completions.create(model="demo", messages=HELLO, stream=True)
    await anext(stream)
    await stream.close()
    again = await aclient.chat.completions.create(model="demo", messages=HELLO)
    assert again.choices[0].finish_reason == "stop"
