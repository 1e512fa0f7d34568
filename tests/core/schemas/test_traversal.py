"""Ways through a schema: every subschema is found with its place, and booleans are said in objects."""

from typing import Any

from proxy.core.schemas import traversal
from tests.support.tables import table

SCHEMA = {
    "properties": {"a": {"items": {"anyOf": [{"type": "null"}, True]}}, "b": False},
    "dependencies": {"a": ["b"], "c": {"minProperties": 1}},
    "additionalProperties": False,
}


def test_each_subschema_has_its_place() -> None:
    assert [traversal.path_text(path) for path, _ in traversal.subschemas(SCHEMA)] == [
        "",
        ".properties.a",
        ".dependencies.c",
        ".properties.a.items",
        ".properties.a.items.anyOf[0]",
    ]


def test_a_change_inside_knows_its_place_and_leaves_the_original_alone() -> None:
    schema = {"properties": {"a": {}}, "items": {}, "prefixItems": [{}], "dependencies": {"a": ["b"]}}
    schema["additionalProperties"] = True
    told = traversal.each_inside_at(schema, ("x",), lambda _, path: {"at": traversal.path_text(path)})
    assert told == {
        "properties": {"a": {"at": ".x.properties.a"}},
        "items": {"at": ".x.items"},
        "prefixItems": [{"at": ".x.prefixItems[0]"}],
        "dependencies": {"a": ["b"]},
        "additionalProperties": True,
    }
    assert schema["items"] == {}


def test_false_is_said_in_an_object_where_one_is_usual() -> None:
    assert traversal.spelled_out(SCHEMA) == {
        "properties": {"a": {"items": {"anyOf": [{"type": "null"}, {}]}}, "b": {"not": {}}},
        "dependencies": SCHEMA["dependencies"],
        "additionalProperties": False,
    }


@table(
    ("reference", "target"),
    [
        ("#", {"$defs": {"a/b~c": {"type": "null"}}, "x": 1}),
        ("#/$defs/a~1b~0c", {"type": "null"}),
        ("#/$defs/missing", None),
        ("#/x", None),
        ("#/x/y", None),
        ("#anchor", None),
        ("other.json#/x", None),
        (7, None),
    ],
)
def test_a_reference_is_followed_inside_the_schema_only(reference: Any, target: Any) -> None:
    assert traversal.target_of({"$defs": {"a/b~c": {"type": "null"}}, "x": 1}, reference) == target


@table(
    ("reference", "target"),
    [
        ("#/properties/a/anyOf/1/properties/b", {"type": "null"}),
        ("#/properties/a/anyOf/0", {"const": 1}),
        ("#/properties/a/anyOf/2", None),
        ("#/properties/a/anyOf/01", None),
        ("#/properties/a/anyOf/-1", None),
        ("#/properties/a/anyOf/٠", None),
        ("#/properties/a/anyOf/" + "9" * 5_000, None),
        ("#/properties/a/anyOf", None),
    ],
)
def test_a_reference_may_lead_through_the_branches_of_a_union(reference: str, target: Any) -> None:
    """MCP's SDK for TypeScript writes a type once and points there, wherever that was."""
    branches = [{"const": 1}, {"properties": {"b": {"type": "null"}}}]
    assert traversal.target_of({"properties": {"a": {"anyOf": branches}}}, reference) == target


def test_the_own_part_has_no_schemas_in_it() -> None:
    assert traversal.own_part({"type": "array", "items": {}, "anyOf": [{}], "$defs": {}, "enum": [[]]}) == {
        "type": "array",
        "enum": [[]],
    }


@table(
    ("path", "as_sent"),
    [
        ((), ()),
        (("properties", "a", "items", "type"), ("properties", "a", "items", "type")),
        (("properties", "t", "prefixItems", 1, "type"), ("properties", "t", "items", 1, "type")),
        (("properties", "new", "prefixItems", 0), ("properties", "new", "prefixItems", 0)),
        (("properties", "r", "properties", "inlined"), ("properties", "r")),
        (("properties", "a", "items", "type", "deeper"), ("properties", "a", "items", "type")),
    ],
)
def test_a_place_in_what_was_made_of_a_schema_is_known_in_the_schema(
    path: traversal.Path, as_sent: traversal.Path
) -> None:
    """As far as it goes: what a message names must be found by whoever sent it."""
    sent = {
        "properties": {
            "a": {"items": {"type": "string"}},
            "t": {"items": [{}, {"type": "string"}]},
            "new": {"prefixItems": [{}]},
            "r": {"$ref": "#/$defs/r"},
        }
    }
    assert traversal.as_sent(sent, path) == as_sent


def test_a_place_is_spelled_as_programs_write_it() -> None:
    assert traversal.path_text(("anyOf", 0, "properties", "a b")) == ".anyOf[0].properties.a b"
    assert traversal.path_text(()) == ""


def test_a_long_name_is_cut_where_a_place_is_spelled() -> None:
    """S06."""
    assert len(traversal.path_text(("properties", "x" * 5_000))) < 100
