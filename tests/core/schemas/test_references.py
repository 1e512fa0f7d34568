"""References are followed to the end, and refused where there is none (S21: however often they double)."""

from typing import Any

from proxy.core.schemas.losses import Losses
from proxy.core.schemas.references import MAX_NODES, inlined
from proxy.core.schemas.traversal import subschemas
from proxy.core.work import Work
from tests.support.tables import table

A = {"$ref": "#/$defs/a"}


def result(schema: Any, *, recursion: bool = False) -> tuple[Any, dict[str, str]]:
    losses = Losses(Work())
    return inlined(schema, losses, recursion=recursion), losses.incompatible


@table(
    ("x", "definitions", "after"),
    [
        (A, {"a": {"type": "null"}}, {"type": "null"}),
        (
            A | {"description": "d"},
            {"a": {"type": "null", "description": "far"}},
            {"type": "null", "description": "d"},
        ),
        (A | {"minLength": 2}, {"a": {"minLength": 3}}, {"minLength": 3}),
        (A | {"pattern": "a"}, {"a": {"pattern": "b"}}, {"pattern": "a", "allOf": [{"pattern": "b"}]}),
        (
            A | {"pattern": "a", "allOf": [{}]},
            {"a": {"pattern": "b"}},
            {"pattern": "a", "allOf": [{}, {"pattern": "b"}]},
        ),
        (A, {"a": {"$ref": "#/$defs/b"}, "b": {"type": "null"}}, {"type": "null"}),
        ({"$ref": "#/$defs/a/anyOf/1"}, {"a": {"anyOf": [{}, {"type": "null"}]}}, {"type": "null"}),
        (A, {"a": {"$defs": {"c": {}}, "items": {"$ref": "#/$defs/a/$defs/c"}}}, {"items": {}}),
        ({"anyOf": [A, A]}, {"a": {"type": "null"}}, {"anyOf": [{"type": "null"}] * 2}),
    ],
)
def test_a_reference_becomes_what_it_points_at(x: Any, definitions: Any, after: Any) -> None:
    whole = {"properties": {"x": x}, "$defs": definitions, "definitions": {}}
    assert result(whole) == ({"properties": {"x": after}}, {})


@table("reference", ["#/$defs/missing", "#anchor", "#/x-own"])
def test_what_leads_to_no_schema_is_refused(reference: str) -> None:
    schema = {"properties": {"x": {"$ref": reference}}, "x-own": {"properties": []}}
    reduced, refused = result(schema)
    assert (reduced["properties"], refused) == (
        {"x": {}},
        {"$ref": ("properties", "x")},
    )


TREE = {
    "properties": {"x": A, "y": {"$ref": "#/definitions/a"}},
    "$defs": {"a": {"items": A}},
    "definitions": {"a": {"items": {"$ref": "#/definitions/a"}}},
}


def test_recursion_is_refused_where_it_is_not_read() -> None:
    assert result(TREE)[1] == {"$ref": ("properties", "x", "items")}


def test_recursion_stays_in_definitions_where_it_is_read() -> None:
    one, other = {"items": A}, {"items": {"$ref": "#/$defs/a1"}}
    assert result(TREE, recursion=True) == (
        {"properties": {"x": one, "y": other}, "$defs": {"a": one, "a1": other}},
        {},
    )


def test_the_whole_schema_again_is_a_definition_too() -> None:
    again = {"properties": {"x": {"$ref": "#/$defs/root"}}}
    schema = {"properties": {"x": {"$ref": "#"}}}
    assert result(schema, recursion=True) == (again | {"$defs": {"root": again}}, {})


def test_two_that_lead_to_each_other_end_in_definitions() -> None:
    pair = {"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"contains": A}}, "items": A}
    reduced, refused = result(pair, recursion=True)
    assert refused == {}
    assert reduced == {"items": {"items": {"contains": A}}, "$defs": {"a": {"items": {"contains": A}}}}


def test_a_constraint_beside_a_recursive_reference_cannot_be_kept() -> None:
    schema = {"items": A, "$defs": {"a": {"items": A | {"minLength": 1}, "contains": A | {"title": "T"}}}}
    assert result(schema, recursion=True)[1] == {"$ref": ("items", "items")}


def test_doubled_references_end() -> None:
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    reduced, refused = result({"$ref": "#/$defs/d0", "$defs": steps})
    assert sum(1 for _ in subschemas(reduced)) <= 2 * MAX_NODES
    assert "$ref" in refused


def test_chains_of_references_end() -> None:
    steps = {f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(200)}
    assert "$ref" in result({"$ref": "#/$defs/d0", "$defs": steps})[1]


def test_a_long_description_is_not_copied_a_thousand_times() -> None:
    properties = {f"p{number}": A for number in range(1000)}
    schema = {"properties": properties, "$defs": {"a": {"description": "d" * 100_000}}}
    assert result(schema)[1] == {"$ref": ("properties", "p11")}
