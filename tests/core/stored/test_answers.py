"""A record as its client sees it."""

from proxy.core import jsontext
from proxy.core.stored.answers import (
    conversation_object,
    deleted_conversation,
    deleted_response,
    in_progress,
    response_object,
)
from proxy.core.stored.conversation import Conversation
from proxy.core.stored.private import KEPT
from proxy.core.stored.record import Record, Status

THOUGHT = {"id": "rs_1", "type": "reasoning", "summary": []}


def test_the_response_has_its_items_in_its_place_and_nothing_private() -> None:
    answer = {"id": "resp_1", "status": "completed", "output": [], "temperature": 1.0, "usage": None}
    record = Record(
        "resp_1",
        Status.COMPLETED,
        created=1,
        model="m",
        answer=jsontext.dumps(answer),
        output=jsontext.dumps([THOUGHT | {KEPT: {"text": "hidden"}}]),
    )
    assert response_object(record) == jsontext.dumps(answer | {"output": [THOUGHT]})


def test_who_knows_of_more_items_may_say_so() -> None:
    record = Record("resp_1", Status.IN_PROGRESS, created=1, model="m", answer=b'{"output":[]}')
    assert response_object(record) == b'{"output":[]}'
    assert response_object(record, b'[{"id":"msg_1"}]') == b'{"output":[{"id":"msg_1"}]}'


def test_what_is_gone_is_told() -> None:
    assert deleted_response("resp_1") == {"id": "resp_1", "object": "response.deleted", "deleted": True}
    assert deleted_conversation("conv_1") == {
        "id": "conv_1",
        "object": "conversation.deleted",
        "deleted": True,
    }


def test_a_conversation_always_has_metadata() -> None:
    assert conversation_object(Conversation("conv_1", created=7)) == {
        "id": "conv_1",
        "object": "conversation",
        "created_at": 7,
        "metadata": {},
    }
    labelled = Conversation("conv_1", 7, b'{"a":"b"}')
    assert conversation_object(labelled)["metadata"] == {"a": "b"}


def test_queued_work_is_in_progress_when_a_backend_is_asked() -> None:
    answer = b'{"id":"resp_1","status":"queued","output":[]}'
    begun = in_progress(Record("resp_1", Status.QUEUED, created=1, model="m", answer=answer))
    assert begun.status is Status.IN_PROGRESS
    assert begun.answer == b'{"id":"resp_1","status":"in_progress","output":[]}'
