"""Whatever the schema, the value satisfies it; and it holds what the prompt said."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.arguments import Filler
from proxy.demo.prompt import Prompt

STRING = {"type": "string"}


def fill(schema: dict[str, Any], text: str = "", known: dict[str, Any] | None = None) -> Any:
    prompt = Prompt(text)
    value = Filler(schema, prompt, prompt.subjects, known).fill()
    jsonschema.validate(value, schema)
    return value


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize("name", ["city", "location", "place", "whatever_it_is_called"])
def test_the_subject_goes_to_the_first_string_whatever_its_name(name: str) -> None:
    schema = object_of(**{name: STRING, "unit": STRING})
    assert fill(schema, "weather in Paris") == {name: "Paris", "unit": "celsius"}


def test_several_strings_take_several_subjects() -> None:
    schema = object_of(origin=STRING, destination=STRING, note=STRING)
    assert fill(schema, "from Paris to London") == {
        "origin": "Paris",
        "destination": "London",
        "note": "demo",
    }


def test_a_list_takes_all_subjects_left() -> None:
    schema = object_of(host=STRING, guests={"type": "array", "items": STRING})
    assert fill(schema, "Ann meets Bob and Cid") == {"host": "Ann", "guests": ["Bob", "Cid"]}


def test_without_subjects_a_string_is_the_prompt_itself() -> None:
    assert fill(object_of(x=STRING), "say hello") == {"x": "say hello"}
    assert fill(object_of(query=STRING), "weather in Paris") == {"query": "weather in Paris"}


def test_what_a_client_might_execute_is_harmless() -> None:
    schema = object_of(command={"type": "array", "items": STRING}, cmd=STRING, input=STRING)
    assert fill(schema, "rm everything in Home") == {
        "command": ["echo", "hello", "from", "the", "demo", "model"],
        "cmd": "echo hello from the demo model",
        "input": "hello from the demo model",
    }


def test_numbers_are_taken_from_the_prompt_within_bounds() -> None:
    schema = object_of(
        a={"type": "number"},
        b={"type": "integer", "maximum": 5},
        c={"type": "integer", "minimum": 7},
        d={"type": "integer", "exclusiveMinimum": 3, "multipleOf": 4},
        e={"type": "integer"},
    )
    assert fill(schema, "add 2.5, 30 and 4") == {"a": 2.5, "b": 5, "c": 7, "d": 4, "e": 1}


def test_an_enumerated_value_that_the_prompt_names_is_chosen_even_if_optional() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": STRING,
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "lang": {"enum": ["en", "de"]},
        },
        "required": ["city"],
    }
    assert fill(schema, "Paris in Fahrenheit") == {"city": "Paris", "unit": "fahrenheit"}


def test_optional_properties_are_left_out_but_one_is_made_where_nothing_is_required() -> None:
    properties = {"city": STRING, "note": STRING}
    assert fill({"type": "object", "properties": properties}, "in Paris") == {"city": "Paris"}
    assert fill({"type": "object", "properties": {}}) == {}


def test_known_values_are_used_where_the_schema_allows_them() -> None:
    schema = object_of(temp={"type": "integer"}, sky={"enum": ["clear"]})
    assert fill(schema, known={"temp": 18, "sky": "red"}) == {"temp": 18, "sky": "clear"}


def test_a_schema_that_contains_itself_ends() -> None:
    node = object_of(name=STRING, next={"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]})
    tree = object_of(name=STRING, children={"type": "array", "items": {"$ref": "#/$defs/tree"}})
    assert fill({"$ref": "#/$defs/node", "$defs": {"node": node}})["next"] is not None
    assert fill({"$ref": "#/$defs/tree", "$defs": {"tree": tree}})["children"]


@pytest.mark.parametrize(
    "schema",
    [
        object_of(x={"$ref": "#"}),
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/type/deeper", "type": "object"},
        {"$ref": "https://example.com/schema"},
        {"enum": []},
        {"type": "string", "minLength": 10**12},
        {"type": "array", "minItems": 10**12},
    ],
)
def test_a_schema_that_nothing_can_satisfy_does_no_harm(schema: dict[str, Any]) -> None:
    Filler(schema, Prompt("hi"), [], {}).fill()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": "x"}, "x"),
        ({"type": "string", "default": "d"}, "d"),
        ({"type": "string", "format": "date"}, "2025-01-31"),
        ({"type": "string", "maxLength": 2}, "sa"),
        ({"type": "string", "minLength": 6}, "say..."),
        ({"type": ["null", "string"]}, "say"),
        ({"type": ["null"]}, None),
        ({"type": "null"}, None),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [True, True]),
        ({"type": "array", "items": STRING, "maxItems": 0}, []),
        ({"items": {"type": "null"}}, [None]),
        ({"properties": {"a": True}, "required": ["a", "b"]}, {"a": "say", "b": "say"}),
        (
            {"allOf": [{"properties": {"a": {"const": 1}}}, object_of(b={"const": 2})], "required": ["a"]},
            {"a": 1, "b": 2},
        ),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        (
            {
                "type": "object",
                "properties": {"a/b": {"$ref": "#/$defs/x~1y"}},
                "$defs": {"x/y": {"const": 3}},
            },
            {"a/b": 3},
        ),
        ({}, "say"),
    ],
)
def test_the_keywords_that_sdks_write(schema: dict[str, Any], value: Any) -> None:
    assert fill(schema, "say") == value


leaves = st.sampled_from(
    [
        STRING,
        {"type": "integer", "minimum": 3},
        {"type": "number", "maximum": -1},
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"enum": ["red", 2, None]},
        {"type": "string", "format": "date-time"},
        {"$ref": "#/$defs/point"},
    ]
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(["city", "query", "cmd", "x"]), inner, max_size=3).map(
            lambda p: object_of(**p)
        ),
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 3),
        ),
        inner.map(lambda branch: {"anyOf": [branch, {"type": "null"}]}),
    ),
    max_leaves=8,
)


@given(schemas, st.text())
def test_any_value_conforms(schema: dict[str, Any], text: str) -> None:
    fill(
        object_of(value=schema) | {"$defs": {"point": object_of(x={"type": "number"}, y={"type": "number"})}},
        text,
    )
