"""Steps that rewrite how schemas are combined, and what is never allowed. `rewriting` puts them in order."""

from proxy.core.schemas.losses import Node
from proxy.core.schemas.traversal import FALSE, UNIONS, Schema, without
from proxy.core.schemas.unions import all_disjoint, merged, types_of
from proxy.core.work import Work

MAX_PLAIN_NAME = 64
"""Characters of a property's name, where the provider takes plain names only."""


# ── the impossible ─────────────────────────────────────────────────────────────────────────────────────────────


def impossible(schema: Schema, node: Node) -> Schema:
    """Leaves out what `false` stands for, unless the schema requires it."""
    if banned := [name for name, inner in schema.get("properties", {}).items() if inner == FALSE]:
        schema = schema | {"properties": without(schema["properties"], *banned)}
        if set(banned) & set(schema.get("required", ())):
            node.reject("not")
        elif schema.get("additionalProperties") is not False:
            node.describe("properties", dict.fromkeys(banned, False))
    if schema.get("items") == FALSE:
        most = min(len(schema.get("prefixItems", ())), schema.get("maxItems", float("inf")))
        schema = without(schema, "items") | {"maxItems": most}
    for union in UNIONS:
        if possible := [branch for branch in schema.get(union, ()) if branch != FALSE]:
            schema = schema | {union: possible}
    return schema


def plain_names(schema: Schema, node: Node) -> Schema:
    if node.subset.plain_names and not all(map(is_plain, schema.get("properties", {}))):
        node.reject("properties")
    return schema


def is_plain(name: str) -> bool:
    return 0 < len(name) <= MAX_PLAIN_NAME and name.isascii() and name.translate(_PUNCTUATION).isalnum()


_PUNCTUATION = str.maketrans("_.-", "xxx")


# ── combinations ───────────────────────────────────────────────────────────────────────────────────────────────


def without_all_of(schema: Schema, node: Node) -> Schema:
    while "allOf" in schema:
        schema, branches = without(schema, "allOf"), schema["allOf"]
        for branch in branches:
            both = merged(schema, branch, node.work)
            if both is None:
                node.reject("allOf")
                return schema
            schema = both
    return schema


def nothing_as_flag(schema: Schema, node: Node) -> Schema:
    """Turns a branch for null into a flag, where the provider reads `nullable`."""
    if node.subset.several_types != "nullable":
        return schema
    for union in UNIONS:
        branches = schema.get(union, [])
        rest = [branch for branch in branches if types_of(branch, node.work) != {"null"}]
        if len(rest) != len(branches) - 1 or not rest:
            continue
        if union == "anyOf" or not any(_may_be_null(branch, node.work) for branch in rest):
            flag = {"nullable": True} if _may_be_null(without(schema, *UNIONS), node.work) else {}
            schema = schema | {union: rest} | flag
    return schema


def _may_be_null(schema: Schema, work: Work) -> bool:
    types = types_of(schema, work)
    return types is None or "null" in types


def without_lonely_branches(schema: Schema, node: Node) -> Schema:
    for union in UNIONS:
        if len(schema.get(union, ())) == 1:
            both = merged(without(schema, union), schema[union][0], node.work)
            if both is not None:
                return without_lonely_branches(without_all_of(nothing_as_flag(both, node), node), node)
    return schema


_OF_REQUIREMENTS = frozenset({"required", "type", "title", "description"})


def requirements_described(schema: Schema, node: Node) -> Schema:
    """Describes unions that only list which properties must occur together: they narrow the node and decide nothing
    else."""
    for union in UNIONS:
        branches = schema.get(union, ())
        if branches and all("required" in each and each.keys() <= _OF_REQUIREMENTS for each in branches):
            node.describe(union, [{"required": branch["required"]} for branch in branches])
            schema = without(schema, union)
    return schema


def no_union_at_the_root(schema: Schema, node: Node) -> Schema:
    if not node.is_root or node.subset.root_unions:
        return schema
    for union in UNIONS:
        if union in schema:
            node.reject(union)
    return without(schema, *UNIONS)


def one_of_as_any_of(schema: Schema, node: Node) -> Schema:
    """Writes `anyOf`, which means the same where no value can match two branches."""
    if "oneOf" not in schema:
        return schema
    around = {"type": schema["type"]} if "type" in schema else {}
    if "anyOf" in schema or not all_disjoint([around | branch for branch in schema["oneOf"]], node.work):
        node.reject("oneOf")
        return without(schema, "oneOf")
    return without(schema, "oneOf") | {"anyOf": schema["oneOf"]}
