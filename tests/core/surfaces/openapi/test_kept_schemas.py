"""What is said of what is kept, held against those who read and write it."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.stored import answers, pages
from proxy.core.stored.conversation import Conversation, Entry
from proxy.core.stored.queries import INCLUDABLE, Query, included
from proxy.core.stored.record import Record, Status
from proxy.core.surfaces.openapi.kept_schemas import INCLUDE, KEPT_ANSWERS, KEPT_REQUESTS, METADATA, PAGE
from proxy.core.surfaces.openapi.schemas import ANSWER_SCHEMAS, request_schemas
from proxy.core.surfaces.responses.conversations import new_conversation, new_items, new_metadata
from proxy.core.surfaces.responses.metadata import checked_metadata

OWN = KEPT_REQUESTS | KEPT_ANSWERS
READERS = {"NewConversation": new_conversation, "NewMetadata": new_metadata, "NewItems": new_items}
HI = {"role": "user", "content": "Hi"}


def fits(name: str, value: Any) -> bool:
    whole = {
        "$ref": f"#/components/schemas/{name}",
        "components": {"schemas": request_schemas() | ANSWER_SCHEMAS | OWN},
    }
    return Draft202012Validator(whole).is_valid(value)


@pytest.mark.parametrize("name", OWN)
def test_each_is_json_schema_and_has_a_name_of_its_own(name: str) -> None:
    Draft202012Validator.check_schema(OWN[name])
    assert name not in request_schemas() | ANSWER_SCHEMAS


@pytest.mark.parametrize(
    ("name", "body", "right"),
    [
        ("NewConversation", {}, True),
        ("NewConversation", {"items": None, "metadata": None}, True),
        ("NewConversation", {"items": [HI] * 20, "metadata": {"a": "b"}}, True),
        ("NewConversation", {"items": [HI] * 21}, False),
        ("NewConversation", {"metadata": {"a": 1}}, False),
        ("NewMetadata", {"metadata": None}, True),
        ("NewMetadata", {}, False),
        ("NewItems", {"items": []}, True),
        ("NewItems", {"items": [HI] * 21}, False),
        ("NewItems", {"items": None}, False),
        ("NewItems", {}, False),
    ],
)
def test_what_fits_is_read_and_nothing_else(name: str, body: Any, right: bool) -> None:
    assert fits(name, body) is right
    if right:
        READERS[name](body)
    else:
        with pytest.raises(ClientFault):
            READERS[name](body)


@pytest.mark.parametrize(
    ("metadata", "right"),
    [
        ({str(number): "" for number in range(16)}, True),
        ({str(number): "" for number in range(17)}, False),
        ({"a" * 64: "b" * 512}, True),
        ({"a" * 65: ""}, False),
        ({"a": "b" * 513}, False),
    ],
)
def test_t22_metadata_has_the_bounds_that_are_told(metadata: dict[str, str], right: bool) -> None:
    assert Draft202012Validator(METADATA).is_valid(metadata) is right
    if right:
        checked_metadata(metadata)
    else:
        with pytest.raises(ClientFault):
            checked_metadata(metadata)


ENTRIES = [Entry(1, "msg_1", b'{"type": "message", "id": "msg_1"}')]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("DeletedResponse", answers.deleted_response("resp_1")),
        ("DeletedConversation", answers.deleted_conversation("conv_1")),
        ("Conversation", answers.conversation_object(Conversation("conv_1", 7))),
        ("StoredItem", jsontext.loads(ENTRIES[0].item)),
        ("StoredItems", jsontext.loads(pages.listing(pages.listed_entries(ENTRIES)))),
        ("StoredItems", jsontext.loads(pages.listing([]))),
    ],
)
def test_answers_fit(name: str, answer: Any) -> None:
    assert fits(name, answer)


@pytest.mark.parametrize("status", Status)
def test_a_response_fits_in_every_status(status: Status) -> None:
    answer = jsontext.dumps({"id": "resp_1", "object": "response", "status": status})
    record = Record("resp_1", status, 7, "m", answer=answer)
    assert fits("StoredResponse", jsontext.loads(answers.response_object(record)))


def test_queries_are_as_they_are_read() -> None:
    assert (
        set(INCLUDE["include[]"]["items"]["enum"])
        == INCLUDABLE
        == included(Query(("include[]", word) for word in INCLUDABLE))
    )
    for limit in (PAGE["limit"]["minimum"], PAGE["limit"]["maximum"]):
        assert pages.page_wish(Query([("limit", str(limit))])).limit == limit
    for order in PAGE["order"]["enum"]:
        assert pages.page_wish(Query([("order", order)])).order == order
