"""langchain-openai over the Chat Completions API, as most people use it."""

from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from tests.clients.langchain_asking import BOTH, Meeting, cities, get_weather, whole


@pytest.fixture
def model(how: dict[str, Any]) -> ChatOpenAI:
    return ChatOpenAI(model="demo", use_responses_api=False, **how)


def test_text(model: ChatOpenAI) -> None:
    message = model.invoke("good morning")
    assert "“good morning”" in message.content
    assert message.usage_metadata is not None
    assert message.usage_metadata["total_tokens"] > 0
    streamed = whole(model.stream("good morning", stream_usage=True))
    assert streamed.content == message.content
    assert streamed.usage_metadata == message.usage_metadata
    assert streamed.response_metadata["finish_reason"] == "stop"


def test_parallel_calls_whole_and_streamed(model: ChatOpenAI) -> None:
    able = model.bind_tools([get_weather])
    assert cities(able.invoke(BOTH)) == ["Paris", "London"]
    streamed = whole(able.stream(BOTH))
    assert cities(streamed) == ["Paris", "London"]
    assert not streamed.invalid_tool_calls
    assert streamed.response_metadata["finish_reason"] == "tool_calls"


def test_a_tool_loop_over_two_turns(model: ChatOpenAI) -> None:
    able = model.bind_tools([get_weather])
    first = whole(able.stream(BOTH))
    results = [get_weather.invoke(call) for call in first.tool_calls]
    assert all(isinstance(result, ToolMessage) for result in results)
    second = able.invoke([HumanMessage(BOTH), first, *results])
    assert "Paris: 18 °C" in second.content
    assert "London: 18 °C" in second.content


def test_a_forced_tool(model: ChatOpenAI) -> None:
    forced = model.bind_tools([get_weather], tool_choice="get_weather")
    assert len(forced.invoke("hello").tool_calls) == 1


# The SDK's own helper, which LangChain streams objects with, writes down what its types do not expect.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_structured_output(model: ChatOpenAI, method: Any) -> None:
    typed = model.with_structured_output(Meeting, method=method)
    expected = Meeting(host="Ann", guests=["Bob", "Cid"])
    assert typed.invoke("Ann meets Bob and Cid") == expected
    assert list(typed.stream("Ann meets Bob and Cid"))[-1] == expected


async def test_async(how: dict[str, Any]) -> None:
    """With connections of its own: langchain keeps one pool for all event loops."""
    async with httpx.AsyncClient() as pool:
        model = ChatOpenAI(model="demo", use_responses_api=False, http_async_client=pool, **how)
        message = await model.bind_tools([get_weather]).ainvoke(BOTH)
    assert cities(message) == ["Paris", "London"]
