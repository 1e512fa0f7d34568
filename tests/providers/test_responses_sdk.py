"""The scripted Responses backend against the official SDK: what it sends is what that API sends, and what it is sent
by the proxy is what the SDK would send (P01)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter

from proxy.core import jsontext
from tests.contract.cases import CASES
from tests.contract.client import Conversation, proxy
from tests.contract.every_surface import SURFACES
from tests.scripted import responses
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import Recorded, serving

CALLS = (SayCall("call_1", "get_weather", {"city": "Oslo"}), SayCall("call_2", "get_time", {}))
ALL = Say(thinking="Hm.", signature="c2ln", text="Both.", calls=CALLS)
SAID = {
    "all": ALL,
    "refusal": Say(finish="refusal", refusal="No."),
    "length": Say(text="It is c", finish="length"),
    "error": Say(text="It", error_midway="Gone."),
}
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
REQUESTS: tuple[TypeAdapter[Any], ...] = (
    TypeAdapter(ResponseCreateParamsNonStreaming),
    TypeAdapter(ResponseCreateParamsStreaming),
)


@pytest.mark.parametrize("name", SAID)
def test_every_event_is_one_of_the_sdks(name: str) -> None:
    for event in responses.stream(SAID[name]):
        data = jsontext.strict(event.partition(b"data: ")[2])
        told = EVENTS.validate_python(data)
        assert told.type == data["type"]


@asynccontextmanager
async def asking(*says: Say) -> AsyncIterator[openai.AsyncOpenAI]:
    provider = responses.provider()
    lenient = type(provider)(
        stream=provider.stream,
        body=provider.body,
        error=provider.error,
        check=_nothing,
        streamed=lambda recorded: bool(recorded.body.get("stream")),
        models=provider.models,
    )
    async with (
        serving(lenient, *says) as backend,
        openai.AsyncOpenAI(base_url=f"{backend.url}/v1", api_key="none", max_retries=0) as client,
    ):
        yield client


def _nothing(recorded: Recorded) -> None:
    """The SDK stores, and seals nothing."""


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_it_becomes_the_response_that_was_meant(stream: bool) -> None:
    async with asking(ALL) as client:
        if stream:
            async with client.responses.stream(model=responses.MODEL, input="Hi") as events:
                final: Any = await events.get_final_response()
        else:
            final = await client.responses.create(model=responses.MODEL, input="Hi")
    assert final.output_text == "Both."
    thought, _, *calls = final.output
    assert (thought.summary[0].text, thought.encrypted_content) == ("Hm.", "c2ln")
    said = [(call.call_id, call.name, call.arguments) for call in calls]
    assert said == [(call.id, call.name, jsontext.compact(call.arguments)) for call in CALLS]
    assert final.usage.total_tokens == sum(ALL.usage)


@pytest.mark.parametrize(
    "name", ["long_reasoning", "parallel_calls", "image", "document", "structured_output"]
)
async def test_what_the_proxy_sends_is_a_request_of_the_sdks(name: str) -> None:
    case = CASES[name]
    talk = Conversation(SURFACES["chat"], case.ask, responses.MODEL, stream=True)
    backend_of = {"profile": "openai", "overrides": {"wire": "responses"}}
    async with (
        serving(responses.provider(), *(each.says for each in case.rounds)) as backend,
        proxy({"url": backend.url, **backend_of}) as url,
    ):
        for each in case.rounds:
            await talk.round(url, each)
    for recorded in backend.requests:
        whole, streamed = REQUESTS
        (streamed if recorded.body["stream"] else whole).validate_python(recorded.body)
        assert jsontext.strict(jsontext.dumps(recorded.body)) == recorded.body
