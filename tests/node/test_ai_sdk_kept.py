"""Vercel's AI SDK on what is kept. As it comes it names what it had from us by `item_reference`."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.codex.backend import Model, call, calling, scripted_model
from tests.support.processes import serving
from tests.support.sockets import delta, reply, text

THOUGHT = "The user wants to know the weather."
ASKS = calling(text("I look."), call("get_weather", {"city": "Paris"}))
ASKS_AGAIN = calling(text("And there."), call("get_weather", {"city": "Rome"}, index=1))
ANSWERS = reply(text("It is 18 degrees."))
ROUND = ["user", "assistant", "tool", "assistant", "user"]


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with scripted_model() as model:
        yield model


@pytest.fixture(scope="module")
def proxy(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """In front of a backend that wants its thoughts back."""
    config = tmp_path_factory.mktemp("proxy") / "proxy.toml"
    config.write_text(f'[backend]\nurl = "{model.url}"\nprofile = "sglang"\n', encoding="utf-8")
    with serving("-m", "proxy", "serve", "--port", "0", "--config", config) as url:
        yield url


def roles(model: Model) -> list[str]:
    """What the model was told last."""
    return [message["role"] for message in model.requests[-1]["messages"]]


@pytest.mark.parametrize("scenario", ["generated", "streamed"])
def test_t28_what_it_names_is_told_whole(model: Model, try_script: Callable[..., Any], scenario: str) -> None:
    model.plays(ASKS, ANSWERS)
    told = try_script("ai_sdk_kept.mjs", scenario)
    assert told["text"] == "It is 18 degrees."
    of_the_call = ["item_reference", "function_call", "function_call_output"]
    assert told["inputs"] == [
        ["user"],
        ["user", *of_the_call],
        ["user", *of_the_call, "item_reference", "user"],
    ]
    assert told["parents"] == [None] * 3
    assert roles(model) == ROUND
    _, asked, _, answered, _ = model.requests[-1]["messages"]
    assert (asked["content"], answered["content"]) == ("I look.", "It is 18 degrees.")


def test_t28_a_thought_that_it_names_is_given_back(model: Model, try_script: Callable[..., Any]) -> None:
    thinks = delta(reasoning_content=THOUGHT)
    model.plays(
        calling(thinks, call("get_weather", {"city": "Paris"})), reply(thinks, text("It is 18 degrees."))
    )
    told = try_script("ai_sdk_kept.mjs", "reasoned")
    assert told["text"] == "It is 18 degrees."
    of_the_call = ["item_reference", "function_call", "function_call_output"]
    assert told["inputs"][1] == ["user", *of_the_call]
    assert told["inputs"][2] == ["user", *of_the_call, "item_reference", "item_reference", "user"]
    assert roles(model) == ROUND
    thoughts = [message.get("reasoning_content") for message in model.requests[-1]["messages"]]
    assert thoughts == [None, THOUGHT, None, THOUGHT, None]


def test_t31_what_it_names_though_it_is_in_the_history_is_told_once(
    model: Model, try_script: Callable[..., Any]
) -> None:
    model.plays(ASKS, ANSWERS)
    told = try_script("ai_sdk_kept.mjs", "previousResponseId")
    assert told["inputs"][2:] == [["item_reference", "user"], ["user"]]
    assert told["parents"][2] == told["parents"][3] is not None
    assert roles(model) == ROUND
    assert model.requests[-2]["messages"] == model.requests[-1]["messages"]


def test_t20_a_loop_within_a_conversation_gives_each_output_once(
    model: Model, try_script: Callable[..., Any]
) -> None:
    """It leaves out what has an id, so it sends what has none with every step: the prompt, and all outputs so far. The
    prompt, told once more behind its answer, would be a new one."""
    model.plays(ASKS, ASKS_AGAIN, ANSWERS)
    told = try_script("ai_sdk_kept.mjs", "conversation")
    assert told["text"] == "It is 18 degrees."
    assert told["inputs"][2] == ["user", "function_call_output", "function_call_output"]
    roles_of_a_loop = ["user", *["assistant", "tool"] * 2]
    assert roles(model) == [*roles_of_a_loop, "assistant", "user"]
    said = model.requests[-1]["messages"]
    assert [said[2]["content"], said[4]["content"]] == ["18 degrees in Paris", "18 degrees in Rome"]
