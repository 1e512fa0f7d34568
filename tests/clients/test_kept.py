"""The official Python SDK and OpenAI's agents SDK, on responses and conversations that are kept."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai.types.responses import Response

from proxy import demo

set_tracing_disabled(True)  # it would send what happens here to its maker

HI: Any = {"type": "message", "role": "user", "content": "Hi"}


@pytest.fixture
async def aclient(how: dict[str, Any]) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(**how) as client:
        yield client


def chain(client: openai.OpenAI, *said: str) -> list[Response]:
    """One turn after the other, each of which continues the one before."""
    turns: list[Response] = []
    for words in said:
        parent = turns[-1].id if turns else None
        turns.append(client.responses.create(model="demo", input=words, previous_response_id=parent))
    return turns


# ── responses ──


def test_t01_a_response_is_retrieved_as_it_was_answered(client: openai.OpenAI) -> None:
    [made] = chain(client, "Hello")
    found = client.responses.retrieve(made.id, include=["message.output_text.logprobs"])
    assert found.to_dict() == made.to_dict()
    with client.responses.stream(model="demo", input="Hello") as stream:
        streamed = stream.get_final_response()
    assert client.responses.retrieve(streamed.id).output_text == streamed.output_text != ""


def test_t35_t36_a_response_is_deleted(client: openai.OpenAI) -> None:
    [made] = chain(client, "Hello")
    assert client.responses.delete(made.id) is None
    with pytest.raises(openai.NotFoundError, match=f"Response with id '{made.id}' not found"):
        client.responses.retrieve(made.id)
    with pytest.raises(openai.BadRequestError, match="not found") as refused:
        client.responses.create(model="demo", input="More", previous_response_id=made.id)
    assert refused.value.code == "previous_response_not_found"


def test_t36_t52_what_its_client_waited_for_is_not_cancelled(client: openai.OpenAI) -> None:
    [made] = chain(client, "Hello")
    with pytest.raises(openai.BadRequestError, match=r"Cannot cancel a synchronous response\."):
        client.responses.cancel(made.id)


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_t38_t39_a_walk_gives_each_item_once(
    client: openai.OpenAI, aclient: openai.AsyncOpenAI, order: Any, limit: int
) -> None:
    turns = chain(client, "One", "Two", "Three")
    walked: list[Any] = [*client.responses.input_items.list(turns[-1].id, order=order, limit=limit)]
    oldest_first = walked if order == "asc" else walked[::-1]
    said = [item.content[0].text for item in oldest_first]
    assert said == ["One", turns[0].output_text, "Two", turns[1].output_text, "Three"]
    assert len({item.id for item in walked}) == 5
    pages = aclient.responses.input_items.list(turns[-1].id, order=order, limit=limit)
    assert [item.id async for item in pages] == [item.id for item in walked]


def test_t61_what_was_no_stream_in_the_background_is_not_streamed_again(client: openai.OpenAI) -> None:
    [made] = chain(client, "Hello")
    with pytest.raises(openai.BadRequestError, match="not created with background=true"):
        client.responses.retrieve(made.id, stream=True, starting_after=3)


# ── conversations ──


def test_t36_t70_a_conversation_from_beginning_to_end(client: openai.OpenAI) -> None:
    made = client.conversations.create()
    assert (made.object, made.metadata) == ("conversation", {})
    changed = client.conversations.update(made.id, metadata={"topic": "demo"})
    assert changed.metadata == {"topic": "demo"} == client.conversations.retrieve(made.id).metadata
    gone = client.conversations.delete(made.id)
    assert (gone.id, gone.object, gone.deleted) == (made.id, "conversation.deleted", True)
    with pytest.raises(openai.NotFoundError, match=f"Conversation with id '{made.id}' not found"):
        client.conversations.items.list(made.id)


@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_t39_t73_t74_its_items(client: openai.OpenAI, aclient: openai.AsyncOpenAI, order: Any) -> None:
    [turn] = chain(client, "Hello")
    known = turn.output[0].id
    made = client.conversations.create(items=[HI, {"role": "user", "content": "Again"}])
    reference: Any = {"type": "item_reference", "id": known}
    added = client.conversations.items.create(
        made.id, items=[HI, reference], include=["file_search_call.results"]
    )
    assert [item.type for item in added.data] == ["message", "message"]
    walked = [item.id for item in client.conversations.items.list(made.id, order=order, limit=1)]
    assert len(walked) == len(set(walked)) == 4
    assert (known == walked[-1]) is (order == "asc")
    assert [
        item.id async for item in aclient.conversations.items.list(made.id, order=order, limit=3)
    ] == walked
    one: Any = client.conversations.items.retrieve(walked[1], conversation_id=made.id)
    assert (one.id, one.status, one.content[0].type) == (walked[1], "completed", "input_text")
    assert client.conversations.items.delete(walked[1], conversation_id=made.id).id == made.id
    rest = [item.id for item in client.conversations.items.list(made.id, order=order)]
    assert rest == walked[:1] + walked[2:]
    with pytest.raises(openai.BadRequestError, match="Item already in conversation"):
        client.conversations.items.create(made.id, items=[reference])


def test_t75_turns_in_a_conversation(client: openai.OpenAI) -> None:
    made = client.conversations.create()
    first = client.responses.create(model="demo", input="One", conversation=made.id)
    second = client.responses.create(model="demo", input="Two", conversation={"id": made.id})
    assert first.conversation is not None
    assert first.conversation.id == second.conversation.id == made.id
    walked: list[Any] = [*client.conversations.items.list(made.id, order="asc", limit=1)]
    assert [item.content[0].text for item in walked] == ["One", first.output_text, "Two", second.output_text]
    client.conversations.delete(made.id)
    assert client.responses.retrieve(second.id).output_text == second.output_text


async def test_t82_the_session_of_the_agents_sdk(
    aclient: openai.AsyncOpenAI, asked: list[demo.Recorded]
) -> None:
    """It keeps each item by itself, and sends all of them whole, with their ids, without a conversation."""

    @function_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"18 degrees in {city}"

    model = OpenAIResponsesModel(model="demo", openai_client=aclient)
    agent = Agent(name="Helper", model=model, tools=[get_weather])
    session = OpenAIConversationsSession(openai_client=aclient)
    first = await Runner.run(agent, "Hello", session=session)
    await Runner.run(agent, "What is the weather in Paris?", session=session)
    await Runner.run(agent, "Goodbye", session=session)
    roles = [message["role"] for message in asked[-1].body["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    known: list[Any] = await session.get_items()
    assert [item.get("role", item["type"]) for item in known] == [
        *("user", "assistant"),
        *("user", "function_call", "function_call_output", "assistant"),
        *("user", "assistant"),
    ]
    assert len({item["id"] for item in known}) == 8
    assert known[1]["content"][0]["text"] == first.final_output
    assert known[3]["call_id"] == known[4]["call_id"]
    assert await session.pop_item() == known[-1]
    assert await session.get_items() == known[:-1]
    await session.clear_session()
    assert await session.get_items() == []
