"""What stands outside of strings, however a long text is cut to look at it (attack-04, attack-22)."""

import re
from itertools import product

import pytest

from proxy.core import jsontext
from proxy.core import unquoted as module
from proxy.core.unquoted import has_more_values, unquoted

STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
PIECES = ['"', "\\", ",", "[", "a", '\\"', "\\\\", "1", '"\\', ": "]


def outside(text: str) -> bytes:
    return b"".join(unquoted(text.encode()))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("", ""),
        ("[1, 2]", "[1, 2]"),
        ('{"a": "b,c"}', '{": "}'),
        (r'["\"", "\\", "\\\"", 1]', '[", ", ", 1]'),
        ('"whole"', '"'),
        ('["cut', "["),
    ],
)
def test_each_string_is_one_mark(text: str, left: str) -> None:
    assert outside(text) == left.encode()


@pytest.mark.parametrize("size", range(1, 8))
def test_no_cut_changes_it(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE_BYTES", size)
    for one, two, three in product(PIECES, repeat=3):
        text = jsontext.compact([one, two + three, 1, {three + two: one * 3}])
        assert outside(text).decode() == STRING.sub('"', text)


def test_attack_04_everything_that_becomes_an_object_counts() -> None:
    for text in (
        b"[%b0]" % (b"0," * 9),
        b"[%b0]" % (b"[]," * 5),
        b"[" * 10,
        b'{%b"":1}' % (b'"":1,' * 5),
        b'[%b""]' % (b'"",' * 5),
    ):
        assert has_more_values(text, 8), text
        assert not has_more_values(text, 12), text


def test_attack_22_nothing_in_a_text_counts() -> None:
    text = jsontext.dumps(['[{,\\"' * 100_000])
    assert not has_more_values(text, 10)
    assert has_more_values(text[:-2] + b'",1,2,3,4,5,6,7,8,9]', 10)
