"""Schemas before the providers, and arguments before schemas, for whatever clients declare (P02, P05).

Two oracles that share no code with what they judge: the providers' own lists of what they read, written down again
here, and jsonschema as it comes.
"""

from collections.abc import Iterator
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import _WrappedReferencingError
from referencing import Registry

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.schemas import for_backend, validity
from proxy.core.schemas.aliases import renamed
from proxy.core.tools.arguments import verdict
from proxy.core.work import Work
from tests.properties.examples import examples

NAMES = st.sampled_from(["a", "b", "$c"])
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
VALUES = st.sampled_from([None, True, False, 0, 1, 1.0, 1.5, -3, "", "a", "ab", "b1"])
instances = st.recursive(
    VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
objects = st.dictionaries(NAMES, instances, max_size=3)

MEANT = {
    "string": {"minLength", "maxLength", "pattern"},
    "number": {"minimum", "exclusiveMinimum", "multipleOf"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "patternProperties", "dependentRequired"},
}


def with_type(part: dict[str, Any]) -> dict[str, Any]:
    """Schemas that say `minLength` of strings and mean numbers too are not what people write."""
    meant = [word for word, keywords in MEANT.items() if part.keys() & keywords]
    return {"type": meant} | part if meant else part


leaves = (
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "minimum": st.integers(-2, 2),
            "exclusiveMinimum": st.integers(-2, 2),
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 2),
            "pattern": st.sampled_from(["^a", "b$", "[0-9]", "^a|b"]),
            "format": st.sampled_from(["date", "date-time", "own"]),
            "uniqueItems": st.booleans(),
            "description": st.just("d"),
            "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b"]),
        },
    )
    .flatmap(
        lambda drawn: st.sampled_from(
            [drawn, {key: drawn[key] for key in drawn if key not in ("$ref", "enum")}]
        )
    )
    .map(with_type)
)


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "null"]]),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=1),
            "items": inner,
            "prefixItems": some,
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "contains": inner,
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
            "anyOf": some,
            "oneOf": some,
            "allOf": some,
            "not": inner,
        },
    ).map(lambda drawn: with_type(dict(list(drawn.items())[-4:])))


parts = st.recursive(st.one_of(st.booleans(), leaves, leaves), larger, max_leaves=6)
roots = st.fixed_dictionaries(
    {"properties": st.dictionaries(NAMES, parts, max_size=3)},
    optional={
        "type": st.just("object"),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans(),
        "$defs": st.fixed_dictionaries({"a": leaves, "b": parts.filter(lambda part: isinstance(part, dict))}),
        "anyOf": st.lists(leaves, min_size=1, max_size=2),
    },
)


def usable(candidate: dict[str, Any]) -> bool:
    try:
        validity.check(candidate, "parameters", Work())
    except ClientFault:
        return False
    return True


# ── the providers' own lists ──

PROTO = {
    "type",
    "nullable",
    "anyOf",
    "enum",
    "format",
    "title",
    "description",
    "default",
    "example",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "properties",
    "propertyOrdering",
    "required",
}
GOOGLE = {
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
}
ANSWERS = {
    "type",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$defs",
    "$ref",
    "format",
    "minItems",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
    "default",
}


def nodes(here: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a rewritten one; the keywords that hold schemas are few there."""
    yield here
    for holder in ("properties", "$defs"):
        for inner in here.get(holder, {}).values():
            yield from nodes(inner)
    for holder in ("anyOf", "prefixItems"):
        for inner in here.get(holder, ()):
            yield from nodes(inner)
    for holder in ("items", "additionalProperties"):
        if isinstance(here.get(holder), dict):
            yield from nodes(here[holder])


def proto_reads(here: dict[str, Any]) -> bool:
    return (
        here.keys() <= PROTO
        and isinstance(here.get("type", ""), str)
        and all(isinstance(value, str) and value for value in here.get("enum", ()))
        and (here.get("type") != "array" or "items" in here)
        and set(here.get("required", ())) <= here.get("properties", {}).keys()
    )


def google_reads(here: dict[str, Any]) -> bool:
    return (
        here.keys() <= GOOGLE
        and isinstance(here.get("type", ""), str)
        and all(isinstance(value, str | int | float) for value in here.get("enum", ()))
        and ("$ref" not in here or here.keys() == {"$ref"})
    )


def answers_read(here: dict[str, Any]) -> bool:
    return (
        here.keys() <= ANSWERS
        and (here.get("type") != "object" or here.get("additionalProperties") is False)
        and here.get("minItems", 0) <= 1
        and not any(isinstance(value, dict | list) for value in here.get("enum", ()))
    )


@examples(60)
@given(roots)
def test_a_provider_gets_only_what_it_reads(candidate: dict[str, Any]) -> None:
    assume(usable(candidate))
    for rule, reads in (("google_proto", proto_reads), ("google", google_reads)):
        result = for_backend.rewritten(candidate, {rule}, Work())
        assert result == for_backend.rewritten(candidate, {rule}, Work())
        assert result.incompatible_features or all(map(reads, nodes(result.schema)))
    loose = for_backend.rewritten(candidate, {"anthropic"}, Work())
    assert loose.incompatible_features or not loose.schema.keys() & {
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
    }
    try:
        answer = for_backend.rewritten_answer(candidate, {"anthropic"}, "text.format.schema", Work()).schema
    except ClientFault:
        return
    assert all(map(answers_read, nodes(answer)))


def valid(candidate: Any, instance: Any) -> bool | None:
    """None where jsonschema has no answer: references that lead nowhere or in a circle."""
    try:
        return bool(Draft202012Validator(candidate, registry=Registry()).is_valid(instance))
    except (RecursionError, _WrappedReferencingError):
        return None


def as_json_schema(here: Any) -> Any:
    """`nullable` is the one word of Gemini's that JSON Schema does not know."""
    match here:
        case {"nullable": True, **rest}:
            return {"anyOf": [as_json_schema(rest), {"type": "null"}]}
        case dict():
            return {key: as_json_schema(value) for key, value in here.items()}
        case list():
            return [as_json_schema(value) for value in here]
        case _:
            return here


@examples(60)
@given(roots, objects)
def test_what_was_allowed_still_is_and_nothing_else_unless_it_is_reported(
    candidate: dict[str, Any], instance: dict[str, Any]
) -> None:
    """Rewritten schemas may be looser, never stricter, and looser only with a report."""
    assume(usable(candidate))
    candidate = {"type": "object"} | candidate
    was = valid(candidate, instance)
    assume(was is not None)
    for rule in ("anthropic", "google", "google_proto"):
        result = for_backend.rewritten(candidate, {rule}, Work())
        if result.incompatible_features or any("$ref" in node for node in nodes(result.schema)):
            continue
        aliases = {name: alias for alias, name in result.aliases.items()}
        told = jsontext.loads(renamed(jsontext.compact(instance), aliases))
        now = valid(as_json_schema(result.schema), told)
        assert now or not was, rule
        assert now == was or result.relaxed, rule


@examples(60)
@given(roots, objects)
def test_the_check_of_arguments_agrees_with_jsonschema(
    candidate: dict[str, Any], instance: dict[str, Any]
) -> None:
    assume(usable(candidate))
    problem = verdict(jsontext.dumps(candidate), jsontext.compact(instance))
    fits = valid(candidate, instance)
    assert fits is None or (problem is None) == fits
