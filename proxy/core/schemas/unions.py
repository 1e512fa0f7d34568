"""Merges schemas, and tells whether they exclude one another: what the combining keywords are rewritten into.

Both are careful: `merged` returns None rather than a schema that means something else, and `disjoint` is true only
where it can be seen. Both compare each with each, so the request's budget pays for what they look at.
"""

from collections.abc import Callable, Mapping
from typing import Any

from proxy.core.schemas.traversal import UNIONS, Schema
from proxy.core.work import UnitBudget

MAX_COMPARED = 64
"""Branches that are compared each with each. Plain values may be more."""

LOOKING, MERGING = 6, 10
"""The prices of asking a schema for its types, and of merging the smallest two."""

ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "format",
        "propertyOrdering",
    }
)
"""Keywords whose nearer value wins where two schemas differ."""

_TOGETHER = (
    {"if", "then", "else"},
    {"contains", "minContains", "maxContains"},
    {"items", "prefixItems"},
    {"properties", "patternProperties", "additionalProperties"},
)
"""Keywords that mean something only with each other, so those of two schemas must not mix."""
_SEE_ALL = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""Keywords that judge what the schema around them left over, and would see more of it after a merge."""

_PYTHON_TYPES: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    dict: "object",
    list: "array",
    type(None): "null",
}


# ── together ───────────────────────────────────────────────────────────────────────────────────────────────────


def merged(near: Schema, far: Schema, work: UnitBudget) -> Schema | None:
    """Merges two schemas into one that asks for both. None if that needs `allOf`."""
    work.spend(MERGING + len(near) + len(far))
    if "$ref" in near or "$ref" in far:
        return None if near and far else near | far
    if far.keys() & _SEE_ALL or any(_mixed(group, near, far, work) for group in _TOGETHER):
        return None
    result = dict(near)
    for keyword, value in far.items():
        if keyword not in near or same(near[keyword], value, work):
            result[keyword] = value
        elif keyword not in ANNOTATIONS:
            combine: Callable[[Any, Any, UnitBudget], Any] = _BOTH.get(keyword, _neither)
            both = combine(near[keyword], value, work)
            if both is None:
                return None
            result[keyword] = both
    return result


def _mixed(group: set[str], near: Schema, far: Schema, work: UnitBudget) -> bool:
    one, other = ({key: schema[key] for key in group if key in schema} for schema in (near, far))
    if not one or not other or same(one, other, work):
        return False
    return not one.keys() == other.keys() == {"properties"}


def same(one: Any, other: Any, work: UnitBudget) -> bool:
    """Compares as JSON does: 1 is 1.0, but not true."""
    return bool(frozen(one, work) == frozen(other, work))


def frozen(value: Any, work: UnitBudget) -> Any:
    """Makes something hashable that is equal for equal values."""
    work.spend(1)
    match value:
        case bool():
            return (bool, value)
        case dict():
            return frozenset((name, frozen(inner, work)) for name, inner in value.items())
        case list():
            return tuple([frozen(inner, work) for inner in value])
        case _:
            return value


def _neither(near: Any, far: Any, work: UnitBudget) -> None:
    return None


def _all_properties(near: Schema, far: Schema, work: UnitBudget) -> Schema | None:
    work.spend(len(near) + len(far))
    result = dict(near)
    for name, value in far.items():
        both = merged(near[name], value, work) if name in near else value
        if both is None:
            return None
        result[name] = both
    return result


def _common_type(near: Any, far: Any, work: UnitBudget) -> str | list[str] | None:
    words = [word for word in _widened(near) if word in _widened(far)]
    words = [word for word in words if not (word == "integer" and "number" in words)]
    return words[0] if len(words) == 1 else words or None


def _widened(types: Any) -> list[str]:
    """Adds `integer` to `number`, since every integer is a number."""
    words = types if isinstance(types, list) else [types]
    return [*words, *(["integer"] if "number" in words else [])]


def _common_values(near: list[Any], far: list[Any], work: UnitBudget) -> list[Any] | None:
    others = {frozen(value, work) for value in far}
    return [value for value in near if frozen(value, work) in others] or None


def _united(near: list[str], far: list[str], work: UnitBudget) -> list[str]:
    work.spend(len(near) + len(far))
    return list(dict.fromkeys([*near, *far]))


def _appended(near: list[Schema], far: list[Schema], work: UnitBudget) -> list[Schema]:
    work.spend(len(near) + len(far))
    return [*near, *far]


def _larger(near: float, far: float, work: UnitBudget) -> float:
    return max(near, far)


def _smaller(near: float, far: float, work: UnitBudget) -> float:
    return min(near, far)


_BOTH: Mapping[str, Callable[[Any, Any, UnitBudget], Any]] = {
    "type": _common_type,
    "enum": _common_values,
    "properties": _all_properties,
    "required": _united,
    "allOf": _appended,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _larger),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _smaller),
}


# ── apart ──────────────────────────────────────────────────────────────────────────────────────────────────────


def all_disjoint(branches: list[Schema], work: UnitBudget) -> bool:
    values = [_values(branch) for branch in branches]
    if all(values):
        listed = [value for some in values for value in {frozen(value, work) for value in some or ()}]
        return len(listed) == len(set(listed))
    if len(branches) > MAX_COMPARED:
        return False
    return all(disjoint(one, other, work) for index, one in enumerate(branches) for other in branches[:index])


def disjoint(one: Schema, other: Schema, work: UnitBudget) -> bool:
    """Is there no value that both allow?"""
    types, others = types_of(one, work), types_of(other, work)
    if types is None or others is None:
        return False
    if not types & others:
        return True
    values, rest = _values(one), _values(other)
    if values is not None and rest is not None and not _common_values(values, rest, work):
        return True
    return types == others == {"object"} and (
        any(
            disjoint(*_both_of(name, one, other), work)
            for name in _required(one, work) & _required(other, work)
        )
        or _forbids(one, other, work)
        or _forbids(other, one, work)
    )


def types_of(schema: Schema, work: UnitBudget) -> set[str] | None:
    """Returns the types that the schema allows; `number` brings `integer` along. None where it does not say."""
    work.spend(LOOKING)
    if "type" in schema:
        return set(_widened(schema["type"]))
    if (values := _values(schema)) is not None:
        work.spend(len(values))
        return {word for value in values for word in _widened(_PYTHON_TYPES[type(value)])}
    for union in UNIONS:
        branches = [types_of(branch, work) for branch in schema.get(union, ())]
        if branches and None not in branches:
            return set().union(*(types for types in branches if types is not None))
    return None


def type_of(value: Any) -> str:
    return _PYTHON_TYPES[type(value)]


def _values(schema: Schema) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values: list[Any] | None = schema.get("enum")
    return values


def _required(schema: Schema, work: UnitBudget) -> set[str]:
    required = schema.get("required", ())
    work.spend(len(required))
    return set(required)


def _both_of(name: str, one: Schema, other: Schema) -> tuple[Schema, Schema]:
    return one.get("properties", {}).get(name, {}), other.get("properties", {}).get(name, {})


def _forbids(closed: Schema, other: Schema, work: UnitBudget) -> bool:
    """Does one schema require a property that the other has no room for?"""
    known = closed.get("properties", {}).keys()
    return (
        closed.get("additionalProperties") is False
        and "patternProperties" not in closed
        and not _required(other, work) <= known
    )
