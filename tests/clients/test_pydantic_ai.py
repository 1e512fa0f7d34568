"""pydantic-ai's agents: over Responses, over Chat, and on the lanes of one WebSocket."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from pydantic_ai import Agent
from pydantic_ai.models import Model as Speaker
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from proxy.core import jsontext
from tests.codex.backend import Model, call, calling, cut_after
from tests.support.sockets import Line, delta, reply, text

THOUGHT = "The user wants to know the weather."
CALL = call("get_weather", {"city": "Paris"})
ANSWER = reply(text("It is 18 degrees."))
PROMPTLY = 10
"""Seconds; who waits for the events of a lane that nobody names would wait for ever."""


@pytest.fixture
async def provider(scripted_url: str) -> AsyncIterator[OpenAIProvider]:
    async with openai.AsyncOpenAI(base_url=scripted_url, api_key="none", max_retries=0) as client:
        yield OpenAIProvider(openai_client=client)


class Weather:
    """An agent, and what its tool was asked."""

    def __init__(self, speaker: Speaker) -> None:
        self.asked: list[str] = []
        self.agent = Agent(speaker)
        self.agent.tool_plain(self.get_weather)

    def get_weather(self, city: str) -> str:
        """The weather in a city."""
        self.asked.append(city)
        return "18 degrees"

    async def streamed(self) -> str:
        async with self.agent.run_stream("The weather?") as run:
            return await run.get_output()

    async def whole(self) -> str:
        return (await self.agent.run("The weather?")).output


@pytest.fixture(params=[OpenAIResponsesModel, OpenAIChatModel], ids=["responses", "chat"])
def weather(provider: OpenAIProvider, request: pytest.FixtureRequest) -> Weather:
    return Weather(request.param("demo", provider=provider))


@pytest.mark.parametrize("how", [Weather.whole, Weather.streamed])
async def test_a_tool_is_run_and_answered_with(weather: Weather, model: Model, how: Any) -> None:
    model.plays(calling(CALL), ANSWER)
    assert await how(weather) == "It is 18 degrees."
    assert weather.asked == ["Paris"]
    assert model.requests[1]["messages"][-1]["content"] == "18 degrees"


async def test_v01_half_a_call_is_not_run(weather: Weather, model: Model) -> None:
    half = {"name": "get_weather", "arguments": '{"city": "Par'}
    model.plays(cut_after(delta(tool_calls=[{"index": 0, "id": "c", "type": "function", "function": half}])))
    with pytest.raises(Exception, match="broke off"):
        await weather.streamed()
    assert weather.asked == []


async def test_v07_a_thought_that_comes_back_as_text_is_told_once(
    provider: OpenAIProvider, model: Model
) -> None:
    """The proxy has kept it, and gives it back where it stood."""
    profile = OpenAIModelProfile(openai_chat_send_back_thinking_parts="tags")
    weather = Weather(OpenAIChatModel("demo", provider=provider, profile=profile))
    model.plays(calling(delta(reasoning_content=THOUGHT), text("I look."), CALL), ANSWER)
    assert await weather.whole() == "It is 18 degrees."
    _, asked, _ = model.requests[1]["messages"]
    assert asked["content"] == "I look."
    assert jsontext.compact(asked).count(THOUGHT) <= 1


async def test_v05_several_agents_share_one_socket(provider: OpenAIProvider, model: Model) -> None:
    """Each on a lane that it has named."""
    speaker = OpenAIResponsesModel(
        "demo",
        provider=provider,
        profile=OpenAIModelProfile(openai_responses_supports_websocket_stream_id=True),
        settings=OpenAIResponsesModelSettings(openai_transport="websocket"),
    )

    async def answers(line: Line, request: dict[str, Any]) -> None:
        said = request["messages"][-1]
        line.send(calling(CALL) if said["role"] == "user" else ANSWER)

    model.plays(answers)
    agents = [Weather(speaker) for _ in range(4)]
    async with asyncio.timeout(PROMPTLY), speaker:
        assert await asyncio.gather(*(each.whole() for each in agents)) == ["It is 18 degrees."] * 4
    assert [each.asked for each in agents] == [["Paris"]] * 4
