"""A record as its client sees it."""

from proxy.core import jsontext
from proxy.core.stored.answers import response_object
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
