"""How a response ended, whichever of its words says so; and its counts in everybody's words."""

from typing import Any

from proxy.core.dialects.responses.ending import finish, has_failed, usage
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from tests.support.tables import table

COMPLETED, INCOMPLETE = "response.completed", "response.incomplete"


@table(
    ("response", "event", "expected", "odd"),
    [
        ({"status": "completed"}, COMPLETED, Finish.STOP, False),
        ({}, COMPLETED, Finish.STOP, False),
        ({"status": "completed", "incomplete_details": None}, "", Finish.STOP, False),
        ({"status": "incomplete"}, COMPLETED, Finish.LENGTH, False),
        ({"status": "completed"}, INCOMPLETE, Finish.LENGTH, False),
        (
            {"status": "completed", "incomplete_details": {"reason": "max_output_tokens"}},
            COMPLETED,
            Finish.LENGTH,
            False,
        ),
        ({"incomplete_details": {"reason": "content_filter"}}, INCOMPLETE, Finish.FILTER, False),
        ({"incomplete_details": {"reason": "boredom"}}, INCOMPLETE, Finish.LENGTH, True),
        ({"incomplete_details": {"reason": [7]}}, INCOMPLETE, Finish.LENGTH, True),
        ({"status": "completed", "incomplete_details": {"reason": "boredom"}}, COMPLETED, Finish.STOP, False),
        ({"status": [], "incomplete_details": 7}, COMPLETED, Finish.STOP, False),
    ],
)
def test_endings(response: Any, event: str, expected: Finish, odd: bool) -> None:
    ledger = Ledger()
    assert finish(response, event, ledger) is expected
    assert ledger.oddities == ({"finish_unknown": 1} if odd else {})


def test_failures() -> None:
    for status in ("failed", "cancelled"):
        assert has_failed({"status": status}, {"type": COMPLETED})
    assert has_failed({}, {"type": "response.failed"})
    assert not has_failed({"status": "in_progress"}, {"type": COMPLETED})  # the event knows better
    whole = {"status": "queued"}
    assert has_failed(whole, whole)
    assert not has_failed({"status": ["failed"]}, {})


@table(
    ("raw", "expected"),
    [
        (None, None),
        ({}, None),
        ({"total_tokens": 9}, None),
        ({"input_tokens": 4}, Usage(4, 0, 4)),
        ({"input_tokens": 4, "output_tokens": 2}, Usage(4, 2, 6)),
        (
            {
                "input_tokens": 40,
                "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 5},
                "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 15},
                "total_tokens": 61,
            },
            Usage(40, 20, 61, 30, 15, 5),
        ),
        ({"input_tokens": "many", "output_tokens": -1, "input_tokens_details": 3}, Usage(0, 0, 0)),
    ],
)
def test_usage(raw: Any, expected: Usage | None) -> None:
    assert usage(raw) == expected
