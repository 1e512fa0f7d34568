"""pydantic-ai on what is kept: it sends what is newer than the last response or turn, if that says `store: true`."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from proxy import demo
from tests.clients.spoken import roles

PARIS = "What is the weather in Paris?"
ROUND = ["developer", "user", "assistant", "tool"]


@pytest.fixture
async def aclient(how: dict[str, Any]) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(**how) as client:
        yield client


@pytest.fixture
def agent(aclient: openai.AsyncOpenAI) -> Agent[Any, str]:
    provider = OpenAIProvider(openai_client=aclient)
    agent = Agent(OpenAIResponsesModel("demo", provider=provider), instructions="Use your tools.")

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"18 degrees in {city}"

    return agent


async def said(
    agent: Agent[Any, str], prompt: str, history: list[ModelMessage], streamed: bool, **settings: Any
) -> list[ModelMessage]:
    """All messages, with the new ones."""
    wanted = OpenAIResponsesModelSettings(**settings)
    if not streamed:
        return (await agent.run(prompt, message_history=history, model_settings=wanted)).all_messages()
    async with agent.run_stream(prompt, message_history=history, model_settings=wanted) as run:
        await run.get_output()
        return run.all_messages()


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_t16_a_chain_through_a_tool_and_a_second_run(
    agent: Agent[Any, str], asked: list[demo.Recorded], aclient: openai.AsyncOpenAI, streamed: bool
) -> None:
    first = await said(agent, PARIS, [], streamed, openai_previous_response_id="auto")
    assert roles(asked) == ROUND
    second = await said(agent, "Thanks", first, streamed, openai_previous_response_id="auto")
    assert roles(asked) == [*ROUND, "assistant", "user"]
    made = [message.provider_response_id for message in second if message.kind == "response"]
    responses = [await aclient.responses.retrieve(str(ident)) for ident in made]
    assert [response.previous_response_id for response in responses] == [None, *made[:-1]]
    assert [item async for item in aclient.responses.input_items.list(str(made[1]))]


@pytest.mark.parametrize(("stored", "continued"), [(True, True), (False, False)])
async def test_t26_it_leaves_its_socket_with_what_is_kept(
    agent: Agent[Any, str],
    asked: list[demo.Recorded],
    aclient: openai.AsyncOpenAI,
    stored: bool,
    continued: bool,
) -> None:
    """It believes what `store` says in the answers there, and sends all again where that is false."""
    async with agent.model:
        on_socket = {"openai_transport": "websocket", "openai_store": stored}
        first = await said(agent, PARIS, [], False, **on_socket)
    assert roles(asked) == ROUND
    second = await said(agent, "Thanks", first, False, openai_previous_response_id="auto")
    assert roles(asked) == [*ROUND, "assistant", "user"]
    last = await aclient.responses.retrieve(str(second[-1].provider_response_id))
    assert (last.previous_response_id is not None) is continued


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_t75_runs_in_a_conversation(
    agent: Agent[Any, str], asked: list[demo.Recorded], aclient: openai.AsyncOpenAI, streamed: bool
) -> None:
    """Found again in what the responses say."""
    made = await aclient.conversations.create()
    first = await said(agent, PARIS, [], streamed, openai_conversation_id=made.id)
    await said(agent, "Thanks", first, streamed, openai_conversation_id="auto")
    assert roles(asked) == [*ROUND, "assistant", "user"]
    kept = [item.type async for item in aclient.conversations.items.list(made.id, order="asc")]
    assert kept == ["message", "function_call", "function_call_output", *["message"] * 3]
