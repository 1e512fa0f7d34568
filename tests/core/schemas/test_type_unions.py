"""A node of several types becomes nodes of one type each, and every value finds the same answer there."""

from typing import Any

from proxy.core.schemas.type_unions import is_of, of_one_type, typed
from proxy.core.work import Work
from tests.support.tables import table

NULL = {"type": "null"}


@table(
    ("schema", "result"),
    [
        ({}, {}),
        ({"type": "string"}, {"type": "string"}),
        ({"enum": ["a", 1, "b"]}, {"enum": ["a", 1, "b"], "type": ["string", "integer"]}),
        ({"minimum": 1}, {"minimum": 1, "type": "number"}),
        ({"properties": {}}, {"properties": {}, "type": "object"}),
        ({"properties": {}, "items": {}}, {"properties": {}, "items": {}}),
        ({"anyOf": [{}], "items": {}}, {"anyOf": [{}], "items": {}}),
        ({"description": "d"}, {"description": "d"}),
    ],
)
def test_a_type_is_said_where_there_is_no_doubt(schema: Any, result: Any) -> None:
    assert typed(schema) == result


@table(
    ("schema", "as_union", "as_flag"),
    [
        ({"type": "null"}, NULL, NULL),
        (
            {"type": ["string", "null"], "minLength": 1, "title": "T"},
            {"title": "T", "anyOf": [{"type": "string", "minLength": 1}, NULL]},
            {"type": "string", "minLength": 1, "title": "T", "nullable": True},
        ),
        (
            {"type": ["integer", "number", "string"], "minimum": 1},
            {"anyOf": [{"type": "number", "minimum": 1}, {"type": "string"}]},
            {"anyOf": [{"type": "number", "minimum": 1}, {"type": "string"}]},
        ),
        (
            {"type": ["string", "integer", "null"], "enum": ["a", None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null", "enum": [None]}]},
            {"type": "string", "enum": ["a"], "nullable": True},
        ),
        (
            {"type": ["string", "null"], "enum": ["a", None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null", "enum": [None]}]},
            {"type": "string", "enum": ["a"], "nullable": True},
        ),
        (
            {"type": ["string", "boolean"], "enum": [1]},
            None,
            None,
        ),
        (
            {"type": ["string", "integer"], "anyOf": [{"minLength": 1}, {"type": "integer"}]},
            {"anyOf": [{"minLength": 1, "type": ["string", "integer"]}, {"type": "integer"}]},
            {"anyOf": [{"minLength": 1, "type": ["string", "integer"]}, {"type": "integer"}]},
        ),
        ({"type": ["string", "integer"], "anyOf": [NULL]}, None, None),
        ({"type": ["null"]}, NULL, NULL),
        (
            {"type": ["null"], "enum": [None]},
            {"type": "null", "enum": [None]},
            {"type": "null", "enum": [None]},
        ),
        (
            {"anyOf": [{"type": "string"}, NULL]},
            {"anyOf": [{"type": "string"}, NULL]},
            {"anyOf": [{"type": "string"}, NULL]},
        ),
    ],
)
def test_one_type_each(schema: Any, as_union: Any, as_flag: Any) -> None:
    assert of_one_type(schema, Work(), nullable=False) == as_union
    assert of_one_type(schema, Work(), nullable=True) == as_flag


@table(
    ("word", "value", "fits"),
    [
        ("integer", 1.0, True),
        ("integer", 1.5, False),
        ("number", 1, True),
        ("number", True, False),
        ("boolean", 1, False),
    ],
)
def test_numbers_are_integers_by_value(word: str, value: Any, fits: bool) -> None:
    assert is_of(word, value) is fits
