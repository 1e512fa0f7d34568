"""The schema reductions of each kind of backend (chat-backends 2.2), one rule at a time."""

from typing import Any

import pytest

from proxy.core.schemas import loosening, traversal
from proxy.core.schemas.traversal import Schema
from proxy.core.work import Work
from tests.support.tables import table

REF = {"$ref": "#/$defs/a"}


def of_property(reduction: Any, value: Any, **root: Any) -> Any:
    """What becomes of one property, all else being in order."""
    schema = {"type": "object", "properties": {"x": value}, **root}
    return reduction(schema)["properties"]["x"]


@table(
    ("before", "after"),
    [
        pytest.param(
            {
                "type": "string",
                "$schema": "s",
                "$id": "i",
                "$comment": "c",
                "strict": True,
                "encrypted": True,
            },
            {"type": "string"},
            id="remarks",
        ),
        pytest.param({"defer_loading": True}, {}, id="defer_loading"),
        pytest.param(True, {}, id="true"),
        pytest.param(False, {}, id="false"),
        pytest.param({"items": True}, {"items": {}}, id="boolean items"),
        pytest.param(
            {"anyOf": [True, {"type": "null"}]}, {"anyOf": [{}, {"type": "null"}]}, id="boolean branch"
        ),
        pytest.param({"additionalProperties": False}, {"additionalProperties": False}, id="a switch stays"),
        pytest.param({"additionalProperties": {"strict": 1}}, {"additionalProperties": {}}, id="no switch"),
        pytest.param({"type": "any"}, {}, id="any type"),
        pytest.param({"type": ""}, {}, id="empty type"),
        pytest.param({"type": []}, {}, id="no types"),
        pytest.param({"type": "STRING"}, {"type": "string"}, id="in capitals"),
        pytest.param({"type": ["String", None]}, {"type": ["string", "null"]}, id="null by its value"),
        pytest.param({"type": ["any", "string"]}, {}, id="any among others"),
        pytest.param({"type": "date"}, {"type": "date"}, id="unknown type"),
        pytest.param({"type": ["Date", "STRING"]}, {"type": ["Date", "STRING"]}, id="one unknown type"),
        pytest.param({"type": ["string"]}, {"type": "string"}, id="one type"),
        pytest.param({"type": ["string", {}]}, {"type": ["string", {}]}, id="no word"),
        pytest.param(
            {"$ref": "https://x.example/y.json", "title": "T"}, {"title": "T"}, id="remote reference"
        ),
        pytest.param({"$ref": 5}, {}, id="no reference"),
        pytest.param(REF, REF, id="local reference"),
        pytest.param({"description": None, "default": None}, {"default": None}, id="nulls"),
        pytest.param(
            {"items": [{"strict": 1}], "additionalItems": {"strict": 1, "type": "string"}},
            {"prefixItems": [{}], "items": {"type": "string"}},
            id="tuple of draft 7",
        ),
        pytest.param(
            {"items": [{"strict": 1}], "additionalItems": False},
            {"prefixItems": [{}]},
            id="closed tuple of draft 7",
        ),
        pytest.param(
            {"items": {}, "additionalItems": {"strict": 1}},
            {"items": {}, "additionalItems": {}},
            id="no tuple",
        ),
        pytest.param({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}, id="draft 4"),
        pytest.param({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}, id="draft 4, off"),
        pytest.param({"exclusiveMaximum": True}, {}, id="draft 4, of nothing"),
        pytest.param({"type": "string", "required": True}, {"type": "string"}, id="draft 3"),
        pytest.param(
            {"enum": [True, None], "const": {"strict": 1}}, {"enum": [True, None], "const": {"strict": 1}}
        ),
        pytest.param(
            {"properties": {"strict": {"strict": 1}, "type": {}}},
            {"properties": {"strict": {}, "type": {}}},
            id="names are no keywords",
        ),
        pytest.param({"$defs": {"y": {"strict": 1}}}, {"$defs": {"y": {}}}, id="definitions"),
        pytest.param(
            {"dependencies": {"y": ["z"], "z": {"strict": 1}}},
            {"dependencies": {"y": ["z"], "z": {}}},
            id="mixed",
        ),
    ],
)
def test_plain(before: Any, after: Any) -> None:
    assert of_property(loosening.plain, before) == after


