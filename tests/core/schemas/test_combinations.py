"""How schemas may be combined, before a provider that reads no `allOf`, no `oneOf`, or no union at the root."""

from typing import Any

from proxy.core.schemas import combinations
from proxy.core.schemas.losses import Losses, Node
from proxy.core.schemas.subsets import Subset
from proxy.core.work import Work
from tests.support.tables import table

NEVER = {"not": {}}
STRING, INTEGER = {"type": "string"}, {"type": "integer"}
STRICT_ROOT = Subset(root_unions=False, plain_names=True)


def after(step: Any, schema: Any, subset: Subset | None = None) -> tuple[Any, dict[str, Any], list[str]]:
    """The result, what was told, and what was refused."""
    node = Node(subset or Subset(), Losses(Work()), ())
    return step(schema, node), node.described, sorted(node.losses.incompatible)


@table(
    ("schema", "result", "told", "refused"),
    [
        ({"properties": {"a": {}}}, {"properties": {"a": {}}}, {}, []),
        ({"properties": {"a": NEVER, "b": {}}}, {"properties": {"b": {}}}, {"properties": {"a": False}}, []),
        (
            {"properties": {"a": NEVER}, "additionalProperties": False},
            {"properties": {}, "additionalProperties": False},
            {},
            [],
        ),
        ({"properties": {"a": NEVER}, "required": ["a"]}, {"properties": {}, "required": ["a"]}, {}, ["not"]),
        ({"items": NEVER}, {"maxItems": 0}, {}, []),
        ({"items": NEVER, "prefixItems": [{}, {}]}, {"prefixItems": [{}, {}], "maxItems": 2}, {}, []),
        (
            {"items": NEVER, "prefixItems": [{}, {}], "maxItems": 1},
            {"prefixItems": [{}, {}], "maxItems": 1},
            {},
            [],
        ),
        ({"anyOf": [NEVER, STRING]}, {"anyOf": [STRING]}, {}, []),
        ({"oneOf": [NEVER]}, {"oneOf": [NEVER]}, {}, []),
    ],
)
def test_the_impossible_is_left_out(schema: Any, result: Any, told: Any, refused: list[str]) -> None:
    assert after(combinations.impossible, schema) == (result, told, refused)


@table(
    ("name", "plain"),
    [
        ("a", True),
        ("a_b.c-d", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("$filter", False),
        ("ä", False),
    ],
)
def test_names_of_properties_are_plain_or_refused(name: str, plain: bool) -> None:
    schema = {"properties": {name: {}}}
    assert after(combinations.plain_names, schema, STRICT_ROOT) == (
        schema,
        {},
        [] if plain else ["properties"],
    )
    assert after(combinations.plain_names, schema) == (schema, {}, [])


@table(
    ("schema", "result", "refused"),
    [
        (STRING, STRING, []),
        ({"allOf": [STRING, {"minLength": 1}]}, STRING | {"minLength": 1}, []),
        ({"allOf": [{"allOf": [STRING]}]}, STRING, []),
        ({"allOf": [STRING, INTEGER]}, STRING, ["allOf"]),
    ],
)
def test_all_of_is_put_together(schema: Any, result: Any, refused: list[str]) -> None:
    assert after(combinations.without_all_of, schema) == (result, {}, refused)


@table(
    ("schema", "result"),
    [
        ({"anyOf": [STRING]}, STRING),
        ({"title": "T", "oneOf": [STRING]}, {"title": "T"} | STRING),
        ({"anyOf": [STRING, INTEGER]}, {"anyOf": [STRING, INTEGER]}),
        ({"type": "integer", "anyOf": [STRING]}, {"type": "integer", "anyOf": [STRING]}),
    ],
)
def test_a_union_of_one_is_that_one(schema: Any, result: Any) -> None:
    assert after(combinations.without_lonely_branches, schema) == (result, {}, [])


def test_a_lonely_branch_may_bring_more_of_its_kind() -> None:
    schema = {"anyOf": [{"allOf": [{"oneOf": [STRING]}]}]}
    assert after(combinations.without_lonely_branches, schema) == (STRING, {}, [])


NULL = {"type": "null"}
FLAGS = Subset(several_types="nullable")


@table(
    ("schema", "result"),
    [
        ({"anyOf": [STRING, NULL]}, {"anyOf": [STRING], "nullable": True}),
        ({"anyOf": [STRING, {}, NULL]}, {"anyOf": [STRING, {}], "nullable": True}),
        ({"oneOf": [STRING, {"const": None}]}, {"oneOf": [STRING], "nullable": True}),
        ({"oneOf": [STRING, {}, NULL]}, {"oneOf": [STRING, {}, NULL]}),
        (
            {"type": "string", "anyOf": [{"minLength": 1}, NULL]},
            {"type": "string", "anyOf": [{"minLength": 1}]},
        ),
        ({"anyOf": [NULL]}, {"anyOf": [NULL]}),
        ({"anyOf": [STRING]}, {"anyOf": [STRING]}),
    ],
)
def test_nothing_is_a_flag_where_it_is_no_type(schema: Any, result: Any) -> None:
    assert after(combinations.nothing_as_flag, schema, FLAGS) == (result, {}, [])
    assert after(combinations.nothing_as_flag, schema) == (schema, {}, [])


A_OR_B = [{"required": ["a"]}, {"type": "object", "required": ["b"], "title": "B"}]


@table(
    ("schema", "result", "told"),
    [
        ({"anyOf": A_OR_B}, {}, {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        ({"oneOf": A_OR_B}, {}, {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        ({"anyOf": [*A_OR_B, {}]}, {"anyOf": [*A_OR_B, {}]}, {}),
        ({"anyOf": [*A_OR_B, {"required": [], "properties": {}}]}, ..., {}),
        ({}, {}, {}),
    ],
)
def test_which_properties_come_together_is_told(schema: Any, result: Any, told: Any) -> None:
    assert after(combinations.requirements_described, schema) == (
        schema if result is ... else result,
        told,
        [],
    )


def test_no_union_at_the_root_where_none_is_read() -> None:
    schema = {"type": "object", "oneOf": [{}, {}], "anyOf": [{}]}
    assert after(combinations.no_union_at_the_root, schema, STRICT_ROOT) == (
        {"type": "object"},
        {},
        ["anyOf", "oneOf"],
    )
    assert after(combinations.no_union_at_the_root, {"items": {}}, STRICT_ROOT) == ({"items": {}}, {}, [])
    assert after(combinations.no_union_at_the_root, schema) == (schema, {}, [])
    inside = Node(STRICT_ROOT, Losses(Work()), ("items",))
    assert combinations.no_union_at_the_root(schema, inside) == schema


@table(
    ("schema", "result", "refused"),
    [
        ({}, {}, []),
        ({"oneOf": [STRING, INTEGER]}, {"anyOf": [STRING, INTEGER]}, []),
        ({"oneOf": [STRING, {}]}, {}, ["oneOf"]),
        ({"oneOf": [STRING, INTEGER], "anyOf": [{}]}, {"anyOf": [{}]}, ["oneOf"]),
        (
            {
                "type": "object",
                "oneOf": [{"required": ["k"], "properties": {"k": {"const": n}}} for n in (1, 2)],
            },
            {
                "type": "object",
                "anyOf": [{"required": ["k"], "properties": {"k": {"const": n}}} for n in (1, 2)],
            },
            [],
        ),
    ],
)
def test_one_of_is_any_of_where_no_value_fits_two(schema: Any, result: Any, refused: list[str]) -> None:
    assert after(combinations.one_of_as_any_of, schema) == (result, {}, refused)
