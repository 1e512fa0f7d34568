"""Steps that rewrite nodes of several types into nodes of one type each."""

from collections.abc import Mapping
from typing import Any

from proxy.core.schemas.traversal import Schema, without
from proxy.core.schemas.unions import merged, type_of
from proxy.core.work import Work

_NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OF_TYPE: Mapping[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "integer": frozenset(_NUMERIC),
    "number": frozenset(_NUMERIC),
    "array": frozenset(
        {
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "unevaluatedItems",
        }
    ),
    "object": frozenset(
        {
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "unevaluatedProperties",
            "propertyOrdering",
        }
    ),
}
"""The keywords of each type, which say nothing of values of other types."""
_OWNED = frozenset().union(*_OF_TYPE.values())


def typed(schema: Schema) -> Schema:
    """Adds the type, if the values or the keywords leave no doubt.

    By the letter, properties without a type allow a number too. Nobody means it, and providers insist on the type.
    """
    if "type" in schema or "anyOf" in schema:
        return schema
    if "enum" in schema:
        return schema | {"type": list(dict.fromkeys(type_of(value) for value in schema["enum"]))}
    meant = [word for word in ("string", "number", "array", "object") if schema.keys() & _OF_TYPE[word]]
    return schema | {"type": meant[0]} if len(meant) == 1 else schema


def of_one_type(schema: Schema, work: Work, *, nullable: bool) -> Schema | None:
    """Leaves one type at most, and puts the others into a union. None where the schema allows nothing, or would need
    two unions at once."""
    if nullable:
        schema = _nullable(schema)
    types = schema.get("type")
    if not isinstance(types, list):
        return schema
    types = [word for word in types if not (word == "integer" and "number" in types)]
    if "anyOf" in schema:
        return _into_branches(schema, types, work)
    branches = [branch for word in types if (branch := _branch(schema, word)) is not None]
    if not branches:
        return None
    shared = without(schema, "type", "enum", *_OWNED)
    return shared | (branches[0] if len(branches) == 1 else {"anyOf": branches})


def _branch(schema: Schema, word: str) -> Schema | None:
    """Returns what the schema says of values of this type. None means that it allows none."""
    owned = _OF_TYPE.get(word, frozenset())
    branch: Schema = {"type": word} | {key: value for key, value in schema.items() if key in owned}
    if "enum" in schema:
        branch["enum"] = [value for value in schema["enum"] if is_of(word, value)]
        if not branch["enum"]:
            return None
    return branch


def is_of(word: str, value: Any) -> bool:
    if isinstance(value, float) and value.is_integer() and word == "integer":
        return True
    return type_of(value) == word or (word == "number" and type_of(value) == "integer")


def _into_branches(schema: Schema, types: list[str], work: Work) -> Schema | None:
    branches = [merged(branch, {"type": types}, work) for branch in schema["anyOf"]]
    if None in branches:
        return None
    return without(schema, "type") | {"anyOf": branches}


def _nullable(schema: Schema) -> Schema:
    """Writes null as a flag beside the one type, instead of as a type of its own."""
    types = schema.get("type")
    if "anyOf" in schema or not isinstance(types, list) or "null" not in types or types == ["null"]:
        return schema
    schema = schema | {"type": [word for word in types if word != "null"], "nullable": True}
    if "enum" in schema:
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    return schema
