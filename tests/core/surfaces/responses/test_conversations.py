"""Requests around conversations."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.ids import ItemIds
from proxy.core.ledger import Ledger
from proxy.core.stored.references import OwnItems
from proxy.core.surfaces.responses.conversations import (
    kept_in_conversation,
    new_conversation,
    new_items,
    new_metadata,
)
from tests.support.replies import counting_mint
from tests.support.tables import table

HI = {"role": "user", "content": "Hi"}


def ids() -> ItemIds:
    mint = counting_mint()
    return mint.items_of(mint.response())


@table(
    ("body", "made"),
    [
        (None, ([], {})),
        ({}, ([], {})),
        ({"items": None, "metadata": None}, ([], {})),
        ({"items": [], "metadata": {"a": "b"}}, ([], {"a": "b"})),
        ({"items": [HI] * 20}, ([HI] * 20, {})),
    ],
)
def test_t69_a_conversation_is_made_of_much_or_little(body: Any, made: Any) -> None:
    assert new_conversation(body) == made


@table(("body", "metadata"), [({"metadata": {"a": "b"}}, {"a": "b"}), ({"metadata": None}, {})])
def test_t70_metadata_is_replaced(body: Any, metadata: Any) -> None:
    assert new_metadata(body) == metadata


REFUSED: list[tuple[Any, Any, str | None, str | None]] = [
    (new_conversation, [], "invalid_type", None),
    (new_conversation, {"items": {}}, "invalid_type", "items"),
    (new_conversation, {"items": [HI] * 21}, "array_above_max_length", "items"),
    (new_conversation, {"metadata": []}, "invalid_type", "metadata"),
    (new_metadata, {}, "missing_required_parameter", "metadata"),
    (new_items, {}, "missing_required_parameter", "items"),
    (new_items, {"items": None}, "missing_required_parameter", "items"),
    (new_items, {"items": "Hi"}, "invalid_type", "items"),
    (new_items, {"items": [HI | {"id": 7}]}, "invalid_type", "items[0].id"),
    (new_items, {"items": [HI, HI | {"id": "item_1"}, 7]}, "invalid_value", "items[1].id"),
]


@table(("read", "body", "code", "param"), REFUSED)
def test_t69_t70_t73_what_is_wrong_is_refused(read: Any, body: Any, code: str, param: str | None) -> None:
    with pytest.raises(ClientFault) as refused:
        read(body)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, code, param)


@table(
    ("item", "beginning"),
    [
        (HI, "msg"),
        (HI | {"type": "message"}, "msg"),
        ({"type": "function_call"}, "fc"),
        ({"type": "function_call_output"}, "fc"),
        ({"type": "custom_tool_call"}, "ctc"),
        ({"type": "custom_tool_call_output"}, "ctc"),
        ({"type": "reasoning"}, "rs"),
    ],
)
def test_t73_the_id_of_an_item_is_of_its_kind(item: Any, beginning: str) -> None:
    own = item | {"id": f"{beginning}_1"}
    assert new_items({"items": [own]}) == [own]
    with pytest.raises(ClientFault) as refused:
        new_items({"items": [item | {"id": "x_1"}]})
    assert refused.value.message == (
        f"Invalid 'items[0].id': 'x_1'. Expected an ID that begins with '{beginning}'."
    )


@table(
    "item",
    [
        {"id": "rs_1"},  # refers to a stored item of any kind
        {"type": "item_reference", "id": "x"},
        {"type": "of_tomorrow", "id": "x"},
        HI | {"id": None},
    ],
)
def test_other_ids_are_taken_as_they_come(item: Any) -> None:
    assert new_items({"items": [item]}) == [item]


def test_t72_items_are_kept_in_one_form() -> None:
    [kept] = kept_in_conversation(OwnItems([HI], [0]), ids(), Ledger())
    assert kept.pop("id").startswith("msg_")
    assert kept == {
        "type": "message",
        "role": "user",
        "status": "completed",
        "content": [{"type": "input_text", "text": "Hi"}],
    }


@table(
    ("wrong", "param"),
    [
        (7, "items[1]"),
        ({"role": "nobody", "content": "Hi"}, "items[1].role"),
        ({"type": "item_reference"}, "items[1].id"),
        ({"type": "function_call", "name": "f"}, "items[1].call_id"),
    ],
)
def test_t73_an_item_that_no_model_could_be_sent_is_refused_by_its_path(wrong: Any, param: str) -> None:
    with pytest.raises(ClientFault) as refused:
        kept_in_conversation(OwnItems([HI, wrong, HI], [0, 1, 2]), ids(), Ledger())
    assert refused.value.param == param
    with pytest.raises(ClientFault) as refused:
        kept_in_conversation(OwnItems([HI, wrong, HI], [0, 7, 8]), ids(), Ledger())
    assert refused.value.param == param.replace("1", "7")
