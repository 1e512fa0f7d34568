"""The published clients over a WebSocket: turns that continue each other, tools, and what a refusal looks like."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from agents import Agent, OpenAIResponsesWSModel, Runner, function_tool, set_tracing_disabled
from openai.resources.responses.responses import ResponsesConnection
from openai.types.responses import Response

from proxy import demo
from proxy.core import jsontext
from tests.clients.weather import WEATHER

set_tracing_disabled(True)  # it would send what happens here to its maker


@pytest.fixture
def connection(client: openai.OpenAI) -> Iterator[ResponsesConnection]:
    with client.responses.connect() as connection:
        yield connection


def answered(connection: ResponsesConnection, **body: Any) -> Response:
    connection.send({"type": "response.create", "model": "demo", **body})
    text = ""
    for event in connection:
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type == "response.completed":
            assert event.response.output_text == text
            return event.response
        assert event.type not in ("error", "response.failed"), event
    raise AssertionError("the connection was closed")


def test_the_openai_sdk_holds_a_conversation(
    connection: ResponsesConnection, asked: list[demo.Recorded]
) -> None:
    first = answered(connection, input="What is the weather in Paris?", tools=[WEATHER], store=False)
    [call] = first.output
    assert call.type == "function_call"
    assert jsontext.loads(call.arguments) == {"city": "Paris"}
    output = {"type": "function_call_output", "call_id": call.call_id, "output": '{"temperature": 18}'}
    second = answered(connection, input=[output], previous_response_id=first.id, tools=[WEATHER], store=False)
    assert "18" in second.output_text
    assert second.previous_response_id == first.id
    assert len(asked) == 2


def test_the_openai_sdk_warms_up(connection: ResponsesConnection, asked: list[demo.Recorded]) -> None:
    warm = answered(connection, input=[], instructions="Be brief.", tools=[WEATHER], generate=False)
    assert (warm.output, asked) == ([], [])
    answer = answered(connection, input="Hello", previous_response_id=warm.id)
    assert answer.output_text
    assert len(asked) == 1


def test_the_openai_sdk_understands_a_refusal_and_goes_on(connection: ResponsesConnection) -> None:
    connection.send({"type": "response.create", "model": "demo", "previous_response_id": "resp_0"})
    refusal = connection.recv()
    assert refusal.type == "error"
    assert refusal.to_dict()["error"]["code"] == "previous_response_not_found"
    assert answered(connection, input="Hello").output_text


async def test_an_agent_runs_on_one_connection(how: dict[str, Any], asked: list[demo.Recorded]) -> None:
    places: list[str] = []

    @function_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        places.append(city)
        return jsontext.compact({"temperature": 18, "city": city})

    async with openai.AsyncOpenAI(**how) as client:
        model = OpenAIResponsesWSModel(model="demo", openai_client=client)
        agent = Agent(name="Helper", instructions="Use your tools.", model=model, tools=[get_weather])
        run = Runner.run_streamed(agent, "Weather in Paris and London?")
        events = [event async for event in run.stream_events()]
        assert places == ["Paris", "London"]
        assert '"city":"London"' in run.final_output
        assert any(event.type == "run_item_stream_event" for event in events)
        whole = await Runner.run(agent, "Weather in Rome?")
        assert places[-1] == "Rome"
        assert '"city":"Rome"' in whole.final_output
        await model.close()
    assert len(asked) == 4
