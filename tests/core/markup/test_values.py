"""R08: text values typed by the schema."""

from typing import Any

from proxy.core import jsontext
from proxy.core.markup import values
from proxy.core.markup.values import Pair, Unknown
from tests.support.quickness import quickly
from tests.support.tables import table

ROOT = {
    "$defs": {
        "Count": {"type": "integer"},
        "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"type": "boolean"}]},
        "a/b": {"type": "array"},
    }
}


def schema(*types: str) -> dict[str, Any]:
    return {"type": list(types)}


@table(
    ("declared", "raw", "expected"),
    [
        # a string is never anything else
        ({"type": "string"}, "123", "123"),
        ({"type": "string"}, "true", "true"),
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, '{"a": 1}', '{"a": 1}'),
        ({"type": "string"}, "  a\n", "  a\n"),
        # null
        (schema("string", "null"), "null", None),
        (schema("string", "null"), "None", None),
        (schema("string", "null"), "NULL", None),
        (schema("string", "null"), "none", "none"),
        (schema("string", "null"), "nothing", "nothing"),
        ({"type": "integer"}, "null", "null"),
        # integer
        ({"type": "integer"}, "42", 42),
        ({"type": "integer"}, " -7\n", -7),
        ({"type": "integer"}, "007", 7),
        ({"type": "integer"}, "4.0", "4.0"),
        ({"type": "integer"}, "many", "many"),
        ({"type": "integer"}, "1" * 5000, "1" * 5000),
        ({"type": "integer"}, "99999999999999999999", 99999999999999999999),
        # number
        ({"type": "number"}, "5", 5),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "number"}, "1.5e-3", 0.0015),
        ({"type": "number"}, "1e999", "1e999"),
        ({"type": "number"}, "nan", "nan"),
        ({"type": "number"}, "0." + "1" * 500, "0." + "1" * 500),
        # boolean
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "boolean"}, "1", True),
        ({"type": "boolean"}, "yes", "yes"),
        # object and array
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "object"}, "{'a': True, 'b': None}", {"a": True, "b": None}),
        ({"type": "object"}, '{\\"a\\": \\"b\\"}', {"a": "b"}),
        ({"type": "object"}, '{\\n  \\"a\\": 1}', {"a": 1}),
        ({"type": "object"}, '{\\"a\\": "', '{\\"a\\": "'),
        ({"type": "object"}, "[1]", "[1]"),
        ({"type": "object"}, "{broken", "{broken"),
        ({"type": "object"}, "text", "text"),
        ({"type": "array"}, "[1, [2]]", [1, [2]]),
        ({"type": "array"}, "(1, 'a')", [1, "a"]),
        ({"type": "array"}, '{"a": 1}', '{"a": 1}'),
        # several, in their order
        (schema("string", "integer"), "42", 42),
        (schema("string", "integer"), "x", "x"),
        (schema("integer", "number", "string"), "4.5", 4.5),
        (schema("array", "object"), '{"a": 1}', {"a": 1}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", None),
        ({"oneOf": [{"type": "object"}, {"type": "string"}]}, '{"a": 1}', {"a": 1}),
        ({"allOf": [{"type": "boolean"}]}, "true", True),
        ({"anyOf": "broken"}, "1", "1"),
        # told by other keywords
        ({"enum": ["a", "b"]}, "a", "a"),
        ({"enum": [1, 2, None]}, "2", 2),
        ({"enum": [1.5, True, [], {}]}, "1.5", 1.5),
        ({"enum": "broken"}, "1", "1"),
        ({"const": 5}, "5", 5),
        ({"properties": {}}, "{}", {}),
        ({"items": {}}, "[]", []),
        # references
        ({"$ref": "#/$defs/Count"}, "5", 5),
        ({"$ref": "#/$defs/Loop"}, "true", True),
        ({"$ref": "#/$defs/a~1b"}, "[]", []),
        ({"$ref": "#/$defs/Missing"}, "5", "5"),
        ({"$ref": "#/$defs/Count/type/deeper"}, "5", "5"),
        # names that are not JSON Schema's
        ({"type": "float"}, "3.5", 3.5),
        ({"type": "Int"}, "3", 3),
        ({"type": "dict"}, "{}", {}),
        ({"type": "list"}, "[]", []),
        ({"type": "str"}, "3", "3"),
        ({"type": "bool"}, "true", True),
        ({"type": "any"}, '{"a": 1}', {"a": 1}),
        ({"type": "any"}, "text", "text"),
        # nothing known
        (None, "5", "5"),
        ({}, "5", "5"),
        ({"description": "x"}, "true", "true"),
        ("broken", "5", "5"),
        (True, "5", "5"),
    ],
)
def test_the_schema_decides(declared: Any, raw: str, expected: Any) -> None:
    value = values.convert(raw, declared, ROOT)
    assert value == expected
    assert type(value) is type(expected)


