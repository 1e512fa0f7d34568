"""A request for a count, as the turn that it stands for."""

from typing import Any

from proxy.core.surfaces.openapi.schemas import NOT_COUNTED
from proxy.core.surfaces.responses.counting import READ, counted, requested
from proxy.core.surfaces.responses.envelope import ResponsesEnvelope
from tests.support.tables import table


def test_what_decides_the_number_is_read_and_nothing_is_kept() -> None:
    body = {
        "model": "m",
        "input": "Hi",
        "tools": [],
        "reasoning": {"effort": "low"},
        "instructions": "Be brief.",
    }
    beside = {"stream": True, "background": True, "store": True, "personality": "friendly", "metadata": 5}
    assert requested(body | beside) == body | {"store": False}


@table(
    ("body", "given"),
    [
        ({"previous_response_id": "resp_1"}, []),
        ({"conversation": {"id": "conv_1"}, "input": None}, []),
        ({"instructions": "Be brief."}, []),
        ({"instructions": "Be brief.", "input": "Hi"}, "Hi"),
        ({"input": 5}, 5),
    ],
)
def test_the_input_may_be_left_out_where_there_is_something_to_count(
    body: dict[str, Any], given: Any
) -> None:
    assert requested(body)["input"] == given


def test_where_there_is_nothing_the_input_is_missed() -> None:
    assert "input" not in requested({"model": "m", "instructions": None})


def test_what_is_no_request_stays_what_it_is() -> None:
    assert requested(["Hi"]) == ["Hi"]


def test_the_answer() -> None:
    assert counted(7) == {"object": "response.input_tokens", "input_tokens": 7}


def test_every_field_is_one_of_a_turn_and_described_or_not() -> None:
    fields = set(ResponsesEnvelope.__annotations__)
    assert set(READ) <= fields
    assert fields - set(NOT_COUNTED) == set(READ) - {"prompt"}
