"""openai-agents on what is kept: a chain, a conversation, a history of its own that is compacted."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from agents.memory import OpenAIResponsesCompactionSession

from proxy import demo
from proxy.core.surfaces.responses.compaction import SUMMED_UP
from tests.clients.spoken import roles
from tests.codex.backend import Model
from tests.support.sockets import Line, reply, text

set_tracing_disabled(True)  # it would send what happens here to its maker

PARIS = "What is the weather in Paris?"
ROUND = ["developer", "user", "assistant", "tool"]
"""What the model is told when its tool has answered."""


@pytest.fixture
async def aclient(how: dict[str, Any]) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(**how) as client:
        yield client


@pytest.fixture
def agent(aclient: openai.AsyncOpenAI) -> Agent[Any]:
    @function_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"18 degrees in {city}"

    model = OpenAIResponsesModel(model="demo", openai_client=aclient)
    return Agent(name="Helper", instructions="Use your tools.", model=model, tools=[get_weather])


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_t16_a_run_chains_its_own_turns(
    agent: Agent[Any], asked: list[demo.Recorded], streamed: bool
) -> None:
    """It sends the tool's output alone, and the model is told of all."""
    if streamed:
        run: Any = Runner.run_streamed(agent, PARIS, auto_previous_response_id=True)
        async for _ in run.stream_events():
            pass
    else:
        run = await Runner.run(agent, PARIS, auto_previous_response_id=True)
    assert "18 degrees in Paris" in run.final_output
    assert roles(asked) == ROUND


async def test_t04_a_run_goes_on_from_the_last_response_of_another(
    agent: Agent[Any], asked: list[demo.Recorded]
) -> None:
    first = await Runner.run(agent, PARIS)
    again = await Runner.run(agent, "And in Rome?", previous_response_id=first.last_response_id)
    assert roles(asked) == [*ROUND, "assistant", "user"]
    assert first.final_output in str(asked[-1].body["messages"][4])
    third = await Runner.run(agent, "Thanks", previous_response_id=again.last_response_id)
    assert third.last_response_id not in (None, first.last_response_id, again.last_response_id)
    assert roles(asked)[-3:] == ["user", "assistant", "user"]


async def test_t75_runs_in_a_conversation(
    agent: Agent[Any], aclient: openai.AsyncOpenAI, asked: list[demo.Recorded]
) -> None:
    made = await aclient.conversations.create()
    await Runner.run(agent, PARIS, conversation_id=made.id)
    await Runner.run(agent, "Thanks", conversation_id=made.id)
    assert roles(asked) == [*ROUND, "assistant", "user"]
    kept = [item.type async for item in aclient.conversations.items.list(made.id, order="asc")]
    assert kept == ["message", "function_call", "function_call_output", "message", "message", "message"]


async def test_t77_a_run_waits_for_the_other_one_in_its_conversation(model: Model, scripted_url: str) -> None:
    """It repeats what was refused with `conversation_locked`, whatever the retries of its client are."""
    first_is_asked, first_may_end = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def slow(line: Line, request: Any) -> None:
        loop.call_soon_threadsafe(first_is_asked.set)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(first_may_end.wait(), loop))
        line.send(reply(text("One.")))

    model.plays(slow, reply(text("Two.")))
    refused = 0

    async def count(response: Any) -> None:
        nonlocal refused
        if response.status_code == 400:
            refused += 1
            first_may_end.set()

    async with openai.AsyncOpenAI(base_url=scripted_url, api_key="none", max_retries=0) as client:
        client._client.event_hooks["response"].append(count)
        agent = Agent(name="Helper", model=OpenAIResponsesModel(model="demo", openai_client=client))
        made = await client.conversations.create()
        async with asyncio.TaskGroup() as group:
            first = group.create_task(Runner.run(agent, "1", conversation_id=made.id))
            await first_is_asked.wait()
            second = group.create_task(Runner.run(agent, "2", conversation_id=made.id))
        kept: list[Any] = [item async for item in client.conversations.items.list(made.id, order="asc")]
    assert (first.result().final_output, second.result().final_output) == ("One.", "Two.")
    assert refused >= 1
    assert [item.content[0].text for item in kept] == ["1", "One.", "2", "Two."]


async def test_t82_what_was_popped_or_cleared_is_not_told_again(
    agent: Agent[Any], aclient: openai.AsyncOpenAI, asked: list[demo.Recorded]
) -> None:
    """And nothing is doubled: the session sends every item whole, with its id."""
    session = OpenAIConversationsSession(openai_client=aclient)
    for said in (PARIS, "Thanks", "Bye"):
        await Runner.run(agent, said, session=session)
    history = [*ROUND, "assistant", "user", "assistant", "user"]
    assert roles(asked) == history
    assert (await session.pop_item() or {})["role"] == "assistant"
    assert (await session.pop_item() or {})["role"] == "user"
    await Runner.run(agent, "Bye again", session=session)
    assert roles(asked) == history
    assert asked[-1].body["messages"][-1]["content"] == "Bye again"
    await session.clear_session()
    await Runner.run(agent, "Hello", session=session)
    assert roles(asked) == ["developer", "user"]


@pytest.mark.parametrize("mode", ["previous_response_id", "input"])
async def test_a_history_is_compacted(
    agent: Agent[Any], aclient: openai.AsyncOpenAI, asked: list[demo.Recorded], mode: Any
) -> None:
    """By the id of the response alone, which has to be kept, or by the items."""
    inner = SQLiteSession("demo")
    session = OpenAIResponsesCompactionSession(
        "demo", inner, client=aclient, model="gpt-4.1", compaction_mode=mode
    )
    run = await Runner.run(agent, PARIS, session=session)
    await session.run_compaction({"response_id": run.last_response_id or "", "force": True})
    assert "18 degrees in Paris" in str(asked[-1].body["messages"])
    after: list[Any] = await inner.get_items()
    assert [item.get("role", item.get("type")) for item in after] == ["compaction"]
    asked.clear()
    await Runner.run(agent, "Thanks", session=session)
    _, user = asked[0].body["messages"]
    assert user["content"].startswith(SUMMED_UP)
    assert user["content"].endswith("Thanks")
