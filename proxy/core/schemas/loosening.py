"""What is left of a tool's schema for backends that know less than JSON Schema 2020-12.

Each reduction takes a whole schema and makes another one; the one it was given stays as it is. Reductions only ever
loosen: it is better to lose a constraint that a backend cannot read than to lose the request, since the client checks
the arguments anyway. `plain` also forgives what clients really send: older drafts, nulls, types in other spellings.
"""

from functools import partial

from proxy.core.jsontext import compact, dumps
from proxy.core.schemas.traversal import (
    COMBINATORS,
    TYPES,
    UNIONS,
    Schema,
    each_inside,
    everywhere,
    own_part,
    target_of,
    without,
)
from proxy.core.schemas.unions import type_of
from proxy.core.work import Work

INLINED_NODES = 5_000
"""References that double at each level grow as powers of two. The largest honest tool seen has some hundred nodes."""
INLINED_BYTES = 1 << 20
"""One long description can be pointed at from a thousand places. Schemas of honest tools stay below 128 KiB."""
INLINED_DEPTH = 64
"""Chains of references can nest deeper than the schema that they stand in."""
EXPANDING, BYTES_PER_UNIT = 12, 500
"""The price of a schema in which references are replaced, and how many of its bytes are written for one unit."""
SMALL_BOUND = 32
"""llama.cpp unrolls repetitions into its grammar and gives up near 2000; two nested bounds multiply."""

# ── plain ──────────────────────────────────────────────────────────────────────────────────────────────────────

_REMARKS = frozenset({"$schema", "$id", "$comment", "strict", "encrypted", "defer_loading"})
"""Keywords that only their authors know, and that strict hosts refuse."""
NO_TYPE = frozenset({"any", ""})
"""Words for "any type", which a schema expresses by naming none."""
_MAY_BE_NULL = frozenset({"default", "const", "example"})


def plain(schema: Schema) -> Schema:
    return everywhere(schema, _plain)


def _plain(schema: Schema) -> Schema:
    schema = {
        keyword: value
        for keyword, value in schema.items()
        if keyword not in _REMARKS and (value is not None or keyword in _MAY_BE_NULL)
    }
    if not str(schema.get("$ref", "#")).startswith("#"):
        del schema["$ref"]
    return _known_types(_modern(schema))


def _known_types(schema: Schema) -> Schema:
    """Reads types in other spellings. Google's SDKs write them in capitals, draft 3 had a word for all of them, and
    some lists hold null itself instead of its name. The check complains of whatever is still no type."""
    words = schema.get("type")
    if type(words) is str:
        if words in TYPES:  # nearly always
            return schema
        known = [words.lower()]
    elif type(words) is list and all(word is None or type(word) is str for word in words):
        known = ["null" if word is None else word.lower() for word in words]
    else:
        return schema
    if not TYPES.issuperset(word for word in known if word not in NO_TYPE):
        return schema
    if not known or NO_TYPE.intersection(known):
        return without(schema, "type")
    return schema | {"type": known[0] if len(known) == 1 else list(dict.fromkeys(known))}


def _modern(schema: Schema) -> Schema:
    """Drafts 3 to 7 spell three things in ways that 2020-12 calls invalid, and generators still write them."""
    if isinstance(schema.get("items"), list):
        more = schema.get("additionalItems")
        rest = {"items": more} if isinstance(more, dict) else {}
        schema = {"prefixItems": schema["items"]} | without(schema, "items", "additionalItems") | rest
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(exclusive), bool):
            strictly = schema[exclusive] and bound in schema
            limit = {exclusive: schema[bound]} if strictly else {}
            schema = without(schema, exclusive, *([bound] if strictly else [])) | limit
    if isinstance(schema.get("required"), bool):
        schema = without(schema, "required")
    return schema


def without_dead_ends(schema: Schema) -> Schema:
    """Drops references to what is not there. They say as little as references out of the schema, but servers that
    make a grammar of them refuse the whole request, and many clients leave the definitions behind. References by
    name go unread, and stay."""

    def open_ended(here: Schema) -> Schema:
        return without(here, "$ref") if is_dead_end(schema, here) else here

    return everywhere(schema, open_ended)


def is_dead_end(root: Schema, here: Schema) -> bool:
    reference = str(here.get("$ref", ""))
    return reference.startswith("#/") and target_of(root, reference) is None


def as_object(schema: Schema) -> Schema:
    """Makes the root an object that says so: Moonshot, LM Studio and MiniMax refuse less."""
    if "$ref" in schema:
        schema = (target_of(schema, schema["$ref"]) or {}) | without(schema, "$ref")
    return {"type": "object", "properties": {}} | without(schema, "type", "$ref")


# ── inline ─────────────────────────────────────────────────────────────────────────────────────────────────────


