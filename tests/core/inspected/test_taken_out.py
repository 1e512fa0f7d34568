"""What a text has that a shorter one lacks."""

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.inspected.taken_out import MOST_PIECES, Piece, pieces
from tests.support.tables import table


@table(
    "source, kept, expected",
    [
        ("", "", []),
        ("same", "same", [("same", True)]),
        ("all of it", "", [("all of it", False)]),
        ("I look. <call>{}</call>", "I look. ", [("I look. ", True), ("<call>{}</call>", False)]),
        ("<t>a</t>So it is.", "So it is.", [("<t>a</t>", False), ("So it is.", True)]),
        (
            "1 <x/> two <y/> end",
            "1  two  end",
            [("1 ", True), ("<x/>", False), (" two ", True), ("<y/>", False), (" end", True)],
        ),
        ("nothing alike", "XYZ", [("nothing alike", False)]),
        ("short", "short and more", [("short", True)]),
    ],
)  # fmt: skip
def test_pieces(source: str, kept: str, expected: list[tuple[str, bool]]) -> None:
    assert pieces(source, kept) == [Piece(*piece) for piece in expected]


@given(st.text("ab<", max_size=300), st.text("ab<", max_size=300))
def test_pieces_are_the_source(source: str, kept: str) -> None:
    found = pieces(source, kept)
    assert "".join(piece.text for piece in found) == source
    assert kept.startswith("".join(piece.text for piece in found if piece.kept))


def test_too_many_pieces_end_in_one() -> None:
    kept = "".join(f"{number:030d}" for number in range(MOST_PIECES))
    source = "".join(f"<x>{number:030d}" for number in range(MOST_PIECES))
    found = pieces(source, kept)
    assert len(found) == MOST_PIECES + 1
    assert "".join(piece.text for piece in found) == source
