"""The scripted Chat backend against the official SDK: what it sends is what that API sends (P01)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import openai
import pytest

from proxy.core import jsontext
from tests.scripted import chat
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import serving

HI = [{"role": "user", "content": "Hi"}]
CALLS = (SayCall("call_1", "get_weather", {"city": "Oslo"}), SayCall("call_2", "get_time", {}))
BOTH = Say(thinking="Hm.", signature="c2ln", text="Both.", calls=CALLS)


@asynccontextmanager
async def asking(*says: Say) -> AsyncIterator[openai.AsyncOpenAI]:
    async with serving(chat.provider(), *says) as backend:
        url = backend.url + chat.PATH.removesuffix("/chat/completions")
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            yield client


async def test_a_stream_becomes_the_message_that_was_meant() -> None:
    async with asking(BOTH) as client:
        options = {"include_usage": True}
        async with client.chat.completions.stream(model="m", messages=HI, stream_options=options) as stream:
            final = await stream.get_final_completion()
    (choice,) = final.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Both."
    said = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert said == [(call.id, call.name, jsontext.compact(call.arguments)) for call in CALLS]
    assert final.usage.total_tokens == sum(BOTH.usage)


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        (Say(text="It is c", finish="length"), "length"),
        (Say(text="It", finish="filter"), "content_filter"),
        (Say(refusal="No.", finish="refusal"), "content_filter"),
    ],
)
async def test_why_it_ended(says: Say, reason: str) -> None:
    async with asking(says) as client:
        stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
        choices = [choice async for chunk in stream for choice in chunk.choices]
    assert choices[-1].finish_reason == reason
    assert "".join(choice.delta.content or "" for choice in choices) == says.text
    assert "".join(choice.delta.refusal or "" for choice in choices) == says.refusal


async def test_an_error_in_a_stream_raises() -> None:
    async with asking(Say(text="It is", error_midway="Crashed.")) as client:
        stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
        with pytest.raises(openai.APIError, match=r"Crashed\."):
            async for _ in stream:
                pass


async def test_a_refused_request_raises() -> None:
    async with asking(Say(status=429, refusal="Too many.")) as client:
        with pytest.raises(openai.RateLimitError, match=r"Too many\."):
            await client.chat.completions.create(model="m", messages=HI, stream=True)


async def test_a_whole_body() -> None:
    async with asking(BOTH) as client:
        final = await client.chat.completions.create(model="m", messages=HI, stream=False)
    (choice,) = final.choices
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", "Both.")
    assert [call.id for call in choice.message.tool_calls] == ["call_1", "call_2"]