@table(("raw", "expected"), [("5", 5), ("[1]", [1]), ("text", "text"), ("", "")])
def test_what_the_schema_does_not_know_may_be_json(raw: str, expected: Any) -> None:
    assert values.convert(raw, None, {}, Unknown.JSON) == expected


def test_the_parameters_may_be_composed() -> None:
    """Each key may be described in several parts; all of them admit their types."""
    one, two = (
        {"properties": {"a": {"type": "integer"}}},
        {"properties": {"a": {"type": "null"}, "b": {"type": "boolean"}}},
    )
    schema = {"anyOf": [one, {"$ref": "#/$defs/two"}], "$defs": {"two": two}}
    pairs = [Pair("a", "5"), Pair("b", "true"), Pair("c", "5")]
    assert jsontext.strict(values.arguments(pairs, schema) or "") == {"a": 5, "b": True, "c": "5"}
    assert jsontext.strict(values.arguments([Pair("a", "null")], schema) or "") == {"a": None}


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    written = values.arguments(
        [Pair("a", "1"), Pair("b", "2"), Pair("a", "3")], {"properties": {"a": {"type": "integer"}}}
    )
    assert written is not None
    assert jsontext.strict(written) == {"a": 3, "b": "2"}


CITY = {"properties": {"city": {"type": "string"}}}


@table("key", ["arguments", "args", "input", "parameters", "properties"])
@table("raw", ['{"city": "Rome"}', "{'city': 'Rome'}", '"{\\"city\\": \\"Rome\\"}"'])
def test_one_key_may_hold_all_arguments(key: str, raw: str) -> None:
    def read(*pairs: Pair, schema: dict[str, Any] = CITY, holds: bool = False) -> Any:
        return jsontext.strict(values.arguments(pairs, schema, holds=holds) or "")

    all_in_one, as_it_is = {"city": "Rome"}, {key: raw}
    assert read(Pair(key, raw)) == all_in_one
    assert read(Pair(key, raw.replace("city", "town"))) == {key: raw.replace("city", "town")}
    assert read(Pair(key, raw), Pair("city", "Bonn")) == {**as_it_is, "city": "Bonn"}
    assert read(Pair(key, raw), schema={"properties": {**CITY["properties"], key: {}}}) == as_it_is
    assert read(Pair(key, raw), schema={}) == as_it_is
    assert read(Pair(key, raw), schema={}, holds=True) == all_in_one
    assert read(Pair("other", raw)) == {"other": raw}


@table("schema", [{"properties": []}, {"properties": None}, {"required": "a"}, {}])
def test_a_schema_may_be_broken(schema: dict[str, Any]) -> None:
    assert values.arguments([Pair("a", "1")], schema) == '{"a":"1"}'
    assert values.required(schema) == []


def test_what_cannot_be_written_is_no_object() -> None:
    nested: dict[str, Any] = {}
    for _ in range(300):
        nested = {"a": nested}
    assert values.written(nested) is None


@table("raw", ["{" + " " * 20_000, " " * 20_000, "{" + "\\n" * 20_000, "{" + " \\n" * 20_000 + "'"])
def test_attack_11_blanks_behind_a_bracket_are_read_once(raw: str) -> None:
    with quickly():
        assert values.convert(raw, {"type": "object"}, {}) == raw
