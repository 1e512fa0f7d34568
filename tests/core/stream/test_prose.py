"""A part that is nothing but text, while it grows."""

from proxy.core.events import PartKind
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Refusal, ReplyPart, Text
from proxy.core.stream.prose import TEXT, Leading, OpenProse
from tests.support.tables import table


@table(
    ("kind", "part"),
    [(PartKind.TEXT, Text("ab")), (PartKind.REASONING, Reasoning("ab")), (PartKind.REFUSAL, Refusal("ab"))],
    ids=lambda value: getattr(value, "value", ""),
)
def test_its_pieces_become_one_part_of_its_kind(kind: PartKind, part: ReplyPart) -> None:
    assert OpenProse(kind, ["a", "b"]).part() == part


def test_log_probabilities_belong_to_a_text_if_there_are_any() -> None:
    assert OpenProse(PartKind.TEXT, ["a"], [1]).part() == Text("a", [1])
    assert OpenProse(PartKind.TEXT, ["a"]).part() == Text("a", None)


def test_two_parts_share_no_pieces() -> None:
    OpenProse(PartKind.TEXT).pieces.append("a")
    assert OpenProse(PartKind.TEXT).part() == Text("")


def test_v24_long_white_space_is_read_in_linear_time() -> None:
    leading = Leading(Ledger())
    for _ in range(100_000):
        assert leading.grown(TEXT, "\n", None) is None
    opened = leading.grown(TEXT, "Hi", None)
    assert opened is not None
    assert opened.said() == ("\n" * 100_000 + "Hi", None)
    leading.leave_out()
    assert leading.grown(TEXT, "a", None) is not opened
