"""Schemas put together, and schemas that exclude one another: what the combining keywords can be rewritten into.

Both are careful: `merged` gives nothing rather than a schema that means something else, and `disjoint` is true only
where it can be seen.
"""

from collections.abc import Callable, Mapping
from typing import Any

from proxy.core.tools.walking import UNIONS, Schema

MAX_COMPARED = 64
"""Branches that are compared each with each. Of plain values there may be more."""

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
"""Where two say something different, the nearer one is heard."""

_TOGETHER = (
    {"if", "then", "else"},
    {"contains", "minContains", "maxContains"},
    {"items", "prefixItems"},
    {"properties", "patternProperties", "additionalProperties"},
)
"""Keywords that mean something only with each other, so that those of two schemas do not mix."""
_SEE_ALL = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""They judge what the schema around them left over, and would see more of it from there."""

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


def merged(near: Schema, far: Schema) -> Schema | None:
    """One schema that asks for both, if it can be written without `allOf`."""
    if "$ref" in near or "$ref" in far:
        return None if near and far else near | far
    if far.keys() & _SEE_ALL or any(_mixed(group, near, far) for group in _TOGETHER):
        return None
    result = dict(near)
    for keyword, value in far.items():
        if keyword not in near or same(near[keyword], value):
            result[keyword] = value
        elif keyword not in ANNOTATIONS:
            combine: Callable[[Any, Any], Any] = _BOTH.get(keyword, _neither)
            both = combine(near[keyword], value)
            if both is None:
                return None
            result[keyword] = both
    return result


def _mixed(group: set[str], near: Schema, far: Schema) -> bool:
    one, other = ({key: schema[key] for key in group if key in schema} for schema in (near, far))
    if not one or not other or same(one, other):
        return False
    return not one.keys() == other.keys() == {"properties"}


def same(one: Any, other: Any) -> bool:
    """As JSON values are: 1 is 1.0, but not true."""
    return bool(frozen(one) == frozen(other))


def frozen(value: Any) -> Any:
    """Something hashable that is equal for the same values."""
    match value:
        case bool():
            return (bool, value)
        case dict():
            return frozenset((name, frozen(inner)) for name, inner in value.items())
        case list():
            return tuple(map(frozen, value))
        case _:
            return value


def _neither(near: Any, far: Any) -> None:
    return None


def _all_properties(near: Schema, far: Schema) -> Schema | None:
    result = dict(near)
    for name, value in far.items():
        both = merged(near[name], value) if name in near else value
        if both is None:
            return None
        result[name] = both
    return result


def _common_type(near: Any, far: Any) -> str | list[str] | None:
    words = [word for word in _widened(near) if word in _widened(far)]
    words = [word for word in words if not (word == "integer" and "number" in words)]
    return words[0] if len(words) == 1 else words or None


def _widened(types: Any) -> list[str]:
    """Every integer is a number."""
    words = types if isinstance(types, list) else [types]
    return [*words, *(["integer"] if "number" in words else [])]


def _common_values(near: list[Any], far: list[Any]) -> list[Any] | None:
    others = {frozen(value) for value in far}
    return [value for value in near if frozen(value) in others] or None


def _united(near: list[str], far: list[str]) -> list[str]:
    return list(dict.fromkeys([*near, *far]))


def _appended(near: list[Schema], far: list[Schema]) -> list[Schema]:
    return [*near, *far]


_BOTH: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _common_type,
    "enum": _common_values,
    "properties": _all_properties,
    "required": _united,
    "allOf": _appended,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


# ── apart ──────────────────────────────────────────────────────────────────────────────────────────────────────


def all_disjoint(branches: list[Schema]) -> bool:
    values = [_values(branch) for branch in branches]
    if all(values):
        listed = [value for some in values for value in {frozen(value) for value in some or ()}]
        return len(listed) == len(set(listed))
    if len(branches) > MAX_COMPARED:
        return False
    return all(disjoint(one, other) for index, one in enumerate(branches) for other in branches[:index])


def disjoint(one: Schema, other: Schema) -> bool:
    """Is there nothing that both allow?"""
    types, others = types_of(one), types_of(other)
    if types is None or others is None:
        return False
    if not types & others:
        return True
    values, rest = _values(one), _values(other)
    if values is not None and rest is not None and not _common_values(values, rest):
        return True
    return types == others == {"object"} and (
        any(disjoint(*_both_of(name, one, other)) for name in _required(one) & _required(other))
        or _forbids(one, other)
        or _forbids(other, one)
    )


def types_of(schema: Schema) -> set[str] | None:
    """The types that it allows, `number` standing for both kinds; None where it does not say."""
    if "type" in schema:
        return set(_widened(schema["type"]))
    if (values := _values(schema)) is not None:
        return {word for value in values for word in _widened(_PYTHON_TYPES[type(value)])}
    for union in UNIONS:
        branches = [types_of(branch) for branch in schema.get(union, ())]
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


def _required(schema: Schema) -> set[str]:
    return set(schema.get("required", ()))


def _both_of(name: str, one: Schema, other: Schema) -> tuple[Schema, Schema]:
    return one.get("properties", {}).get(name, {}), other.get("properties", {}).get(name, {})


def _forbids(closed: Schema, other: Schema) -> bool:
    """Does one demand a property that the other has no room for?"""
    known = closed.get("properties", {}).keys()
    return (
        closed.get("additionalProperties") is False
        and "patternProperties" not in closed
        and not _required(other) <= known
    )
