"""The meta-schema of JSON Schema as a table: is one schema, without those inside it, right beyond doubt?

The validator says the same, and says what is wrong; but it takes forty times as long, in which nothing else runs, and
nearly every schema is right. So it is asked only about those that this table cannot vouch for.
"""

from collections.abc import Callable
from typing import Any

from proxy.core.tools.walking import TYPES, Schema

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
"""Those that this table can judge."""

HARD = frozenset(
    {
        "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
        "dependencies", "dependentRequired",
    }
)  # fmt: skip
"""Rare ones, left to the validator. Whatever is in neither place means nothing to it either."""


def is_right(schema: Schema | bool) -> bool:
    """False: perhaps not."""
    if type(schema) is not dict:
        return type(schema) is bool
    tests = KEYWORDS
    for keyword, value in schema.items():
        test = tests.get(keyword)
        if not test(value) if test else keyword in HARD:
            return False
    return True
