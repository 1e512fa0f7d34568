"""Haystack's generator and agent on the Responses API: calls of a stream are put in the order of their items' ids."""

from collections.abc import Iterator

import pytest
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.tools import Tool
from haystack.utils import Secret

from tests.codex.backend import Model, call, calling
from tests.support.sockets import reply, text

CITIES = ["Paris", "Oslo", "Rome", "Bern", "Lima", "Cairo", "Quito", "Hanoi"]
"""So many that they are not in their order by chance."""
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Weather:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.tool = Tool("get_weather", "The weather in a city", PARAMETERS, self.tell)

    def tell(self, city: str) -> str:
        self.asked.append(city)
        return f"18 degrees in {city}"


@pytest.fixture
def weather() -> Weather:
    return Weather()


@pytest.fixture
def generator(scripted_url: str) -> Iterator[OpenAIResponsesChatGenerator]:
    key = Secret.from_token("none")
    made = OpenAIResponsesChatGenerator(api_key=key, model="demo", api_base_url=scripted_url, max_retries=0)
    yield made
    made.close()


def in_parallel() -> bytes:
    return calling(*(call("get_weather", {"city": city}, index=n) for n, city in enumerate(CITIES)))


def test_v06_parallel_calls_of_a_stream_stay_in_their_order(
    generator: OpenAIResponsesChatGenerator, model: Model, weather: Weather
) -> None:
    model.plays(in_parallel())
    heard: list[StreamingChunk] = []
    question = [ChatMessage.from_user("The weather everywhere?")]
    [answer] = generator.run(question, tools=[weather.tool], streaming_callback=heard.append)["replies"]
    assert [each.arguments["city"] for each in answer.tool_calls] == CITIES
    assert heard


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_an_agent_runs_its_tools_and_answers(
    generator: OpenAIResponsesChatGenerator, model: Model, weather: Weather, streaming: bool
) -> None:
    model.plays(in_parallel(), reply(text("It is 18 degrees everywhere.")))
    callback = (lambda chunk: None) if streaming else None
    agent = Agent(chat_generator=generator, tools=[weather.tool], streaming_callback=callback)
    done = agent.run([ChatMessage.from_user("The weather everywhere?")])
    assert done["last_message"].text == "It is 18 degrees everywhere."
    assert sorted(weather.asked) == sorted(CITIES)
    results = [said for said in model.requests[1]["messages"] if said["role"] == "tool"]
    assert [said["content"] for said in results] == [f"18 degrees in {city}" for city in CITIES]
