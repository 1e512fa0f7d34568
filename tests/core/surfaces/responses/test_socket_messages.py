"""What a WebSocket carries besides events: one kind of message in, one form of refusal out."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault, Fault, NotFound, RateLimited
from proxy.core.surfaces.responses.socket_messages import (
    Unsteered,
    error_message,
    on_lane,
    read_create,
    take_lane,
)
from tests.support.tables import table


def test_a_message_stands_for_the_body_of_a_stream() -> None:
    """Whatever it says about things that have no meaning here."""
    said = {"type": "response.create", "model": "m", "input": "Hi", "store": False, "generate": False}
    aside = {"stream": False, "stream_options": {"x": 1}}
    assert read_create(jsontext.dumps(said | aside)) == {
        "model": "m",
        "input": "Hi",
        "store": False,
        "generate": False,
        "stream": True,
    }


def test_t48_no_work_goes_on_behind_a_socket() -> None:
    with pytest.raises(ClientFault) as refused:
        read_create(jsontext.dumps({"type": "response.create", "background": True}))
    assert (refused.value.code, refused.value.param) == ("unsupported_parameter", "background")
    assert (
        read_create(jsontext.dumps({"type": "response.create", "background": False}))["background"] is False
    )


@table(
    ("message", "code", "param"),
    [
        (b"", "invalid_json", None),
        (b"{", "invalid_json", None),
        (b"[]", "invalid_type", None),
        (b'"response.create"', "invalid_type", None),
        (b"{}", "unknown_message_type", "type"),
        (b'{"type":5}', "unknown_message_type", "type"),
        (b'{"type":"session.update"}', "unknown_message_type", "type"),
    ],
)
def test_anything_else_is_refused_with_a_code(message: bytes, code: str, param: str | None) -> None:
    with pytest.raises(ClientFault) as refused:
        read_create(message)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, code, param)


@table(
    ("fault", "said"),
    [
        (
            NotFound("Gone.", code="model_not_found", param="model"),
            {
                "status": 404,
                "error": {
                    "type": "invalid_request_error",
                    "code": "model_not_found",
                    "message": "Gone.",
                    "param": "model",
                },
            },
        ),
        (
            ClientFault("No."),
            {
                "status": 400,
                "error": {
                    "type": "invalid_request_error",
                    "code": "invalid_request_error",
                    "message": "No.",
                    "param": None,
                },
            },
        ),
        (
            RateLimited("Slow down.", retry_after=7),
            {
                "status": 429,
                "error": {
                    "type": "rate_limit_error",
                    "code": "rate_limit_exceeded",
                    "message": "Slow down. Please try again in 7s.",
                    "param": None,
                },
                "headers": {"Retry-After": "7", "Retry-After-Ms": "7000"},
            },
        ),
    ],
)
def test_a_refusal_has_a_status_and_a_code_that_is_a_string(fault: Fault, said: dict[str, Any]) -> None:
    assert jsontext.loads(error_message(fault)) == {"type": "error"} | said


# ── lanes ──


@table("lane", [None, "a", "A-b_c.9", "x" * 256])
def test_v05_a_lane_is_taken_out_of_the_request(lane: str | None) -> None:
    body = {"model": "m", "stream_id": lane}
    assert take_lane(body) == lane
    assert take_lane(body) is None
    assert body == {"model": "m"}


@table("lane", ["", "a b", 'a"b', "a/b", "é", "a\n", "x" * 257, 5, ["a"]])
def test_v05_a_lane_without_a_proper_name_is_refused(lane: Any) -> None:
    with pytest.raises(ClientFault) as refused:
        take_lane({"stream_id": lane})
    assert (refused.value.code, refused.value.param) == ("invalid_value", "stream_id")


def test_what_is_refused_is_seen_even_if_it_is_empty() -> None:
    with pytest.raises(ClientFault, match=r"got ''\.$"):
        take_lane({"stream_id": ""})
    with pytest.raises(ClientFault, match=r"not ''\.$"):
        read_create(b'{"type":""}')


def test_v05_each_message_names_its_lane() -> None:
    said = b'{"type":"response.created","response":{}}'
    assert on_lane(said, None) is said
    assert jsontext.loads(on_lane(said, "a-1")) == {
        "type": "response.created",
        "response": {},
        "stream_id": "a-1",
    }
    assert jsontext.loads(error_message(ClientFault("No."), "a-1"))["stream_id"] == "a-1"


@table(
    "steer",
    [{"previous_response_id": "resp_1", "input": "Be brief."}, {"previous_response_id": None, "input": None}],
)
def test_what_is_to_steer_an_answer_comes_back(steer: dict[str, Any]) -> None:
    with pytest.raises(Unsteered) as refused:
        read_create(jsontext.dumps({"type": "response.steer"} | steer))
    assert jsontext.loads(error_message(refused.value, "a")) == {
        "type": "response.steer.failed",
        "sequence_number": 0,
        "error": {
            "type": "invalid_request_error",
            "code": "steering_not_supported",
            "message": "An answer cannot be steered here: send the input with the next response.create.",
            "param": None,
        },
        "steer": steer,
        "stream_id": "a",
    }
