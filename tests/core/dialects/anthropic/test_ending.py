"""Every word for the ending, and what is counted."""

from typing import Any

from proxy.core.dialects.anthropic.ending import explanation, finish, usage
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from tests.support.tables import table


@table(
    ("reason", "expected"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("tool_use", Finish.STOP),
        ("pause_turn", Finish.STOP),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("refusal", Finish.FILTER),
    ],
)
def test_words(reason: str, expected: Finish) -> None:
    ledger = Ledger()
    assert finish(reason, ledger) is expected
    assert not ledger.oddities


def test_an_unknown_word_is_a_stop_that_is_counted() -> None:
    ledger = Ledger()
    assert finish("enough", ledger) is Finish.STOP
    assert ledger.oddities == {"finish_unknown": 1}


@table(
    ("details", "expected"),
    [
        ({"explanation": "Because."}, "Because."),
        ({"explanation": None}, ""),
        ({}, ""),
        (None, ""),
        ("x", ""),
    ],
)
def test_the_explanation(details: Any, expected: str) -> None:
    assert explanation(details) == expected


@table(
    ("counts", "expected"),
    [
        ({"input_tokens": 9, "output_tokens": 3}, Usage(9, 3, 12)),
        (
            {
                "input_tokens": 9,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 2,
                "output_tokens": 40,
                "output_tokens_details": {"thinking_tokens": 12},
            },
            Usage(15, 40, 55, cached_tokens=4, reasoning_tokens=12, cache_write_tokens=2),
        ),
        ({"output_tokens": 3}, Usage(0, 3, 3)),
        ({"input_tokens": 9.5, "output_tokens": -1}, Usage(9, 0, 9)),
        ({"input_tokens": 9, "output_tokens": "x", "output_tokens_details": 1}, Usage(9, 0, 9)),
        ({"input_tokens": float("inf"), "output_tokens": 1}, Usage(0, 1, 1)),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        ({}, None),
    ],
)
def test_usage(counts: dict, expected: Usage | None) -> None:
    """What was read from the cache, or written there, is counted beside `input_tokens`, not in it."""
    assert usage(counts) == expected
