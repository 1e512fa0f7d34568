"""What single values may be, before providers that read less of it: otherwise written, told, or refused."""

from typing import Any

from proxy.core.schemas import values
from proxy.core.schemas.losses import Losses, Node
from proxy.core.schemas.subsets import PROVIDERS, Subset
from proxy.core.work import Work
from tests.support.tables import table

GOOGLE, PROTO = PROVIDERS["google"].tools, PROVIDERS["google_proto"].tools
ANSWER = PROVIDERS["anthropic"].answers
S = {"type": "string"}


def after(step: Any, schema: Any, subset: Subset) -> tuple[Any, dict[str, Any], list[str]]:
    """The result, what was told, and what was refused."""
    node = Node(subset, Losses(Work()), ("items",))
    return step(schema, node), node.described, sorted(node.losses.incompatible)


@table(
    ("schema", "result"),
    [
        ({}, {}),
        ({"const": 1}, {"enum": [1]}),
        ({"const": None}, {"enum": [None]}),
        ({"const": 1, "enum": [1, 2]}, {"enum": [1]}),
    ],
)
def test_a_constant_is_a_list_of_one(schema: Any, result: Any) -> None:
    assert after(values.const_as_enum, schema, GOOGLE) == (result, {}, [])


def test_several_types_become_one_each_or_are_refused() -> None:
    both = {"type": ["string", "null"]}
    assert after(values.one_type, both, GOOGLE) == ({"anyOf": [S, {"type": "null"}]}, {}, [])
    assert after(values.one_type, both, PROTO) == (S | {"nullable": True}, {}, [])
    twice = both | {"anyOf": [{"type": "integer"}, {"type": "array"}]}
    assert after(values.one_type, twice, GOOGLE) == ({"anyOf": twice["anyOf"]}, {}, ["type"])


@table(
    ("schema", "subset", "result", "told"),
    [
        ({}, PROTO, {}, {}),
        (S | {"enum": ["a", "b"]}, PROTO, S | {"enum": ["a", "b"]}, {}),
        (S | {"enum": ["a", None]}, PROTO, S | {"enum": ["a"]}, {}),
        (S | {"enum": ["a", ""]}, PROTO, S, {"enum": ["a", ""]}),
        (S | {"enum": ["a", ""]}, GOOGLE, S | {"enum": ["a", ""]}, {}),
        ({"type": "integer", "enum": [1, 2.0]}, PROTO, {"type": "integer"}, {"enum": [1, 2.0]}),
        ({"type": "integer", "enum": [1]}, GOOGLE, {"type": "integer", "enum": [1]}, {}),
        ({"type": "null", "enum": [None]}, GOOGLE, {"type": "null"}, {}),
        ({"type": "boolean", "enum": [False, True]}, GOOGLE, {"type": "boolean"}, {}),
        ({"type": "boolean", "enum": [True]}, GOOGLE, {"type": "boolean"}, {"enum": [True]}),
        ({"type": "boolean", "enum": [True]}, ANSWER, {"type": "boolean", "enum": [True]}, {}),
        ({"type": "array", "enum": [[1]]}, ANSWER, {"type": "array"}, {"enum": [[1]]}),
        ({"anyOf": [{}], "enum": ["a"]}, GOOGLE, {"anyOf": [{}], "enum": ["a"]}, {}),
    ],
)
def test_listed_values_are_kept_where_they_are_read(schema: Any, subset: Any, result: Any, told: Any) -> None:
    assert after(values.readable_values, schema, subset) == (result, told, [])


def test_what_allows_no_value_at_all_is_refused() -> None:
    assert after(values.const_as_enum, {"const": 1, "enum": [True]}, GOOGLE)[2] == ["const"]
    assert after(values.readable_values, {"type": "null", "enum": [1]}, GOOGLE)[2] == ["enum"]


@table(
    ("limits", "result"),
    [
        ({"exclusiveMinimum": 3}, {"minimum": 4}),
        ({"exclusiveMinimum": 3.5}, {"minimum": 4}),
        ({"exclusiveMinimum": 3, "minimum": 9}, {"minimum": 9}),
        ({"exclusiveMaximum": 3}, {"maximum": 2}),
        ({"exclusiveMaximum": 2.5, "maximum": 1}, {"maximum": 1}),
        ({"minimum": 1}, {"minimum": 1}),
    ],
)
def test_beyond_a_number_is_from_the_next_integer_on(limits: Any, result: Any) -> None:
    whole = {"type": "integer"}
    assert after(values.inclusive, whole | limits, PROTO)[0] == whole | result
    assert after(values.inclusive, whole | limits, ANSWER)[0] == whole | limits
    assert after(values.inclusive, {"type": "number"} | limits, PROTO)[0] == {"type": "number"} | limits


