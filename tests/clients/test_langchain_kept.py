"""langchain-openai with `use_previous_response_id`: it sends what is newer than its last answer, and the id of that."""

from typing import Any

import openai
import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from proxy import demo
from proxy.core.dialects.writing.notes import CONTINUE
from tests.clients.langchain_asking import BOTH, cities, get_weather, whole
from tests.clients.spoken import roles

ROUND = ["developer", "user", "assistant", "tool", "tool"]
RULES = SystemMessage("Use your tools.")


@pytest.fixture
def model(how: dict[str, Any]) -> ChatOpenAI:
    return ChatOpenAI(model="demo", use_previous_response_id=True, **how)


def parent(client: openai.OpenAI, message: Any) -> str | None:
    return client.responses.retrieve(message.response_metadata["id"]).previous_response_id


def said(model: Any, messages: list[Any], streamed: bool) -> Any:
    return whole(model.stream(messages)) if streamed else model.invoke(messages)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_t16_the_outputs_of_tools_are_all_it_sends(
    model: ChatOpenAI, client: openai.OpenAI, asked: list[demo.Recorded], streamed: bool
) -> None:
    """And the model is told of all, once, in order: the system message was an item, so it is carried over."""
    able = model.bind_tools([get_weather])
    history: list[Any] = [RULES, HumanMessage(BOTH)]
    first = said(able, history, streamed)
    assert first.response_metadata["id"].startswith("resp_")
    assert cities(first) == ["Paris", "London"]
    history += [first, *(get_weather.invoke(call) for call in first.tool_calls)]
    second = said(able, history, streamed)
    assert "London: 18 °C" in str(second.content)
    assert roles(asked) == ROUND
    assert parent(client, second) == first.response_metadata["id"]
    third = said(able, [*history, second, HumanMessage("Thanks")], streamed)
    assert parent(client, third) == second.response_metadata["id"]
    assert roles(asked) == [*ROUND, "assistant", "user"]


def test_t19_nothing_new_is_an_answer_to_the_history_alone(
    model: ChatOpenAI, client: openai.OpenAI, asked: list[demo.Recorded]
) -> None:
    first = model.invoke("Hello")
    again = model.invoke([HumanMessage("Hello"), first])
    assert parent(client, again) == first.response_metadata["id"]
    told = [message["content"] for message in asked[-1].body["messages"]]
    assert told == ["Hello", first.text, CONTINUE]


def test_t91_two_histories_go_on_from_one_answer(model: ChatOpenAI, asked: list[demo.Recorded]) -> None:
    first = model.invoke("Hello")
    for words in ("One", "Two"):
        model.invoke([HumanMessage("Hello"), first, HumanMessage(words)])
        assert [message["content"] for message in asked[-1].body["messages"]][::2] == ["Hello", words]
