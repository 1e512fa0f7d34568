"""Lists of parts where text was expected."""

from typing import Any

from proxy.core.dialects.chat import parts
from proxy.core.events import Delta, ReasoningDelta, RefusalDelta, TextDelta
from proxy.core.ledger import Ledger
from tests.support.tables import table


@table(
    ("part", "delta"),
    [
        ("a", TextDelta("a")),
        ({"type": "text", "text": "a"}, TextDelta("a")),
        ({"type": "output_text", "text": "a", "annotations": []}, TextDelta("a")),
        ({"type": "thinking", "thinking": "Hm"}, ReasoningDelta("Hm")),
        (
            {"type": "thinking", "thinking": [{"type": "text", "text": "H"}, {"text": "m"}]},
            ReasoningDelta("Hm"),
        ),
        ({"type": "refusal", "refusal": "No"}, RefusalDelta("No")),
    ],
)
def test_known_parts(part: Any, delta: Delta) -> None:
    """F49."""
    ledger = Ledger()
    assert parts.read([part], ledger) == [delta]
    assert not ledger.oddities


def test_one_part_by_itself() -> None:
    assert parts.read({"type": "text", "text": "a"}, Ledger()) == [TextDelta("a")]


@table("part", [None, 7, [], {}, {"type": "image"}, {"type": "text", "text": None}, {"type": "thinking"}])
def test_unknown_parts_are_counted(part: Any) -> None:
    ledger = Ledger()
    assert parts.read([part], ledger) == []
    assert ledger.oddities == {"content_part_unknown": 1}
