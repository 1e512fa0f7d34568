"""The meta-schema of JSON Schema: is one schema, without those inside it, a schema at all?

Two readers answer. The table can only vouch for a schema. The validator also finds what is wrong, but takes forty
times as long, in which nothing else runs. Nearly every schema is right, so the validator judges only what the table
cannot vouch for.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # ships no types

from proxy.core.schemas.traversal import TYPES, Path, Schema

Test = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return type(value) is str


def _texts(value: Any) -> bool:
    return type(value) is list and all(type(each) is str for each in value)


def _flag(value: Any) -> bool:
    return type(value) is bool


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _list(value: Any) -> bool:
    return type(value) is list


def _anything(value: Any) -> bool:
    return True


def _schema(value: Any) -> bool:
    return type(value) in (dict, bool)


def _schemas(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_schema, value))


def _named_schemas(value: Any) -> bool:
    return type(value) is dict and all(map(_schema, value.values()))


def _type(value: Any) -> bool:
    if type(value) is str:
        return value in TYPES
    return type(value) is list and bool(value) and all(type(each) is str and each in TYPES for each in value)


KEYWORDS: dict[str, Test] = {
    "type": _type,
    "required": _texts,
    "enum": _list,
    "examples": _list,
    **dict.fromkeys(("const", "default"), _anything),
    **dict.fromkeys(("title", "description", "format", "pattern", "$comment", "$ref", "$schema"), _text),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _text),
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "uniqueItems"), _flag),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    "multipleOf": _positive,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _count),
    **dict.fromkeys(("minContains", "maxContains", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("items", "contains", "propertyNames", "if", "then", "else", "not"), _schema),
    **dict.fromkeys(("additionalProperties", "unevaluatedItems", "unevaluatedProperties"), _schema),
    "contentSchema": _schema,
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _schemas),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "$defs"), _named_schemas),
    "definitions": _named_schemas,
}
"""The keywords that this table can judge."""

HARD = {
    "$id": ("a string: an address without a fragment", ""),
    **dict.fromkeys(("$dynamicRef", "$recursiveRef"), ("a string: a reference", "")),
    **dict.fromkeys(("$anchor", "$dynamicAnchor"), ("a string of letters, digits, '-', '_' and '.'", "")),
    "$recursiveAnchor": ("true or false", ""),
    "$vocabulary": ("an object with true or false for each address", "true or false"),
    "dependencies": ("an object of schemas and arrays of names", "a schema or an array of names"),
    "dependentRequired": ("an object of arrays of names", "an array of names"),
}
"""Rare keywords, left to the validator, each with what it must be. A keyword in neither table means nothing to the
validator either."""

ONE_TYPE = f"one of {', '.join(sorted(TYPES))}"
SCHEMA = "a schema: an object, true or false"
WANTED: Mapping[Test, tuple[str, str]] = {
    _text: ("a string", ""),
    _texts: ("an array of strings", "a string"),
    _flag: ("true or false", ""),
    _number: ("a number", ""),
    _positive: ("a number above 0", ""),
    _count: ("a whole number from 0 up", ""),
    _list: ("an array", ""),
    _schema: (SCHEMA, ""),
    _schemas: ("an array of one schema or more", SCHEMA),
    _named_schemas: ("an object of schemas", SCHEMA),
    _type: (f"{ONE_TYPE}, or an array of some of these", ONE_TYPE),
}
"""What each test wants, of the value and of what is inside it."""


def wanted(path: Path) -> str:
    """Says what must stand at a place in one schema."""
    keyword, *inside = path
    test = KEYWORDS.get(str(keyword))
    return (WANTED[test] if test else HARD[str(keyword)])[bool(inside)]


def is_right(schema: Schema | bool) -> bool:
    """False means "perhaps not"."""
    if type(schema) is not dict:
        return type(schema) is bool
    tests = KEYWORDS
    for keyword, value in schema.items():
        test = tests.get(keyword)
        if not test(value) if test else keyword in HARD:
            return False
    return True


# ── the validator ──────────────────────────────────────────────────────────────────────────────────────────────


def first_error(schema: Schema) -> ValidationError | None:
    """Returns what the validator finds wrong with one schema, at whatever cost."""
    return next(_META.iter_errors(schema), None)


def _meta_schema_of_one_level() -> Schema:
    """Lays the vocabularies of the meta-schema of 2020-12 together, and leaves every "a schema here" open.

    The result judges one schema without those inside it, which are judged by themselves. Eight vocabularies with
    dynamic references at each level cost five times as much, and a Python frame for every step down.
    """
    draft = Draft202012Validator.META_SCHEMA
    parts = [REGISTRY.contents(draft["$id"].removesuffix("schema") + part["$ref"]) for part in draft["allOf"]]
    flat: Schema = {"type": ["object", "boolean"], "properties": {}, "$defs": {}}
    for part in (*parts, draft):
        for shelf in ("properties", "$defs"):
            flat[shelf] |= part.get(shelf, {})

    def opened(value: Any) -> Any:
        match value:
            case {"$dynamicRef": "#meta"}:
                return {"type": flat["type"]}
            case {"$ref": str(reference)}:
                return value | {"$ref": "#" + reference.partition("#")[2]}
            case dict():
                return {keyword: opened(inner) for keyword, inner in value.items()}
            case list():
                return [opened(inner) for inner in value]
            case _:
                return value

    return {shelf: opened(value) for shelf, value in flat.items()}


_META = extend(Draft202012Validator, {"uniqueItems": None})(_meta_schema_of_one_level(), registry=REGISTRY)
"""The registry holds the meta-schemas and fetches nothing. `uniqueItems` is off: it compares each with each, which
takes seconds for a hostile list, and a name required twice harms nobody."""
