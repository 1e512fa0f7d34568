"""The official Node SDK on the Chat Completions surface: create, the stream() and runTools() helpers, and parse()."""

from collections.abc import Callable
from typing import Any

import pytest

Try = Callable[[str], Any]


@pytest.fixture
def sdk(try_script: Callable[..., Any]) -> Try:
    return lambda scenario: try_script("openai_chat.mjs", scenario)


def test_text_arrives_whole(sdk: Try) -> None:
    told = sdk("create")
    assert "“Hello”" in told["text"]
    assert told["reason"] == "stop"
    assert told["tokens"] > 0


def test_a_call_is_made_and_its_result_taken(sdk: Try) -> None:
    told = sdk("call")
    assert (told["name"], told["arguments"]) == ("get_weather", '{"city":"Paris"}')
    assert told["reason"] == "tool_calls"
    assert "18 degrees" in told["text"]


def test_the_stream_helper_assembles_a_call(sdk: Try) -> None:
    told = sdk("stream")
    assert told["deltas"] == told["arguments"] == '{"city":"Paris"}'
    assert told["tokens"] > 0


def test_the_helper_that_runs_tools_comes_to_an_end(sdk: Try) -> None:
    told = sdk("runTools")
    assert told["asked"] == ["Paris"]
    assert "18 degrees" in told["text"]


def test_parse_returns_what_the_schema_describes(sdk: Try) -> None:
    assert sdk("parse")["parsed"] == {"city": "Paris", "days": 3}


def test_r3_a_failure_in_the_middle_is_thrown_after_what_was_said(sdk: Try) -> None:
    told = sdk("broken")
    assert told["said"]
    assert told["failed"] is True
    assert told["code"]
