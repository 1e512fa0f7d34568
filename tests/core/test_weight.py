"""attack-14: no text takes more memory than it weighs, and ordinary ones weigh little more than they take."""

import sys
from typing import Any

import orjson
import pytest

from proxy.core.jsontext import deeper_than
from proxy.core.weight import LIGHT_BYTES, weighed, weight

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


def test_what_is_looked_at_for_its_weight_shows_its_depth() -> None:
    for words, levels in ("", 5), ("x" * LIGHT_BYTES, 3):
        value = {"a": [[], {"b": words}], "c": {}}
        assert weighed(value, orjson.dumps(value)).levels == levels
    assert weighed("word", b'"word"' + b" " * LIGHT_BYTES).levels == 0


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
