"""attack-14: no text takes more memory than it weighs, and ordinary ones weigh little more than they take."""

import sys
from typing import Any

import orjson
import pytest

from proxy.core.jsontext import bounded, deeper_than
from proxy.core.weight import COPIES, LIGHT_BYTES, VALUE_BYTES, read, weighed, weight
from tests.support.tables import table

HEAVY = {
    "lists": (b"[", b"[],", b"0]"),
    "objects": (b"[", b"{},", b"0]"),
    "objects with one": (b"[", b'{"a":1.5},', b"0]"),
    "lists in lists": (b"[", b"[" * 100 + b"]" * 100 + b",", b"0]"),
    "objects in objects": (b"[", b'{"a":' * 100 + b"0" + b"}" * 100 + b",", b"0]"),
    "texts": (b"[", b'"abc",', b"0]"),
    "numbers": (b"[", b"12345678,", b"0]"),
}


def taken(value: Any, seen: set[int]) -> int:
    """In memory, with what is in it."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = [*value, *value.values()]
    elif isinstance(value, list):
        inner = value
    return sys.getsizeof(value) + sum(taken(each, seen) for each in inner)


@pytest.mark.parametrize("size", [LIGHT_BYTES, 1_000_000])
@pytest.mark.parametrize("kind", HEAVY)
def test_nothing_is_heavier_than_it_weighs(kind: str, size: int) -> None:
    begin, unit, end = HEAVY[kind]
    text = begin + unit * ((size - 3) // len(unit)) + end
    value = orjson.loads(text)
    assert taken(value, set()) <= weight(value, len(text))


def test_names_have_weight() -> None:
    value = {str(number): number for number in range(20_000)}
    assert taken(value, set()) <= weight(value, len(orjson.dumps(value)))


def test_each_value_is_counted_once_whoever_made_its_object() -> None:
    """What Python's own walk of an object comes by differs: its names, too, or not."""
    value = {"a": {f"ä{number}": [number] for number in range(10_000)}}
    text = orjson.dumps(value)
    for each in value, orjson.loads(text), dict[object, Any](value):
        assert weight(each, len(text)) == COPIES * len(text) + VALUE_BYTES * (3 + 10_002 + 30_000)


def test_what_is_looked_at_for_its_weight_shows_its_depth() -> None:
    for words, levels in ("", 5), ("x" * LIGHT_BYTES, 3):
        value = {"a": [[], {"b": words}], "c": {}}
        assert weighed(value, orjson.dumps(value)).levels == levels
    assert weighed("word", b'"word"' + b" " * LIGHT_BYTES).levels == 0


@table(
    ("text", "levels"),
    [
        ("[1.5]", 1),
        ('{"a": [0.1, [18446744073709551615, -9223372036854775808]], "b": 1e30}', 3),
        ("[[9223372036854775808.5], 12345678901234567890e2]", 2),
        ("18446744073709551616", 0),
        ('{"a": {"b": [[], 1.5, 18446744073709551616, {"c": 2.5}]}}', 4),
        ('[0.5, {"a": -9223372036854775809}, "20000000000000000001"]', 2),
        ("[20000000000000000001, NaN]", 1),
    ],
)
def test_attack_21_a_text_is_read_to_the_last_digit_however_long_it_is(text: str, levels: int) -> None:
    short, long = text.encode(), text.encode() + b" " * LIGHT_BYTES
    wanted = bounded(short)
    for data in (short, long):
        value, found = read(data, bounded)
        assert repr(value) == repr(wanted)
        assert found.weight == weight(value, len(data))
    assert found.levels == levels


@pytest.mark.parametrize("size", [0, LIGHT_BYTES])
@pytest.mark.parametrize("kind", HEAVY)
def test_nothing_is_deeper_than_it_is_said_to_be(kind: str, size: int) -> None:
    begin, unit, end = HEAVY[kind]
    text = begin + unit * 3 + b" " * size + end
    value = orjson.loads(text)
    found = weighed(value, text)
    assert found.weight == weight(value, len(text))
    assert not deeper_than(value, found.levels)


def test_words_weigh_no_more_than_their_copies() -> None:
    said = [{"role": "user", "content": "What, [then], is {this}? " * 1000} for _ in range(100)]
    assert weight(said, size := len(orjson.dumps(said))) < 3.1 * size
    assert weight("word", 1_000_000) == 3_000_000