@table(
    ("schema", "result"),
    [
        ({"prefixItems": [S, {"type": "null"}]}, {"items": {}}),
        (
            {"prefixItems": [S, {"type": "null"}], "maxItems": 2},
            {"maxItems": 2, "items": {"anyOf": [S, {"type": "null"}]}},
        ),
        ({"prefixItems": [S, S], "maxItems": 2}, {"maxItems": 2, "items": S}),
        ({"prefixItems": [S], "items": {"type": "null"}}, {"items": {"anyOf": [S, {"type": "null"}]}}),
    ],
)
def test_a_tuple_is_an_array_of_whatever_it_holds(schema: Any, result: Any) -> None:
    assert after(values.tuples, schema, PROTO) == (result, {"prefixItems": schema["prefixItems"]}, [])
    assert after(values.tuples, schema, GOOGLE) == (schema, {}, [])


@table(
    ("rest", "told"),
    [({}, {}), ({"additionalProperties": True}, {}), ({"additionalProperties": {}}, {}),
     ({"additionalProperties": False}, {"additionalProperties": False})],
)  # fmt: skip
def test_names_allowed_by_pattern_leave_an_object_open(rest: Any, told: Any) -> None:
    schema = {"patternProperties": {"^x": S}, **rest}
    assert after(values.by_pattern, schema, GOOGLE) == ({}, {"patternProperties": {"^x": S}, **told}, [])


def test_names_by_pattern_cannot_be_closed() -> None:
    assert after(values.by_pattern, {"patternProperties": {}}, ANSWER) == ({}, {}, ["patternProperties"])
    assert after(values.by_pattern, S, ANSWER) == (S, {}, [])


@table(
    ("schema", "refused"),
    [
        ({"properties": {"a": {}}}, []),
        ({"properties": {"a": {}}, "additionalProperties": True}, []),
        ({"additionalProperties": False}, []),
        ({}, ["additionalProperties"]),
        ({"properties": {"a": {}}, "additionalProperties": S}, ["additionalProperties"]),
    ],
)
def test_objects_are_closed_where_all_have_to_be(schema: Any, refused: list[str]) -> None:
    schema = {"type": "object"} | schema
    assert after(values.closed, schema, ANSWER) == (schema | {"additionalProperties": False}, {}, refused)
    assert after(values.closed, schema, GOOGLE) == (schema, {}, [])
    assert after(values.closed, S, ANSWER) == (S, {}, [])


@table(
    ("schema", "result", "refused"),
    [
        (S, S, []),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}, []),
        ({"dependencies": {"a": ["b"], "c": {}}}, {"dependentRequired": {"a": ["b"]}}, ["dependencies"]),
    ],
)
def test_the_old_word_for_dependencies_is_two(schema: Any, result: Any, refused: list[str]) -> None:
    assert after(values.dependencies, schema, GOOGLE) == (result, {}, refused)


def test_what_is_required_is_a_property() -> None:
    schema = {"properties": {"a": S}, "required": ["a", "b"]}
    assert after(values.known_required, schema, PROTO)[0] == schema | {"properties": {"a": S, "b": {}}}
    assert after(values.known_required, S, PROTO)[0] == S


@table(
    ("schema", "subset", "result", "told", "refused"),
    [
        (S | {"title": "T", "deprecated": True, "x-own": 1}, GOOGLE, S | {"title": "T"}, {}, []),
        (S | {"minLength": 1, "pattern": "a"}, GOOGLE, S, {"minLength": 1, "pattern": "a"}, []),
        (S | {"minLength": 0}, GOOGLE, S, {}, []),
        ({"uniqueItems": False, "unevaluatedItems": True}, GOOGLE, {}, {}, []),
        ({"contains": {}, "dependentRequired": {}}, GOOGLE, {}, {"contains": {}}, []),
        ({"additionalProperties": {}}, PROTO, {}, {}, []),
        ({"additionalProperties": False}, PROTO, {}, {"additionalProperties": False}, []),
        ({"not": {}, "if": S, "then": S, "else": S, "dependentSchemas": {}}, GOOGLE, {}, {},
         ["dependentSchemas", "if", "not"]),
        (S | {"format": "uri"}, GOOGLE, S | {"format": "uri"}, {}, []),
        (S | {"format": "uri"}, PROTO, S, {"format": "uri"}, []),
        (S | {"format": "date-time"}, PROTO, S | {"format": "date-time"}, {}, []),
        ({"format": "date"}, PROTO, {}, {"format": "date"}, []),
        (S | {"format": "date"}, ANSWER, S | {"format": "date"}, {}, []),
        ({"minItems": 1}, ANSWER, {"minItems": 1}, {}, []),
        ({"minItems": 2}, ANSWER, {}, {"minItems": 2}, []),
        ({"minItems": 2}, PROTO, {"minItems": 2}, {}, []),
    ],
)  # fmt: skip
def test_what_is_not_read_is_told_or_refused(
    schema: Any, subset: Any, result: Any, told: Any, refused: Any
) -> None:
    assert after(values.described_or_rejected, schema, subset) == (result, told, refused)


def test_an_array_says_of_what_where_it_has_to() -> None:
    array = {"type": "array"}
    assert after(values.with_items, array, PROTO)[0] == {"type": "array", "items": {}}
    assert after(values.with_items, array, GOOGLE)[0] == array
    assert after(values.with_items, array | {"items": S}, PROTO)[0] == array | {"items": S}
    assert after(values.with_items, S, PROTO)[0] == S
