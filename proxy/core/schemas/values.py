"""Steps that rewrite what a single value may be; `rewriting` puts them in order."""

from math import ceil, floor
from typing import Any

from proxy.core.schemas.losses import Node
from proxy.core.schemas.subsets import DECISIVE, DESCRIBABLE, Subset
from proxy.core.schemas.traversal import ANYTHING, Schema, without
from proxy.core.schemas.type_unions import is_of, of_one_type, typed
from proxy.core.schemas.unions import frozen, same, type_of

# ── values ─────────────────────────────────────────────────────────────────────────────────────────────────────


def const_as_enum(schema: Schema, node: Node) -> Schema:
    if "const" not in schema:
        return schema
    listed = [
        value for value in schema.get("enum", [schema["const"]]) if same(value, schema["const"], node.work)
    ]
    if not listed:
        node.reject("const")
    return without(schema, "const") | {"enum": listed}


def one_type(schema: Schema, node: Node) -> Schema:
    found = of_one_type(typed(schema), node.work, nullable=node.subset.several_types == "nullable")
    if found is None:
        node.reject("type")
        return without(schema, "type")
    return found


def readable_values(schema: Schema, node: Node) -> Schema:
    if "enum" not in schema:
        return schema
    word, readable = schema.get("type"), node.subset.enum
    values = [value for value in schema["enum"] if word is None or is_of(word, value)]
    if not values:
        node.reject("enum")
    if (word == "null" and values) or (word == "boolean" and {True, False} <= set(values)):
        return without(schema, "enum")
    if all(type_of(value) in readable and (value != "" or node.subset.blank_enum) for value in values):
        return schema | {"enum": values}
    node.describe("enum", values)
    return without(schema, "enum")


# ── limits ─────────────────────────────────────────────────────────────────────────────────────────────────────


def inclusive(schema: Schema, node: Node) -> Schema:
    """Writes exclusive limits of integers as inclusive ones: above 3 means from 4 on."""
    if schema.get("type") != "integer" or not node.reads("minimum"):
        return schema
    if (low := schema.get("exclusiveMinimum")) is not None:
        low = max(floor(low) + 1, schema.get("minimum", float("-inf")))
        schema = without(schema, "exclusiveMinimum") | {"minimum": low}
    if (high := schema.get("exclusiveMaximum")) is not None:
        high = min(ceil(high) - 1, schema.get("maximum", float("inf")))
        schema = without(schema, "exclusiveMaximum") | {"maximum": high}
    return schema


def tuples(schema: Schema, node: Node) -> Schema:
    """Merges the schemas of single items, where the provider reads only one for all of them."""
    if "prefixItems" not in schema or node.reads("prefixItems"):
        return schema
    shapes = schema["prefixItems"]
    node.describe("prefixItems", shapes)
    is_open = schema.get("maxItems", float("inf")) > len(shapes)
    shapes = [*shapes, *([schema.get("items", ANYTHING)] if is_open else [])]
    different = list({frozen(shape, node.work): shape for shape in shapes}.values())
    items = different[0] if len(different) == 1 else {"anyOf": different}
    return without(schema, "prefixItems") | {"items": ANYTHING if ANYTHING in different else items}


def by_pattern(schema: Schema, node: Node) -> Schema:
    """Opens an object that allows properties by pattern, where the provider does not read patterns."""
    if "patternProperties" not in schema:
        return schema
    if node.subset.closed:
        node.reject("patternProperties")
        return without(schema, "patternProperties")
    node.describe("patternProperties", schema["patternProperties"])
    if (rest := schema.get("additionalProperties", True)) not in (True, ANYTHING):
        node.describe("additionalProperties", rest)
    return without(schema, "patternProperties", "additionalProperties")


def closed(schema: Schema, node: Node) -> Schema:
    """Closes the object: an answer with nothing beside the listed properties also fits the open schema."""
    if not node.subset.closed or schema.get("type") != "object":
        return schema
    rest = schema.get("additionalProperties", True)
    if rest is not False and not (schema.get("properties") and rest in (True, ANYTHING)):
        node.reject("additionalProperties")
    return schema | {"additionalProperties": False}


def dependencies(schema: Schema, node: Node) -> Schema:
    """Splits draft 7's one word for two things."""
    if "dependencies" not in schema:
        return schema
    wanted = schema["dependencies"]
    names = {name: value for name, value in wanted.items() if isinstance(value, list)}
    if len(names) < len(wanted):
        node.reject("dependencies")
    return without(schema, "dependencies") | {"dependentRequired": names}


def known_required(schema: Schema, node: Node) -> Schema:
    """Declares what is required as a property of any kind, since it has to be a property."""
    known = schema.get("properties", {})
    unknown = [name for name in schema.get("required", ()) if name not in known]
    return schema | {"properties": known | {name: {} for name in unknown}} if unknown else schema


def described_or_rejected(schema: Schema, node: Node) -> Schema:
    """Handles every keyword that is left and not read. A keyword that is no constraint is a remark, and goes."""
    kept = {}
    for keyword, value in schema.items():
        if node.reads(keyword) and _is_read(keyword, value, schema, node.subset):
            kept[keyword] = value
        elif keyword in DECISIVE:
            node.reject(keyword)
        elif keyword in DESCRIBABLE and value not in _NOTHING.get(keyword, ()):
            node.describe(keyword, value)
    return kept


_NOTHING: dict[str, tuple[Any, ...]] = {
    "uniqueItems": (False,),
    "minLength": (0,),
    "minItems": (0,),
    "minProperties": (0,),
    **dict.fromkeys(("propertyNames", "dependentRequired"), (ANYTHING,)),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), (True, ANYTHING)),
}
"""Values that take nothing away, although they are written down."""


def _is_read(keyword: str, value: Any, schema: Schema, subset: Subset) -> bool:
    match keyword:
        case "format" if subset.formats is not None:
            return value in subset.formats.get(str(schema.get("type")), ())
        case "minItems" if subset.min_items is not None:
            return bool(value <= subset.min_items)
        case _:
            return True


def with_items(schema: Schema, node: Node) -> Schema:
    if node.subset.items_needed and schema.get("type") == "array" and "items" not in schema:
        return schema | {"items": dict(ANYTHING)}
    return schema
