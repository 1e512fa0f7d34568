"""JSON as models write it."""

from contextlib import suppress
from typing import Any

import pytest

from proxy.core.jsontext import BadJson
from proxy.core.markup import jsonish
from proxy.core.markup.jsonish import BARE, JSON, PYTHON, Notation, Scan
from tests.support.quickness import quickly
from tests.support.tables import table

MARKED = jsonish.notation(quote="<q>", bare_text=True)


@table(
    ("text", "expected"),
    [
        ('{"a": 1} b', Scan(8, "")),
        ("[]", Scan(2, "")),
        ('{"a": "}\\"]"}x', Scan(13, "")),
        ("{'a': '}'}x", Scan(10, "")),
        ('[{"a": [1', Scan(9, "]}]")),
        ('{"a": "x', Scan(8, "}")),
        ('{"a": "x\\', Scan(9, "}")),
        ('{"a": "x\\"', Scan(10, "}")),
        ("{'a", Scan(3, "}")),
        ('{"a": 1]', Scan(7, "}")),
        ('{"a": 1</b>', Scan(7, "}")),
        ("{a b}", Scan(5, "")),
        ("{(1)}", Scan(1, "}")),
    ],
)
def test_a_value_is_found_up_to_its_own_end(text: str, expected: Scan) -> None:
    assert jsonish.scan(text, 0) == expected


@table(
    ("text", "expected"),
    [
        ("{a:<q>}<q>}x", Scan(11, "")),
        ("{a:<q>}", Scan(7, "}")),
        ("{a:<", Scan(4, "}")),
        ("{a:<q", Scan(5, "}")),
        ("{a:<b", Scan(3, "}")),
        ("{a:x y, b:1}", Scan(12, "")),
    ],
)
def test_a_token_as_quotation_mark(text: str, expected: Scan) -> None:
    assert jsonish.scan(text, 0, MARKED) == expected


@table(
    ("text", "how", "expected"),
    [
        ('{"a": [1, null]}', JSON, {"a": [1, None]}),
        ('{"a": 1,}', JSON, {"a": 1}),
        ("[1, 2, ]", JSON, [1, 2]),
        ("{'a': True, 'b': False, 'c': None}", JSON, {"a": True, "b": False, "c": None}),
        ("{a: 1, $b-c: 2}", JSON, {"a": 1, "$b-c": 2}),
        ("{1: 'x'}", JSON, {"1": "x"}),
        ('{"a": "b\nc"}', JSON, {"a": "b\nc"}),
        (r"{'a': 'it\'s \"b\" \x41 \u00e9 \d'}", JSON, {"a": 'it\'s "b" A é \\d'}),
        ("{'a': 'b\\\nc'}", JSON, {"a": "bc"}),
        ("{'a': 'say \"b\"'}", JSON, {"a": 'say "b"'}),
        (
            "{'a': 007, 'b': +5, 'c': 1.50, 'd': 2., 'e': -1e3, 'f': 0}",
            JSON,
            {"a": 7, "b": 5, "c": 1.5, "d": 2.0, "e": -1000.0, "f": 0},
        ),
        ("{'a': NaN, 'b': -Infinity, 'c': undefined}", JSON, {"a": None, "b": None, "c": None}),
        ("{'a': (1, 'b'), 'c': ()}", PYTHON, {"a": [1, "b"], "c": []}),
        ("{'a': {'b', 'c'}, 'd': {}}", PYTHON, {"a": ["b", "c"], "d": {}}),
        ("{a=1, b='it's'}", PYTHON, {"a": 1, "b": "it's"}),
        ('{a="x "y" z"}', PYTHON, {"a": 'x "y" z'}),
        (
            '{a:<q>x, "y"<q>, b:some text, c:[<q><q>, 5]}',
            MARKED,
            {"a": 'x, "y"', "b": {BARE: "some text"}, "c": ["", {BARE: "5"}]},
        ),
        ("{a:<q>x<q>b:<q>y<q>}", MARKED, {"a": "x", "b": "y"}),
        ("'x'", JSON, "x"),
        (r'{"a": "C:\Music\new", "b": "x\ny"}', JSON, {"a": r"C:\Music\new", "b": "x\ny"}),
        (r'{"a": "\d+ \"q\" \\n"}', JSON, {"a": r'\d+ "q" \\n'}),
        (r'{"a": "it\'s \n"}', JSON, {"a": "it's \n"}),
        (r'{"a": "\u00e", "b": "\x41"}', JSON, {"a": r"\u00e", "b": r"\x41"}),
        (r'{a="\d\n"}', PYTHON, {"a": "\\d\n"}),
    ],
)
def test_what_is_forgiven(text: str, how: Notation, expected: Any) -> None:
    assert jsonish.parse(text, how) == expected


@table(
    "text", ["", "{", "}", "{'a': b}", "{a b}", "<a>", "{'a'}}", ":", "[,:]", "{'a': 'b", "'a", "{'a': 1_0}"]
)
def test_what_is_not(text: str) -> None:
    with pytest.raises(BadJson):
        jsonish.parse(text)


@table("word", ["0" * 20_000 + "x", "0" * 20_000, "-" + "0" * 20_000 + ".", "0" * 20_000 + "e"])
def test_attack_11_zeros_in_front_are_read_once(word: str) -> None:
    with quickly(), suppress(BadJson):
        assert jsonish.parse(f'{{"a":{word}}}') in ({"a": 0}, {"a": -0.0})
