"""What the providers read of JSON Schema, one row for each place that takes one.

A keyword that is missing in a row is no loss if it is a remark. If it constrains a value, the model is told of it in
words and the client's own schema is what its arguments are checked against. If it decides between schemas, nothing
can stand for it, and the tool is refused.
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
"""Can be put into words where it cannot be written: it takes something away from what its own node allows."""

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
"""Can be neither written nor told where a provider does not read it: which schema applies hangs on it."""


@dataclass(frozen=True, slots=True)
class Subset:
    keywords: frozenset[str] | None = None
    """None: all of them."""
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
    """The formats that are known, by type; None: any word."""
    min_items: int | None = None
    """The largest that is read."""
    items_needed: bool = False
    """Must an array say of what?"""
    closed: bool = False
    """Is every object closed, so that one that is open cannot be written?"""
    plain_names: bool = False
    """Must names of properties be short and of letters, digits, dots, dashes and underscores? Others get aliases then,
    by which an encoder has to tell of earlier calls too: `Prepared.aliases`."""


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