@table(
    ("root", "after"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": ["object", "null"]}, {"type": "object", "properties": {}}),
        ({"anyOf": [{}]}, {"type": "object", "properties": {}, "anyOf": [{}]}),
        (
            {**REF, "$defs": {"a": {"properties": {"x": {}}}}},
            {"type": "object", "properties": {"x": {}}, "$defs": {"a": {"properties": {"x": {}}}}},
        ),
        ({"$ref": "#/$defs/missing"}, {"type": "object", "properties": {}}),
    ],
)
def test_the_root_is_an_object_and_says_so(root: Schema, after: Schema) -> None:
    assert loosening.as_object(root) == after


def test_a_reference_that_leads_nowhere_goes_and_what_stands_beside_it_stays() -> None:
    """Clients that strip `$defs` are many; a server that makes a grammar of it would refuse every other tool too."""
    alive = {"anyOf": [REF, {"$ref": "#"}, {"$ref": "#name"}, {"$ref": "#/properties/x"}], "$defs": {"a": {}}}
    dead = {"$ref": "#/$defs/missing", "title": "T"}
    whole = alive | {"properties": {"x": dead, "$ref": {"items": dead}}}
    assert loosening.without_dead_ends(whole) == alive | {
        "properties": {"x": {"title": "T"}, "$ref": {"items": {"title": "T"}}}
    }


@table(
    ("before", "definitions", "after"),
    [
        pytest.param(REF, {"a": {"type": "string"}}, {"type": "string"}, id="target"),
        pytest.param(
            {**REF, "title": "T"}, {"a": {"type": "string"}}, {"type": "string", "title": "T"}, id="beside"
        ),
        pytest.param(
            REF, {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"type": "null"}}, {"items": {"type": "null"}}
        ),
        pytest.param(REF, {"a": {"items": REF}}, {"items": {}}, id="cycle"),
        pytest.param(REF, {}, {}, id="no target"),
        pytest.param(
            {"$ref": "#/$defs/a/type"}, {"a": {"type": "string"}}, {}, id="a target that is no schema"
        ),
        pytest.param({"$ref": "#/$defs/a/type/x"}, {"a": {"type": "string"}}, {}, id="through no schema"),
        pytest.param(
            {"$ref": "#/$defs/a~1b%25~0"}, {"a/b%~": {"type": "null"}}, {"type": "null"}, id="escapes"
        ),
        pytest.param({"$ref": "#anchor"}, {}, {}, id="anchors go unread"),
        pytest.param(
            {"anyOf": [REF, REF]},
            {"a": {"type": "null"}},
            {"anyOf": [{"type": "null"}, {"type": "null"}]},
            id="twice",
        ),
    ],
)
def test_inline(before: Schema, definitions: Schema, after: Schema) -> None:
    whole = {"type": "object", "properties": {"x": before}, "$defs": definitions, "definitions": {}}
    reduced = loosening.inline(whole, Work())[0]
    assert reduced["properties"]["x"] == after
    assert "$defs" not in reduced
    assert "definitions" not in reduced


def test_inline_ends_when_doubled_references_explode() -> None:
    """S21."""
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    reduced = loosening.inline({"$ref": "#/$defs/d0", "$defs": steps}, Work())[0]
    assert sum(1 for _ in traversal.subschemas(reduced)) <= 2 * loosening.INLINED_NODES


def test_inline_ends_when_references_nest_too_deep() -> None:
    steps = {f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(2000)}
    reduced = loosening.inline({"$ref": "#/$defs/d0", "$defs": steps}, Work())[0]
    assert max(len(path) for path, _ in traversal.subschemas(reduced)) == loosening.INLINED_DEPTH + 1


@table(
    ("before", "after"),
    [
        pytest.param(
            {"type": "string", "anyOf": [{"minLength": 1}, {"type": "null"}]},
            {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
            id="types go into the branches",
        ),
        pytest.param(
            {"type": "array", "oneOf": [{"anyOf": [{"minItems": 1}]}, REF]},
            {"oneOf": [{"anyOf": [{"type": "array", "minItems": 1}]}, REF]},
            id="down to where they belong, never beside a reference",
        ),
        pytest.param(
            {"anyOf": [{"minLength": 1}]}, {"anyOf": [{"type": "string", "minLength": 1}]}, id="untyped"
        ),
        pytest.param({**REF, "description": "d"}, REF, id="nothing beside a reference"),
        pytest.param({"$ref": "#/definitions/a"}, REF, id="the old place of definitions"),
        pytest.param({"$ref": "#"}, {"type": "object"}, id="the whole schema again"),
        pytest.param(
            {"prefixItems": [{"type": "null"}, {}]}, {"type": "array", "items": {"type": "null"}}, id="tuple"
        ),
        pytest.param({"prefixItems": []}, {"type": "array", "items": {"type": "string"}}, id="empty tuple"),
        pytest.param({}, {"type": "string"}, id="anything"),
        pytest.param({"enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}, id="by its values"),
        pytest.param({"const": True}, {"type": "boolean", "const": True}, id="by its value"),
        pytest.param({"enum": [None]}, {"type": "string", "enum": [None]}, id="by no value"),
        pytest.param(
            {"items": {"type": "null"}}, {"type": "array", "items": {"type": "null"}}, id="by its items"
        ),
        pytest.param(
            {"additionalProperties": False}, {"type": "object", "additionalProperties": False}, id="object"
        ),
        pytest.param({"allOf": [REF]}, {"allOf": [REF]}, id="all of a reference"),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]},
            id="only known names are required",
        ),
    ],
)
def test_moonshot(before: Schema, after: Schema) -> None:
    assert of_property(loosening.moonshot, before) == after


