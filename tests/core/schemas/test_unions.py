"""What two schemas ask for together, and whether they exclude one another; in doubt, neither is claimed."""

from typing import Any

from proxy.core.schemas.unions import all_disjoint, disjoint, merged, same, types_of
from proxy.core.work import Work
from tests.support.tables import table

STRING, INTEGER, NUMBER = ({"type": word} for word in ("string", "integer", "number"))


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@table(
    ("near", "far", "both"),
    [
        ({}, STRING, STRING),
        (STRING, STRING, STRING),
        ({"title": "n"}, {"title": "f", "description": "d"}, {"title": "n", "description": "d"}),
        (NUMBER, INTEGER, INTEGER),
        ({"type": ["string", "number"]}, {"type": ["number", "null"]}, NUMBER),
        ({"type": ["string", "null"]}, {"type": ["null", "string"]}, {"type": ["string", "null"]}),
        (STRING, INTEGER, None),
        ({"minimum": 1, "maxLength": 5}, {"minimum": 2, "maxLength": 4}, {"minimum": 2, "maxLength": 4}),
        ({"enum": [1, 2, True]}, {"enum": [2.0, 1]}, {"enum": [1, 2]}),
        ({"enum": [1]}, {"enum": [True]}, None),
        ({"const": 1}, {"const": True}, None),
        ({"pattern": "a"}, {"pattern": "b"}, None),
        ({"required": ["a"]}, {"required": ["b", "a"]}, {"required": ["a", "b"]}),
        ({"properties": {"a": STRING}}, {"properties": {"a": {"minLength": 1}, "b": {}}},
         {"properties": {"a": STRING | {"minLength": 1}, "b": {}}}),
        ({"properties": {"a": STRING}}, {"properties": {"a": INTEGER}}, None),
        ({"allOf": [STRING]}, {"allOf": [INTEGER]}, {"allOf": [STRING, INTEGER]}),
        ({"properties": {}, "additionalProperties": False}, {"properties": {"a": {}}}, None),
        ({"properties": {}, "additionalProperties": False}, {"required": ["a"]},
         {"properties": {}, "additionalProperties": False, "required": ["a"]}),
        ({"if": STRING}, {"then": STRING}, None),
        ({"if": STRING}, {"if": STRING}, {"if": STRING}),
        ({}, {"unevaluatedProperties": False}, None),
        ({"unevaluatedProperties": False}, {"properties": {"a": {}}},
         {"unevaluatedProperties": False, "properties": {"a": {}}}),
        ({"anyOf": [STRING]}, {"anyOf": [INTEGER]}, None),
        ({"$ref": "#"}, STRING, None),
        (STRING, {"$ref": "#"}, None),
        ({}, {"$ref": "#"}, {"$ref": "#"}),
    ],
)  # fmt: skip
def test_both_at_once(near: Any, far: Any, both: Any) -> None:
    assert merged(near, far, Work()) == both


@table(
    ("one", "other", "apart"),
    [
        (STRING, INTEGER, True),
        (NUMBER, INTEGER, False),
        (STRING, {}, False),
        ({}, STRING, False),
        ({"const": "a"}, {"const": "b"}, True),
        ({"enum": ["a", "b"]}, {"const": "b"}, False),
        ({"const": 1}, {"const": 1.0}, False),
        ({"const": 1}, {"const": True}, True),
        ({"const": "a"}, STRING, False),
        ({"const": "a"}, INTEGER, True),
        (obj(kind={"const": "a"}), obj(kind={"const": "b"}), True),
        (obj(kind={"const": "a"}), obj(kind={"const": "a"}), False),
        (obj(kind={"const": "a"}), obj(kind={"const": "b"}) | {"required": []}, False),
        (obj(a={}) | {"additionalProperties": False}, obj(b={}), True),
        (obj(b={}), obj(a={}) | {"additionalProperties": False}, True),
        (obj(a={}) | {"additionalProperties": False, "patternProperties": {}}, obj(b={}), False),
        (obj(a={}) | {"additionalProperties": False}, obj(a={}), False),
        ({"type": ["object", "null"], "required": ["a"]}, obj(a={}), False),
        ({"anyOf": [STRING, {"type": "null"}]}, {"oneOf": [INTEGER, {"type": "object"}]}, True),
        ({"anyOf": [STRING, {}]}, INTEGER, False),
        ({"type": "object"}, {"type": "object"}, False),
        ({"type": "object", "required": ["a"]}, {"type": "object", "required": ["a"]}, False),
    ],
)
def test_what_excludes_one_another(one: Any, other: Any, apart: bool) -> None:
    assert disjoint(one, other, Work()) is apart


def test_all_have_to_exclude_each_other() -> None:
    assert all_disjoint([STRING, INTEGER, {"type": "null"}], Work())
    assert not all_disjoint([STRING, INTEGER, NUMBER], Work())


def test_values_are_compared_in_one_pass_and_schemas_each_with_each_only_if_they_are_few() -> None:
    """S21."""
    many = [{"const": number} for number in range(5000)]
    assert all_disjoint(many, Work())
    assert all_disjoint([{"enum": [1, 1]}, {"enum": ["1"]}], Work())
    assert not all_disjoint([*many, {"enum": ["a", 7.0]}], Work())
    assert not all_disjoint([*many[:64], {"type": "null"}], Work())
    assert all_disjoint([*many[:63], {"type": "null"}], Work())


@table(
    ("one", "other", "equal"),
    [(1, 1.0, True), (1, True, False), ([{"a": 0}], [{"a": 0.0}], True), ("1", 1, False)],
)
def test_values_are_the_same_as_in_json(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other, Work()) is equal


def test_types_are_read_from_values_too() -> None:
    assert types_of({"enum": [None, "a", 1.5]}, Work()) == {"null", "string", "number", "integer"}
    assert types_of({"minimum": 1}, Work()) is None
