"""What a request may name, in which forms."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.stored.named import previous_and_conversation
from tests.support.tables import table

FORM = "'resp_' and at most 123 letters, digits, '_' or '-'"


@table(
    ("body", "found"),
    [
        ({}, (None, None)),
        ({"previous_response_id": None, "conversation": None}, (None, None)),
        ({"previous_response_id": "resp_1"}, ("resp_1", None)),
        ({"conversation": "conv_1"}, (None, "conv_1")),
        ({"conversation": {"id": "conv_1"}}, (None, "conv_1")),
        ({"previous_response_id": "resp_1", "conversation": None}, ("resp_1", None)),
    ],
)
def test_t76_what_is_named(body: dict[str, Any], found: tuple[str | None, str | None]) -> None:
    assert previous_and_conversation(body) == found


@table(
    ("body", "code", "param"),
    [
        ({"previous_response_id": ""}, "invalid_value", "previous_response_id"),
        ({"previous_response_id": "msg_1"}, "invalid_value", "previous_response_id"),
        ({"previous_response_id": "resp_" + "a" * 4000}, "invalid_value", "previous_response_id"),
        ({"conversation": {}}, "missing_required_parameter", "conversation.id"),
        ({"conversation": {"id": None}}, "missing_required_parameter", "conversation.id"),
        ({"conversation": {"id": 7}}, "invalid_type", "conversation.id"),
        ({"conversation": {"id": "abc"}}, "invalid_value", "conversation.id"),
        ({"conversation": 7}, "invalid_type", "conversation"),
        ({"conversation": []}, "invalid_type", "conversation"),
        ({"conversation": ""}, "invalid_value", "conversation"),
        ({"conversation": "abc"}, "invalid_value", "conversation"),
        (
            {"previous_response_id": "resp_1", "conversation": "conv_1"},
            "mutually_exclusive_parameters",
            None,
        ),
    ],
)
def test_t11_t12_t76_what_is_refused(body: dict[str, Any], code: str, param: str | None) -> None:
    with pytest.raises(ClientFault) as refused:
        previous_and_conversation(body)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, code, param)


def test_a_refusal_says_what_belongs_there() -> None:
    with pytest.raises(ClientFault) as refused:
        previous_and_conversation({"previous_response_id": "msg_1"})
    assert refused.value.message == f"previous_response_id must be the id of a response, {FORM}, got 'msg_1'."
    with pytest.raises(ClientFault) as refused:
        previous_and_conversation({"conversation": "abc"})
    assert refused.value.message == (
        "conversation must be the id of a conversation, which begins with 'conv_', got 'abc'."
    )
