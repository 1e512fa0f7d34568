"""The official Node SDK: create, the stream() helper that throws on what it does not know, and parse()."""

from collections.abc import Callable
from typing import Any

import pytest

Try = Callable[[str], Any]


@pytest.fixture
def sdk(try_script: Callable[[str, str], Any]) -> Try:
    return lambda scenario: try_script("openai.mjs", scenario)


def test_text_arrives_whole(sdk: Try) -> None:
    told = sdk("create")
    assert told["status"] == "completed"
    assert "“Hello”" in told["text"]


def test_a_call_is_made_and_its_output_taken(sdk: Try) -> None:
    told = sdk("call")
    assert (told["name"], told["arguments"]) == ("get_weather", {"city": "Paris"})
    assert "18 degrees" in told["text"]


def test_a_stream_has_standard_events_only(sdk: Try) -> None:
    """R05"""
    types = sdk("events")["types"]
    assert (types[0], types[-1]) == ("response.created", "response.completed")
    assert not [kind for kind in types if "output_tool_call" in kind]


def test_the_stream_helper_assembles_a_call(sdk: Try) -> None:
    told = sdk("stream")
    assert told["status"] == "completed"
    assert told["deltas"] == told["arguments"] == '{"city":"Paris"}'


def test_the_stream_helper_assembles_text(sdk: Try) -> None:
    told = sdk("streamedText")
    assert told["deltas"] == told["text"] != ""


def test_parse_returns_what_the_schema_describes(sdk: Try) -> None:
    assert sdk("parse")["parsed"] == {"city": "Paris", "days": 3}


def test_a_refusal_is_an_error_of_its_own_kind(sdk: Try) -> None:
    assert sdk("refused") == {"status": 400, "param": "temperature", "kind": "BadRequestError"}


def test_models_are_listed(sdk: Try) -> None:
    assert "demo" in sdk("models")["ids"]
