"""Does a value conform to a schema? A validator that counts its steps and fetches nothing.

Strangers wrote the schema and the value, and some of them may know how to make a count wrong: a pattern that goes back
and tries again stops the whole process, whatever price the proxy has put on it. So the caller says how much a check may
cost, and whether it must be `certain`: such a check raises TakesLong before it begins anything whose time has no bound.

jsonschema does the work. Keywords in which it compares all pairs, or matches patterns without a bound, have an
implementation of their own here. As in the standard, formats are remarks.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from proxy.core.schemas import loosening, traversal
from proxy.core.schemas.patterns import compiled, priced
from proxy.core.schemas.traversal import Path, Schema
from proxy.core.schemas.unions import frozen
from proxy.core.work import TakesLong, UnitBudget

STEP = 20
"""The price of one keyword, and of each thing that it loops over: some 2 µs."""
REFERENCE = 20 * STEP
"""The validator looks up a reference anew each time, which takes as long as many other keywords."""
COMPILING = 2
"""The price of each character of a pattern."""
MATCHED_PER_UNIT = 2
"""Steps of a pattern that cost one unit."""
QUOTED_PER_UNIT = 4
"""Characters of a message that cost one unit: the validator quotes what it complains about, however large."""


def validator_of(schema: Schema) -> Draft202012Validator:
    return _CountingValidator(_answerable(schema), registry=Registry())


def first_error(
    validator: Draft202012Validator, value: Any, budget: UnitBudget, *, certain: bool
) -> tuple[ValidationError | None, str]:
    """Returns what the validator finds wrong, and the first pattern that had to be matched and that Python cannot read.

    Raises what the budget raises; also RecursionError, and OverflowError for numbers that no float holds.
    """
    _check.budget, _check.certain, _check.unread, _check.root = budget, certain, "", validator.schema
    return next(validator.iter_errors(value), None), _check.unread


# ── what of the schema can be answered ──


def _answerable(schema: Schema) -> Schema:
    """Drops references that lead nowhere or out of the schema, and keywords whose cost has no bound."""
    schema = loosening.plain(traversal.spelled_out(schema))
    parts = list(traversal.subschemas(schema))
    pointers = {unquote(_pointer(path)): _pointer(path) for path, _ in parts}
    pointers |= {
        f"#{here[anchor]}": _pointer(path)
        for path, here in parts
        for anchor in ("$anchor", "$dynamicAnchor")
        if anchor in here
    }
    matching = any("patternProperties" in here for _, here in parts)
    for _, here in parts:
        here.pop("$dynamicRef", None)
        if matching:  # the validator would match the names once more, and not with our care
            here.pop("unevaluatedProperties", None)
        if "$ref" in here:
            target = pointers.get(unquote(here["$ref"]))
            if target is None:
                del here["$ref"]
            else:
                here["$ref"] = target
    return schema


def _pointer(path: Path) -> str:
    """Writes the path as a reference does: the validator decodes it before it looks for the names."""
    pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)
    return "#" + pointer.replace("%", "%25")


# ── the validator ──


class _Check:
    """The check under way. The core never waits, so there is only one at a time."""

    __slots__ = ("budget", "certain", "root", "unread")

    budget: UnitBudget
    root: Schema
    unread: str
    certain: bool

    def spend(self, units: int) -> None:
        self.budget.spend(units)


_check = _Check()

Errors = Iterable[ValidationError]
Keyword = Callable[[Any, Any, Any, Schema], Errors | None]


def _counted(name: str, keyword: Keyword) -> Keyword:
    price, loops = REFERENCE if name == "$ref" else STEP, _LOOPS.get(name, _over_nothing)

    def counting(validator: Any, value: Any, instance: Any, schema: Schema) -> Errors:
        _check.spend(price + STEP * loops(value, instance))
        for error in keyword(validator, value, instance, schema) or ():
            _check.spend(len(error.message) // QUOTED_PER_UNIT)
            yield error

    return counting


def _over_nothing(value: Any, instance: Any) -> int:
    return 0


def _over_items(value: Any, instance: Any) -> int:
    return len(instance) if isinstance(instance, list) else 0


def _over_names(value: Any, instance: Any) -> int:
    return len(instance) if isinstance(instance, dict) else 0


def _over_its_own(value: Any, instance: Any) -> int:
    return len(value)


def _over_lists(value: Any, instance: Any) -> int:
    return len(value) + sum(map(len, value.values()))


_LOOPS: dict[str, Callable[[Any, Any], int]] = {
    **dict.fromkeys(("items", "contains"), _over_items),
    **dict.fromkeys(("propertyNames", "additionalProperties"), _over_names),
    **dict.fromkeys(("properties", "required", "prefixItems", "dependentSchemas"), _over_its_own),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _over_its_own),
    "dependentRequired": _over_lists,
}
"""What a keyword loops over, besides the keywords inside it, which are counted by themselves."""


def _found(pattern: str, text: str) -> bool:
    """A pattern that Python cannot read counts as found."""
    if not _check.certain:
        expression = _read(pattern)
        return expression is None or expression.search(text) is not None
    _check.spend(STEP)
    price = None if "(" in pattern else priced(pattern)  # of what has no brackets, the price is beyond doubt
    if price is None:
        raise TakesLong
    _check.spend(COMPILING * len(price.expression.pattern) + price.steps(len(text)) // MATCHED_PER_UNIT)
    return price.expression.search(text) is not None


def _read(pattern: str) -> re.Pattern[str] | None:
    expression = compiled(pattern)
    if expression is None:
        _check.unread = _check.unread or pattern
    return expression


def _pattern(validator: Any, pattern: str, instance: Any, schema: Schema) -> Errors:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Schema, instance: Any, schema: Schema) -> Errors:
    if isinstance(instance, dict):
        for pattern, inner in patterns.items():
            if _is_readable(pattern):
                for name, value in instance.items():
                    if _found(pattern, name):
                        yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _is_readable(pattern: str) -> bool:
    """A pattern that cannot be read counts as found, but says nothing of the value that it found."""
    return _check.certain or _read(pattern) is not None


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Schema) -> Errors:
    if isinstance(instance, dict):
        for name in _additional(instance, schema):
            if allowed is False:
                yield ValidationError(f"{name!r} is not a property that the schema allows")
            else:
                yield from validator.descend(instance[name], allowed, path=name)


def _additional(instance: dict[str, Any], schema: Schema) -> Iterator[str]:
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name in instance:
        if name not in known and not any(_found(pattern, name) for pattern in patterns):
            yield name


def _unique_items(validator: Any, wanted: bool, instance: Any, schema: Schema) -> Errors:
    """Compares in one pass; jsonschema compares each with each."""
    if (
        wanted
        and isinstance(instance, list)
        and len({frozen(item, _check) for item in instance}) < len(instance)
    ):
        yield ValidationError("the items are not all different")


def _enum(validator: Any, listed: list[Any], instance: Any, schema: Schema) -> Errors:
    """Counts whatever is compared, with all that is inside it."""
    looked_for = frozen(instance, _check)
    if not any(frozen(each, _check) == looked_for for each in listed):
        yield ValidationError(f"{instance!r} is not one of {listed!r}")


def _const(validator: Any, only: Any, instance: Any, schema: Schema) -> Errors:
    if frozen(instance, _check) != frozen(only, _check):
        yield ValidationError(f"{only!r} was expected")


def _unevaluated_items(validator: Any, wanted: Any, instance: Any, schema: Schema) -> Errors:
    if isinstance(instance, list):
        _check.spend(STEP * (1 + len(instance)) * _parts(schema))
        if len(_evaluated(validator, instance, schema)) < len(instance):
            yield ValidationError("there are more items than the schema allows")


def _evaluated(validator: Any, instance: list[Any], schema: Schema) -> set[int]:
    """Returns the indexes of the items that some keyword of the schema looks at, `unevaluatedItems` itself included."""
    if "items" in schema:
        return {*range(len(instance))}
    found = {*range(min(len(schema.get("prefixItems", ())), len(instance)))}
    for keyword in ("contains", "unevaluatedItems"):
        if keyword in schema:
            one = validator.evolve(schema=schema[keyword])
            found |= {index for index, item in enumerate(instance) if one.is_valid(item)}
    for inner in _applied(validator, instance, schema):
        found |= _evaluated(validator, instance, inner)
    return found


def _applied(validator: Any, instance: Any, schema: Schema) -> Iterator[Schema]:
    """Yields the schemas inside this one that hold for the instance as a whole."""
    if "$ref" in schema:
        yield traversal.target_of(_check.root, schema["$ref"]) or {}
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        yield from (
            schema[keyword] for keyword in (("if", "then") if holds else ("else",)) if keyword in schema
        )
    for union in traversal.COMBINATORS:
        yield from (
            each for each in schema.get(union, ()) if validator.evolve(schema=each).is_valid(instance)
        )


def _unevaluated_properties(validator: Any, wanted: Any, instance: Any, schema: Schema) -> Errors:
    """jsonschema looks for each name in a list of all that were evaluated, so the price grows by the square."""
    if isinstance(instance, dict):
        _check.spend((STEP + len(instance)) * (1 + len(instance)) * _parts(schema))
    yield from Draft202012Validator.VALIDATORS["unevaluatedProperties"](validator, wanted, instance, schema)


def _parts(schema: Schema) -> int:
    return sum(1 for _ in traversal.subschemas(schema))


_OWN: dict[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
    "enum": _enum,
    "const": _const,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
}
_CountingValidator = extend(
    Draft202012Validator,
    {name: _counted(name, keyword) for name, keyword in (Draft202012Validator.VALIDATORS | _OWN).items()},
)
