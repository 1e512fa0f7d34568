"""The official Node SDK: turns behind a response, in a conversation, and one that finds its conversation locked."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.codex.backend import Model, Request, call, calling, scripted_model
from tests.support.programs import proxying
from tests.support.sockets import HEAD, Line, answer, reply, text

ASKS = calling(call("get_weather", {"city": "Paris"}))
ANSWERS = reply(text("It is 18 degrees."))
LOOP = ["user", "assistant", "tool"]


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with scripted_model() as model:
        yield model


@pytest.fixture(scope="module")
def proxy(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with proxying(model.url, tmp_path_factory.mktemp("proxy")) as url:
        yield url


def roles(model: Model) -> list[list[str]]:
    """What the model was told, request by request."""
    return [[message["role"] for message in request["messages"]] for request in model.requests]


@pytest.mark.parametrize("scenario", ["chain", "streamedChain"])
def test_t04_t16_the_model_is_told_the_whole_chain(
    model: Model, try_script: Callable[..., Any], scenario: str
) -> None:
    model.plays(ASKS, ANSWERS)
    told = try_script("kept_turns.mjs", scenario)
    assert told["text"] == "It is 18 degrees."
    assert len(set(told["made"])) == 3
    assert told["parent"] == told["made"][1]
    assert roles(model) == [["user"], LOOP, [*LOOP, "assistant", "user"]]


@pytest.mark.parametrize("scenario", ["conversation", "streamedConversation"])
def test_t75_a_tool_is_called_and_answered_in_a_conversation(
    model: Model, try_script: Callable[..., Any], scenario: str
) -> None:
    model.plays(ASKS, ANSWERS)
    told = try_script("kept_turns.mjs", scenario)
    assert (told["text"], told["same"]) == ("It is 18 degrees.", True)
    assert told["kept"] == ["message", "message", "function_call", "function_call_output", "message"]
    assert roles(model) == [["developer", "user"], ["developer", *LOOP]]


def test_t77_its_own_retry_succeeds_when_the_conversation_is_free(
    model: Model, try_script: Callable[..., Any]
) -> None:
    """A 400, which it would not repeat without being told to."""
    refused = asyncio.Event()

    async def slow(line: Line, request: Request) -> None:
        line.send(HEAD, text("On"))
        await refused.wait()
        line.send(reply(text("e.")).removeprefix(HEAD))

    async def told(line: Line, request: Request) -> None:
        refused.set()
        line.send(answer(200, {}))

    model.plays(slow, told, reply(text("Two.")))
    seen = try_script("kept_turns.mjs", "locked", model.url)
    assert seen == {"refused": ["conversation_locked"], "said": "One.", "second": "Two."}
    assert [message["content"] for message in model.requests[-1]["messages"]] == ["1", "One.", "2"]


def test_t62_t64_the_helper_ends_with_what_was_cancelled(
    model: Model, try_script: Callable[..., Any]
) -> None:
    """It knows no event of its own for that, and would throw."""

    async def half(line: Line, request: Request) -> None:
        line.send(HEAD, text("Hel"))
        await line.closed()

    model.plays(half)
    told = try_script("kept_turns.mjs", "cancelledStream")
    assert {each["status"] for each in told.values()} == {"cancelled"}
    assert {each["output"][0]["content"][0]["text"] for each in told.values()} == {"Hel"}
    assert told["cancelled"] | {"output_text": "Hel"} == told["found"]
