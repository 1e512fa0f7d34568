"""Ends that follow from the record alone."""

from typing import Any

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning
from proxy.core.stored import endings
from proxy.core.stored.answers import response_object
from proxy.core.stored.endings import terminal_event
from proxy.core.stored.private import KEPT, opened, thought_in
from proxy.core.stored.record import Record, Status
from tests.support.tables import table

ITEM: dict[str, Any] = {"id": "msg_1", "type": "message", "status": "completed", "content": []}
ANSWER: dict[str, Any] = {
    "id": "resp_1",
    "status": "in_progress",
    "completed_at": None,
    "error": None,
    "incomplete_details": None,
    "output": [],
    "usage": None,
    "store": True,
}


def a_record(status: Status = Status.IN_PROGRESS, **answer: Any) -> Record:
    return Record(
        "resp_1",
        status,
        created=1,
        model="m",
        background=True,
        answer=jsontext.dumps(ANSWER | {"status": status} | answer),
        output=jsontext.dumps([ITEM]),
    )


ENDED = "The process that worked on this response ended. Nothing was resumed; ask again."
ENDS = [
    (endings.orphaned, "server_error", ENDED),
    (endings.stopped, "server_shutting_down", "The server is shutting down."),
    (endings.timed_out, "upstream_timeout", "The response took longer than responses may take here."),
]


@table(("end", "code", "message"), ENDS)
def test_a_record_fails_with_what_was_finished(end: Any, code: str, message: str) -> None:
    for status in (Status.QUEUED, Status.IN_PROGRESS):
        record = end(a_record(status))
        assert record.status is Status.FAILED
        assert record.output == jsontext.dumps([ITEM])
        error = {"code": code, "message": message}
        assert jsontext.loads(record.answer) == ANSWER | {"status": "failed", "error": error}


def test_a_cancelled_record_has_no_error() -> None:
    record = endings.cancelled(a_record())
    assert record.status is Status.CANCELLED
    assert record.output == jsontext.dumps([ITEM])
    assert jsontext.loads(record.answer) == ANSWER | {"status": "cancelled"}


def test_whoever_cancels_may_know_of_more_items() -> None:
    output = jsontext.dumps([ITEM, ITEM | {"id": "msg_2", "status": "incomplete"}])
    assert endings.cancelled(a_record(), output).output == output


@table(
    ("status", "event"),
    [
        (Status.COMPLETED, "response.completed"),
        (Status.INCOMPLETE, "response.incomplete"),
        (Status.FAILED, "response.failed"),
        (Status.CANCELLED, "response.failed"),
    ],
)
def test_an_end_is_told_by_one_event_with_the_whole_response(status: Status, event: str) -> None:
    told = jsontext.loads(terminal_event(a_record(status), 7))
    response = ANSWER | {"status": status, "output": [ITEM]}
    assert list(told.items()) == [("type", event), ("sequence_number", 7), ("response", response)]


def test_the_event_has_nothing_private() -> None:
    record = endings.cancelled(a_record(), jsontext.dumps([ITEM | {KEPT: {"text": "hidden"}}]))
    assert b"hidden" not in terminal_event(record, 0)


@table("status", [Status.COMPLETED, Status.INCOMPLETE, Status.FAILED, Status.QUEUED, Status.IN_PROGRESS])
def test_t01_what_is_read_later_is_what_the_client_got(status: Status) -> None:
    thought = {"id": "rs_1", "type": "reasoning", "summary": []}
    response = ANSWER | {"status": status.value, "output": [thought, ITEM], "temperature": 1.0}
    record = endings.answered(
        a_record(Status.QUEUED), response, {"rs_1": Reasoning("hidden", {"chat": {}})}, "m"
    )
    assert record.status is status
    assert response_object(record) == jsontext.dumps(response)
    [kept, _] = opened(jsontext.loads(record.output), "m", Ledger())
    assert thought_in(kept) == Reasoning("hidden", {"chat": {}})


def test_an_answer_without_thoughts_has_nothing_private() -> None:
    response = ANSWER | {"status": "completed", "output": [ITEM]}
    assert endings.answered(a_record(), response).output == jsontext.dumps([ITEM])