def test_moonshot_takes_no_union_at_the_root() -> None:
    branches = [
        {"properties": {"a": {"type": "null"}}},
        REF,
        {"$ref": "#/$defs/missing"},
        {"required": ["c"]},
    ]
    root = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "anyOf": branches,
        "definitions": {"b": {"type": "null"}},
        "$defs": {"a": {"type": "object", "properties": {"b": {"type": "null"}}}},
    }
    assert loosening.moonshot(root) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "null"}},
        "$defs": {
            "b": {"type": "null"},
            "a": {"type": "object", "properties": {"b": {"type": "null"}}},
        },
    }


@table(
    ("before", "after"),
    [
        pytest.param({"type": ["string", "null"]}, {"type": "string", "nullable": True}, id="or nothing"),
        pytest.param(
            {"type": ["array", "integer", "null"], "items": {"type": "null"}, "title": "T"},
            {
                "anyOf": [{"type": "array", "items": {"type": "null"}}, {"type": "integer"}],
                "title": "T",
                "nullable": True,
            },
            id="several types",
        ),
        pytest.param(
            {"type": ["object", "string"], "properties": {}},
            {"anyOf": [{"type": "object", "properties": {}}, {"type": "string"}]},
            id="never null",
        ),
        pytest.param(
            {"type": "integer", "enum": [1, True, "a", None]},
            {"type": "string", "enum": ["1", "true", "a"], "nullable": True},
            id="enum",
        ),
        pytest.param({"enum": ["a"]}, {"type": "string", "enum": ["a"]}, id="enum of strings"),
        pytest.param({"required": ["a"]}, {"required": []}, id="required"),
        pytest.param({"type": "array"}, {"type": "array", "items": {"type": "string"}}, id="items"),
        pytest.param(
            {"type": "array", "prefixItems": [{"type": "null"}]},
            {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "null"}},
            id="items of a tuple",
        ),
    ],
)
def test_gemini(before: Schema, after: Schema) -> None:
    assert of_property(loosening.gemini, before) == after


@table("bound", ["maxLength", "minLength", "maxItems", "minItems"])
def test_bounded_drops_what_is_too_wide_for_a_grammar(bound: str) -> None:
    assert of_property(loosening.bounded, {bound: 2000}) == {}
    assert of_property(loosening.bounded, {bound: 32}) == {bound: 32}


def test_bounded_drops_patterns_but_not_a_property_of_that_name() -> None:
    before = {"properties": {"pattern": {"pattern": "^a$"}}}
    assert of_property(loosening.bounded, before) == {"properties": {"pattern": {}}}


@table(
    "bounds",
    [
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "array", "minItems": 1, "maxItems": 0},
        {"type": "integer", "minimum": 2, "maximum": 1},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {"type": ["null", "integer"], "minimum": 1, "exclusiveMaximum": 1},
    ],
)
def test_bounded_drops_bounds_that_leave_nothing_between_them(bounds: Schema) -> None:
    """llama.cpp never comes to the end of such a grammar, and serves nobody else meanwhile."""
    assert of_property(loosening.bounded, bounds) == {"type": bounds["type"]}


@table(
    "bounds",
    [
        {"type": "string", "minLength": 2, "maxLength": 2},
        {"type": "integer", "minimum": -1, "maximum": -1},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
        {"type": "integer", "minimum": 10**30},
    ],
)
def test_bounded_keeps_bounds_that_leave_something(bounds: Schema) -> None:
    assert of_property(loosening.bounded, bounds) == bounds
