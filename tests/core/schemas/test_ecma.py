"""V41: what JavaScript's patterns have and Python's have not."""

import re
import sys
import unicodedata

import pytest

from proxy.core.schemas.ecma import ASSIGNED, CATEGORIES, LONGEST, translated
from tests.support.tables import table


@table(
    ("pattern", "fits", "does_not"),
    [
        (r"^\p{L}+$", ["Zürich", "日本", "Ωmega"], ["a1", "", "a b", "²"]),
        (r"^\pL$", ["é"], ["1"]),
        (r"^\p{Letter}\p{gc=Nd}$", ["a1", "ß٣"], ["1a"]),
        (r"^\P{L}+$", ["12 _", "\U0001f600"], ["a", "1a"]),
        (r"^[\p{L}\p{M}'-]+$", ["O'Neil-é", "e\u0301"], ["a.b"]),
        (r"^[^\p{Lu}]$", ["a"], ["A"]),
        (r"^[^\P{Lu}]$", ["A"], ["a"]),
        (r"^[\P{L}x]+$", ["1x"], ["y"]),
        (r"^\u{1F600}$", ["\U0001f600"], ["x"]),
        (r"^[\u{61}-\u{63}]$", ["b"], ["d"]),
        (r"^(?<year>\d{4})$", ["2026"], ["26"]),
        (r"^(?P<year>\d{4})$", ["2026"], ["26"]),
        (r"^[]\p{L}]+$", ["a]"], ["1"]),
        (r"^[^]\p{L}]+$", ["1"], ["]", "a"]),
        (r"^[(?<x]$", ["<"], ["y"]),
        (r"^[[a]$", ["[", "a"], ["b"]),
        (r"^[a[^]\[]$", ["a[]", "^[]"], ["a["]),
        (r"^\\p$", ["\\p"], ["p"]),
        (r"^[\]\p{Sc}]$", ["]", "€"], ["\\"]),
        (r"^\$\[x\]\{\/$", ["$[x]{/"], ["x"]),
    ],
)
def test_it_fits_what_it_would_fit_there(pattern: str, fits: list[str], does_not: list[str]) -> None:
    said = translated(pattern)
    assert said is not None
    assert [text for text in fits if not re.search(said, text)] == []
    assert [text for text in does_not if re.search(said, text)] == []


@table("pattern", [r"\p{Script=Latin}", r"\p{Cn}", r"\p{Emoji}", r"\pQ", r"\u{FFFFFF}", r"\u{}", r"\p{"])
def test_for_some_there_are_no_words(pattern: str) -> None:
    assert translated(pattern) is None


def test_a_pattern_does_not_grow_without_a_bound() -> None:
    """32 KB of `\\p{L}` were twenty million characters, and half a minute to compile."""
    assert translated(r"\p{L}" * (LONGEST // 5)) is None
    assert len(translated(r"\p{L}" * 10) or "") > 30_000


@table("pattern", ["", "^a+$", r"^\d{3}[a-z\]]\b(?:x|y)$", r"\\u{1}", "("])
def test_what_python_knows_stays_as_it_is(pattern: str) -> None:
    assert translated(pattern) == pattern


def test_no_character_of_a_category_is_elsewhere() -> None:
    places = {point for points in ASSIGNED for point in points}
    elsewhere = (point for point in range(sys.maxunicode + 1) if point not in places)
    assert {unicodedata.category(chr(point)) for point in elsewhere}.isdisjoint(CATEGORIES)


@pytest.mark.parametrize("category", ["L", "Nd", "Zs"])
def test_a_set_holds_its_category_and_nothing_else(category: str) -> None:
    fits = re.compile(translated(rf"\p{{{category}}}") or "").fullmatch
    for point in range(0, sys.maxunicode + 1, 7):
        assert bool(fits(chr(point))) is unicodedata.category(chr(point)).startswith(category)
