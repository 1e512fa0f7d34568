"""What the providers read of JSON Schema, one row for each place that takes a schema.

A keyword that is missing in a row is no loss if it is a remark. If it constrains a value, the proxy describes it to the
model and checks the arguments against the client's own schema. If it decides between schemas, nothing can stand for it,
and the tool is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from proxy.core.schemas.strictness import GRAMMAR_FORMATS, GRAMMAR_KEYWORDS, GRAMMAR_MIN_ITEMS
from proxy.core.schemas.traversal import TYPES

SEVERAL_TYPES = Literal["list", "anyOf", "nullable"]

DESCRIBABLE = frozenset(
    {
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "prefixItems",
        "minProperties",
        "maxProperties",
        "propertyNames",
        "patternProperties",
        "dependentRequired",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "enum",
    }
)
"""Keywords that can be described in words where they cannot be written: each takes something away from what its own
node allows."""

DECISIVE = frozenset(
    {
        "not",
        "if",
        "dependentSchemas",
        "allOf",
        "oneOf",
        "anyOf",
        "const",
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "extends",
        "disallow",
    }
)
"""Keywords that can be neither written nor described where a provider does not read them: they decide which schema
applies."""


@dataclass(frozen=True, slots=True)
class Subset:
    keywords: frozenset[str] | None = None
    """None means all of them."""
    root_unions: bool = True
    """May the root be one of several schemas?"""
    recursion: bool = False
    """May a definition lead back to itself?"""
    several_types: SEVERAL_TYPES = "anyOf"
    """How a value of several types is written."""
    enum: frozenset[str] = frozenset({"string", "integer", "number"})
    """The types that listed values may have."""
    blank_enum: bool = True
    formats: Mapping[str, frozenset[str]] | None = None
    """The formats that are known, by type. None means any word."""
    min_items: int | None = None
    """The largest value that is read."""
    items_needed: bool = False
    """Must an array declare its items?"""
    closed: bool = False
    """Must every object be closed? Then an open one cannot be written."""
    plain_names: bool = False
    """Must names of properties be short and of letters, digits, dots, dashes and underscores? Others get aliases,
    which an encoder has to use for earlier calls too: `Prepared.aliases`."""


@dataclass(frozen=True, slots=True)
class Provider:
    tools: Subset
    answers: Subset = field(default_factory=Subset)


_ANTHROPIC_TOOLS = Subset(root_unions=False, several_types="list", enum=TYPES, plain_names=True)
_ANTHROPIC_ANSWERS = Subset(
    keywords=GRAMMAR_KEYWORDS - {"$ref", "$defs", "allOf", "const"},
    enum=TYPES - {"object", "array"},
    formats={"string": GRAMMAR_FORMATS},
    min_items=GRAMMAR_MIN_ITEMS,
    closed=True,
)
_GOOGLE = Subset(
    keywords=frozenset(
        {
            "$ref",
            "$defs",
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
            "properties",
            "additionalProperties",
            "required",
            "propertyOrdering",
        }
    ),
    recursion=True,
)
_GOOGLE_PROTO = Subset(
    keywords=frozenset(
        {
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
    ),
    several_types="nullable",
    enum=frozenset({"string"}),
    blank_enum=False,
    formats={
        "string": frozenset({"date-time", "enum"}),
        "integer": frozenset({"int32", "int64"}),
        "number": frozenset({"float", "double"}),
    },
    items_needed=True,
)

PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(_ANTHROPIC_TOOLS, _ANTHROPIC_ANSWERS),
    "google": Provider(_GOOGLE, _GOOGLE),
    "google_proto": Provider(_GOOGLE_PROTO, _GOOGLE_PROTO),
}