def inline(schema: Schema, work: Work) -> tuple[Schema, bool]:
    """Replaces every reference by its target, and one that would come back to itself by `{}`. The flag says whether
    the result grew so large that it had to be cut."""
    nodes = size = 0
    cut = False

    def expanded(here: Schema, depth: int, followed: tuple[str, ...]) -> Schema:
        nonlocal nodes, size, cut
        nodes += 1
        if nodes > INLINED_NODES or size > INLINED_BYTES or depth > INLINED_DEPTH:
            cut = True
            return {}
        if "$ref" in here:
            reference = str(here["$ref"])
            target = None if reference in followed else target_of(schema, reference)
            followed = (*followed, reference)
            here = (target or {}) | without(here, "$ref")
        here = without(here, "$defs", "definitions")
        own = len(dumps(own_part(here)))
        size += own
        work.spend(EXPANDING + len(here) + own // BYTES_PER_UNIT)
        return each_inside(here, partial(expanded, depth=depth + 1, followed=followed))

    result = expanded(schema, 0, ())
    return result, cut


# ── moonshot ───────────────────────────────────────────────────────────────────────────────────────────────────


def moonshot(schema: Schema) -> Schema:
    """Rewrites for Moonshot's validator: types in the branches of a union, a type everywhere, nothing beside a
    reference."""
    root = without(schema, "definitions", *COMBINATORS)
    branches = [branch for union in COMBINATORS for branch in schema.get(union, ())]
    resolved = [target_of(schema, branch["$ref"]) if "$ref" in branch else branch for branch in branches]
    for branch in {id(branch): branch or {} for branch in resolved}.values():  # many may be the same one
        root["properties"] = branch.get("properties", {}) | root.get("properties", {})
    if definitions := schema.get("definitions", {}) | schema.get("$defs", {}):
        root["$defs"] = definitions
    return everywhere(root, _moonshot)


def _moonshot(schema: Schema) -> Schema:
    if "$ref" in schema:
        return _moonshot_reference(str(schema["$ref"]))
    if "prefixItems" in schema:
        schema = {"items": next(iter(schema["prefixItems"]), {})} | without(schema, "prefixItems")
    if any(union in schema for union in UNIONS):
        return _types_in_branches(schema)
    schema = _known_required(schema)
    if "type" in schema or "allOf" in schema:
        return schema
    return {"type": _guessed_type(schema)} | schema


def _moonshot_reference(reference: str) -> Schema:
    reference = reference.replace("#/definitions/", "#/$defs/", 1)
    return {"$ref": reference} if reference.startswith("#/$defs/") else {"type": "object"}


def _types_in_branches(schema: Schema) -> Schema:
    if "type" not in schema:
        return schema
    common = {"type": schema["type"]}
    pushed = {
        union: [branch if "$ref" in branch else common | branch for branch in schema[union]]
        for union in UNIONS
        if union in schema
    }
    return without(schema, "type") | pushed


def _guessed_type(schema: Schema) -> str:
    if "properties" in schema or "required" in schema or "additionalProperties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    return next((word for value in values if (word := type_of(value)) != "null"), "string")


def _known_required(schema: Schema) -> Schema:
    """Lets `required` name only what `properties` has."""
    if "required" not in schema:
        return schema
    known = schema.get("properties", {})
    return schema | {"required": [name for name in schema["required"] if name in known]}


# ── gemini ─────────────────────────────────────────────────────────────────────────────────────────────────────

_BELONGS_TO = {
    "array": ("items", "prefixItems"),
    "object": ("properties", "required", "additionalProperties"),
}


def gemini(schema: Schema) -> Schema:
    """Rewrites for Gemini's subset of OpenAPI: one type each, `nullable`, enums of strings, arrays that say of what."""
    return everywhere(schema, _gemini)


def _gemini(schema: Schema) -> Schema:
    schema = _strings_only(_one_type(_known_required(schema)))
    if schema.get("type") == "array" and "items" not in schema:
        schema = schema | {"items": next(iter(schema.get("prefixItems", ())), {"type": "string"})}
    return schema


def _one_type(schema: Schema) -> Schema:
    types = schema.get("type")
    if not isinstance(types, list):
        return schema
    nullable = {"nullable": True} if "null" in types else {}
    match [word for word in types if word != "null"]:
        case [only]:
            return schema | {"type": only} | nullable
        case several:
            moved = [keyword for word in several for keyword in _BELONGS_TO.get(word, ())]
            branches = [
                {"type": word} | {key: schema[key] for key in _BELONGS_TO.get(word, ()) if key in schema}
                for word in several
            ]
            return {"anyOf": branches} | without(schema, "type", *moved) | nullable


def _strings_only(schema: Schema) -> Schema:
    if "enum" not in schema:
        return schema
    values = [value for value in schema["enum"] if value is not None]
    nullable = {"nullable": True} if len(values) < len(schema["enum"]) else {}
    words = [value if isinstance(value, str) else compact(value) for value in values]
    return schema | {"type": "string", "enum": words} | nullable


# ── bounded ────────────────────────────────────────────────────────────────────────────────────────────────────

_BOUNDS = frozenset({"maxLength", "minLength", "maxItems", "minItems"})
_PAIRS = (("minLength", "maxLength"), ("minItems", "maxItems"))
_LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_INFINITE = float("inf")


def bounded(schema: Schema) -> Schema:
    """Drops what makes llama.cpp's grammars explode, fail or never come to an end: wide bounds, bounds between which
    there is nothing, and patterns, which it reads only in part."""
    return everywhere(schema, _bounded)


def _bounded(schema: Schema) -> Schema:
    schema = {
        keyword: value
        for keyword, value in schema.items()
        if keyword != "pattern" and not (keyword in _BOUNDS and value > SMALL_BOUND)
    }
    for least, most in _PAIRS:
        if schema.get(least, 0) > schema.get(most, _INFINITE):
            schema = without(schema, least, most)
    return without(schema, *_LIMITS) if _no_integer_fits(schema) else schema


def _no_integer_fits(schema: Schema) -> bool:
    """Of other numbers a grammar has no bounds."""
    if "integer" not in schema.get("type", ()):
        return False
    low = max(schema.get("minimum", -_INFINITE), schema.get("exclusiveMinimum", -_INFINITE) + 1)
    return bool(low > min(schema.get("maximum", _INFINITE), schema.get("exclusiveMaximum", _INFINITE) - 1))
