"""The pieces of a thought that a vendor wants back: one object again, in one pass."""

from typing import Any

from proxy.core.fragments import joined
from tests.support.quickness import quickly
from tests.support.tables import table

TEXT = {"type": "reasoning.text", "index": 0, "format": "f"}


@table(
    ("details", "whole"),
    [
        ([], []),
        (
            [TEXT | {"text": "H"}, TEXT | {"text": "m"}, TEXT | {"text": None, "signature": "s"}],
            [TEXT | {"text": "Hm", "signature": "s"}],
        ),
        (
            [TEXT | {"text": "H", "signature": "s"}, TEXT | {"text": "m", "signature": None}],
            [TEXT | {"text": "Hm", "signature": "s"}],
        ),
        (
            [TEXT | {"text": "a"}, TEXT | {"text": "b", "index": 1}],
            [TEXT | {"text": "a"}, TEXT | {"text": "b", "index": 1}],
        ),
        (
            [{"type": "reasoning.summary", "summary": "a"}, {"type": "reasoning.summary", "summary": "b"}],
            [{"type": "reasoning.summary", "summary": "ab"}],
        ),
        (
            [{"type": "reasoning.encrypted", "data": "x"}, {"type": "reasoning.encrypted", "data": "y"}],
            [{"type": "reasoning.encrypted", "data": "x"}, {"type": "reasoning.encrypted", "data": "y"}],
        ),
        (
            [TEXT | {"text": "a", "summary": None}, TEXT | {"summary": "b"}, TEXT | {"text": "c"}],
            [TEXT | {"text": "ac", "summary": "b"}],
        ),
        ([TEXT | {"text": "a"}, TEXT | {"text": 7}], [TEXT | {"text": "a"}, TEXT | {"text": 7}]),
        ([TEXT | {"text": None}, TEXT | {"text": "a"}], [TEXT | {"text": None}, TEXT | {"text": "a"}]),
        ([7, TEXT | {"text": "a"}, "x"], [7, TEXT | {"text": "a"}, "x"]),
    ],
)
def test_the_fragments_of_a_stream_are_joined_as_a_whole_body_has_them(details: Any, whole: Any) -> None:
    """OpenRouter checks signatures over whole texts."""
    assert joined(details) == whole


def test_attack_12_forty_thousand_pieces_are_joined_in_one_pass() -> None:
    pieces = [TEXT | {"text": "a" * 250} for _ in range(40_000)]
    with quickly(1):
        (whole,) = joined(pieces)
    assert whole["text"] == "a" * 10_000_000


def test_the_pieces_themselves_stay_as_they_are() -> None:
    pieces = [TEXT | {"text": "a"}, TEXT | {"text": "b"}]
    joined(pieces)
    assert pieces == [TEXT | {"text": "a"}, TEXT | {"text": "b"}]
