"""How a record ends, and the event that tells of an end.

Where it is not by its backend's answer, all of it follows from the record alone: whoever finds that it must end writes
the same bytes, whichever process that is. What was finished until then stays.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import orjson

from proxy.core import jsontext
from proxy.core.model import Reasoning
from proxy.core.stored.answers import response_object
from proxy.core.stored.private import with_thoughts
from proxy.core.stored.record import Record, Status

ORPHANED: Final = "The process that worked on this response ended. Nothing was resumed; ask again."
STOPPED: Final = "The server is shutting down."
TOO_LONG: Final = "The response took longer than responses may take here."

NO_THOUGHTS: Final[Mapping[str, Reasoning]] = MappingProxyType({})

EVENTS: Final = {
    Status.COMPLETED: "response.completed",
    Status.INCOMPLETE: "response.incomplete",
    Status.FAILED: "response.failed",
    Status.CANCELLED: "response.failed",  # no event of another name exists, and clients break on one
}


def answered(
    record: Record, response: dict[str, Any], thoughts: Mapping[str, Reasoning] = NO_THOUGHTS, model: str = ""
) -> Record:
    """Fills in the record of an answer, and returns it. `response`: the object that its client gets, in whatever status
    it is. `thoughts`: what the backend wants back of the items with these ids, by this model."""
    record.status = Status(response["status"])
    record.answer = jsontext.dumps(response | {"output": []})
    record.output = jsontext.dumps(with_thoughts(response["output"], thoughts, model))
    return record


def orphaned(record: Record) -> Record:
    """Its process is gone."""
    return failed(record, "server_error", ORPHANED)


def stopped(record: Record) -> Record:
    """Its process is about to end, and cannot wait for it any longer."""
    return failed(record, "server_shutting_down", STOPPED)


def timed_out(record: Record) -> Record:
    return failed(record, "upstream_timeout", TOO_LONG)


def failed(record: Record, code: str, message: str) -> Record:
    return _ended(record, Status.FAILED, {"code": code, "message": message})


def cancelled(record: Record, output: bytes | None = None) -> Record:
    """`output`: the items up to now, the open one as `incomplete`, where somebody knows more than the record."""
    if output is not None:
        record = replace(record, output=output)
    return _ended(record, Status.CANCELLED, None)


def _ended(record: Record, status: Status, error: dict[str, str] | None) -> Record:
    end: dict[str, Any] = {"status": status, "completed_at": None, "error": error, "incomplete_details": None}
    return replace(record, status=status, answer=jsontext.dumps(jsontext.loads(record.answer) | end))


def terminal_event(record: Record, number: int) -> bytes:
    """The last event of a final record, as JSON. `number`: its own, one above the last that was sent."""
    event = {
        "type": EVENTS[record.status],
        "sequence_number": number,
        "response": orjson.Fragment(response_object(record)),
    }
    return jsontext.dumps(event)
