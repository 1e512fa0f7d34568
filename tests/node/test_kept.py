"""The official Node SDK on responses and conversations that are kept."""

from collections.abc import Callable
from typing import Any

import pytest

Try = Callable[[str], Any]


@pytest.fixture
def sdk(try_script: Callable[[str, str], Any]) -> Try:
    return lambda scenario: try_script("kept.mjs", scenario)


def test_t01_a_response_is_retrieved_as_it_was_answered(sdk: Try) -> None:
    told = sdk("retrieve")
    assert told["found"] == told["made"]
    assert told["found"]["output_text"]


def test_t38_t39_a_walk_gives_each_item_once(sdk: Try) -> None:
    told = sdk("inputItems")
    assert told["asc"] == told["desc"][::-1]
    assert len(set(told["asc"])) == len(told["asc"]) == 5
    assert [told["asc"][1], told["asc"][3]] == told["answers"][:2]


def test_t36_t52_cancel_and_delete_need_no_body(sdk: Try) -> None:
    assert sdk("cancel") == {"status": 400, "message": "Cannot cancel a synchronous response."}
    told = sdk("delete")
    assert told == {"id": told["id"], "status": 404, "message": f"Response with id '{told['id']}' not found."}


def test_t39_t74_a_conversation_from_beginning_to_end(sdk: Try) -> None:
    told = sdk("conversation")
    assert told["metadata"] == {"topic": "demo"}
    assert told["walk"] == told["added"]
    assert told["text"] == "1"
    assert told["sameConversation"] is told["deleted"] is True
    assert told["rest"] == [told["walk"][0], told["walk"][2]]
    assert told["refusal"]["status"] == 404


def test_t62_a_stream_is_resumed_by_hand_and_by_the_helper(sdk: Try) -> None:
    """T58: what was cut and what follows are the whole; the helper shows what is behind its place."""
    told = sdk("resume")
    numbers = [event["sequence_number"] for event in told["joined"]]
    assert numbers == list(range(len(numbers)))
    assert [told["joined"][0]["type"], told["joined"][-1]["type"]] == [
        "response.created",
        "response.completed",
    ]
    assert all(event["sequence_number"] > 3 for event in told["helped"])
    assert told["helped"][-1]["type"] == "response.completed"
    assert told["joined"][-1]["response"]["output"] == told["found"]["output"]
    final = told["final"]
    assert (final["status"], final["output"][0]["id"]) == ("completed", told["found"]["output"][0]["id"])
    assert final["output"][0]["content"][0]["text"] == told["found"]["output"][0]["content"][0]["text"]
