"""The counting validator agrees with jsonschema's own; what it refuses to begin is told by `tools.arguments`."""

from itertools import product
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proxy.core import jsontext
from proxy.core.schemas.conformance import first_error, validator_of
from proxy.core.work import Allowance, TakesLong
from tests.support.tables import table

ARRAYS: list[Any] = [
    [],
    [1],
    ["a"],
    [1, "a"],
    ["a", 1],
    [1, 1, 1],
    ["a", "b", 3],
    [None, 1, "a"],
    "no array",
    {},
]
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
EVALUATING: dict[str, Any] = {
    "nothing": {},
    "all of them": {"items": {}},
    "the first": {"prefixItems": [{}]},
    "more than there are": {"prefixItems": [{}] * 9},
    "those that are contained": {"contains": TEXT, "minContains": 0},
    "none that are contained": {"contains": False, "minContains": 0},
    "by a reference": {"$ref": "#/$defs/first"},
    "by all of": {"allOf": [{"prefixItems": [{}]}, {"prefixItems": [{}, {}]}]},
    "by one that holds": {"anyOf": [{"prefixItems": [NUMBER]}, {"prefixItems": [TEXT, TEXT]}]},
    "by one alone": {"oneOf": [{"prefixItems": [NUMBER]}, {"prefixItems": [TEXT, TEXT]}]},
    "by one that says nothing": {"anyOf": [True, False]},
    "by a condition": {"if": {"prefixItems": [NUMBER]}, "then": {"prefixItems": [{}, {}]}},
    "by its failing": {"if": {"prefixItems": [NUMBER]}, "else": {"prefixItems": [{}, {}]}},
    "by a condition alone": {"if": {"prefixItems": [NUMBER]}},
    "further inside": {"allOf": [{"anyOf": [{"$ref": "#/$defs/first"}, {"items": TEXT}]}]},
    "by another such word": {"allOf": [{"unevaluatedItems": TEXT}]},
}


def fits(schema: Any, value: Any) -> bool:
    """As far as the whole is concerned; the schema's own copy is changed on the way."""
    validator = validator_of(jsontext.loads(jsontext.dumps(schema)))
    return first_error(validator, value, Allowance(10**9), certain=False)[0] is None


@table("schema", EVALUATING.values(), ids=list(EVALUATING))
def test_the_same_items_are_left_over_as_by_jsonschema(schema: Any) -> None:
    for rest, array in product((False, True, TEXT), ARRAYS):
        whole = schema | {"unevaluatedItems": rest, "$defs": {"first": {"prefixItems": [{}]}}}
        assert fits(whole, array) is Draft202012Validator(whole).is_valid(array), (rest, array)


@table(
    ("reference", "checked"),
    [
        ("#/$defs/a%20b", True),
        ("#/$defs/a b", True),
        ("#/$defs/100%25", True),
        ("#/$defs/100%", True),
        ("#/$defs/c~1d", True),
        ("#/$defs/%63~1d", True),
        ("#/$defs/e%20f", False),
        ("#/$defs/e%2520f", True),
    ],
)
def test_a_reference_is_read_as_part_of_an_address(reference: str, checked: bool) -> None:
    """A name with a percent sign in it ended the whole check with an exception."""
    names = ("a b", "100%", "c/d", "e%20f")
    schema = {"properties": {"x": {"$ref": reference}}, "$defs": dict.fromkeys(names, TEXT)}
    assert fits(schema, {"x": "a"})
    assert fits(schema, {"x": 1}) is not checked


def test_a_check_that_must_be_certain_begins_nothing_without_a_bound() -> None:
    validator = validator_of({"pattern": "^(a+)+$"})
    with pytest.raises(TakesLong):
        first_error(validator, "aaa!", Allowance(10**9), certain=True)
    assert first_error(validator, 1, Allowance(10**9), certain=True) == (None, "")


def test_a_check_ends_with_its_purse() -> None:
    with pytest.raises(TakesLong):
        first_error(validator_of({"items": {}}), [1] * 1_000, Allowance(1_000), certain=True)


def test_a_pattern_that_cannot_be_read_is_named() -> None:
    validator = validator_of({"pattern": "("})
    assert first_error(validator, "a", Allowance(10**9), certain=False) == (None, "(")
