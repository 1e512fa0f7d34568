"""Vercel's AI SDK, whose parser checks every event against a schema: text, tools in several steps, objects.

It speaks both APIs, and sees no difference."""

from collections.abc import Callable
from typing import Any

import pytest

Try = Callable[[str], Any]


@pytest.fixture(params=["responses", "chat"])
def sdk(try_script: Callable[..., Any], request: pytest.FixtureRequest) -> Try:
    return lambda scenario: try_script("ai_sdk.mjs", scenario, request.param)


def test_text_arrives_with_its_usage(sdk: Try) -> None:
    told = sdk("text")
    assert "“Hello”" in told["text"]
    assert told["finishReason"] == "stop"
    assert told["tokens"] > 0


@pytest.mark.parametrize("scenario", ["tools", "streamedTools"])
def test_a_tool_is_executed_and_answered_with(sdk: Try, scenario: str) -> None:
    told = sdk(scenario)
    assert (told["asked"], told["steps"]) == (["Paris"], 2)
    assert '"degrees":18' in told["text"]


def test_a_streamed_call_arrives_in_pieces(sdk: Try) -> None:
    kinds = sdk("streamedTools")["kinds"]
    pieces = ["tool-input-start", "tool-input-delta", "tool-input-end", "tool-call", "tool-result"]
    assert [kind for kind in kinds if kind in pieces] == pieces


def test_an_object_is_what_the_schema_describes(sdk: Try) -> None:
    assert sdk("object")["object"] == {"city": "Paris", "days": 3}
