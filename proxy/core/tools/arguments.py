"""Do the arguments of a call fit the schema that the client declared?

The client's own schema is asked, not what was left of it for the backend. Two kinds of strangers meet here, the
schema of one and the arguments of another, so nothing is fetched, no pattern is run whose time has no bound, and a
check that takes too many steps ends as one that failed. Formats are remarks, as the standard has it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from proxy.core import jsontext
from proxy.core.model import ToolSpec
from proxy.core.tools import reductions, walking
from proxy.core.tools.kinds import BRIDGES
from proxy.core.tools.patterns import priced
from proxy.core.tools.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.tools.schema import check_schema
from proxy.core.tools.unions import frozen
from proxy.core.tools.walking import Path, Schema
from proxy.core.work import Work

MAX_STEPS = 25_000
"""Keywords looked at in one check, at some 2 µs each; honest calls need some dozen."""
REFERENCE_STEPS = 20
"""A reference is looked up anew each time, which takes as long as many other keywords."""
PATTERN_STEPS = 50
"""Steps of a pattern that take the time of one keyword."""
MAX_NESTING = 64
"""Of arguments. The validator takes some ten of Python's 1000 frames for each level."""
SHOWN = 200
"""Characters of the validator's message: it quotes what it complains about."""


@dataclass(frozen=True, slots=True)
class Problem:
    code: str
    message: str
    path: str = ""
    """The way to the value that does not fit, such as `.days[2]`."""


Check = Callable[[str], Problem | None]


def check_of(spec: ToolSpec) -> Check | None:
    """The check of a tool's calls; None where they are free text."""
    return None if BRIDGES[spec.kind].freeform else checker(spec.parameters)


def checker(parameters: Schema | None) -> Check:
    """Tells of the arguments of a call, as the model wrote them, what is wrong. ClientFault if that is no schema."""
    schema = parameters or {}
    check_schema(schema, "parameters", Work())
    data = jsontext.dumps(schema)
    return _CHECKERS.of((data, None), lambda: (_checker(data), OBJECTS_PER_BYTE * len(data)))


_CHECKERS: Remembered[Check] = Remembered()


def _checker(data: bytes) -> Check:
    validator = _BoundedValidator(_answerable(jsontext.loads(data)), registry=Registry())

    def check(arguments: str) -> Problem | None:
        try:
            value = jsontext.strict(arguments.strip() or "{}")
        except ValueError:
            return Problem("malformed_tool_arguments", "The arguments are not valid JSON.")
        if not isinstance(value, dict):
            return Problem("malformed_tool_arguments", "The arguments are not a JSON object.")
        if jsontext.deeper_than(value, MAX_NESTING):
            return _invalid(f"The arguments are nested deeper than {MAX_NESTING} levels.")
        try:
            with _steps:
                error = next(validator.iter_errors(value), None)
        except (_TooMany, RecursionError, OverflowError):  # the last from numbers that no float holds
            return _invalid("The arguments take too long to be checked against their schema.")
        return error and _invalid(error.message[:SHOWN], walking.spelled(tuple(error.absolute_path)))

    return check


def _invalid(message: str, path: str = "") -> Problem:
    return Problem("invalid_tool_arguments", message, path)


# ── what of the schema can be answered ──


def _answerable(schema: Schema) -> Schema:
    """Without references that lead nowhere or out of the schema, and what no bound could be given for."""
    schema = reductions.plain(walking.spelled_out(schema))
    parts = list(walking.subschemas(schema))
    places = {_pointer(path) for path, _ in parts}
    by_name = {
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
            target = by_name.get(here["$ref"], here["$ref"])
            if target in places:
                here["$ref"] = target
            else:
                del here["$ref"]
    return schema


def _pointer(path: Path) -> str:
    return "".join(["#", *(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)])


# ── the validator ──


class _TooMany(Exception):
    """The check has taken more steps than any honest one."""


class _Steps:
    """What is left of one check. The core never waits, so that there is only one check at a time."""

    __slots__ = ("left",)

    def __enter__(self) -> None:
        self.left = MAX_STEPS

    def __exit__(self, *_: object) -> None:
        self.left = 0

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise _TooMany


_steps = _Steps()

Errors = Iterable[ValidationError]
Keyword = Callable[[Any, Any, Any, Schema], Errors | None]


def _counted(keyword: Keyword, steps: int) -> Keyword:
    def counting(validator: Any, value: Any, instance: Any, schema: Schema) -> Errors | None:
        _steps.spend(steps)
        return keyword(validator, value, instance, schema)

    return counting


def _found(pattern: str, text: str) -> bool:
    """What cannot be matched at a bounded price counts as found."""
    price = priced(pattern)
    if price is None:
        return True
    _steps.spend(price.steps(len(text)) // PATTERN_STEPS)
    return price.expression.search(text) is not None


def _pattern(validator: Any, pattern: str, instance: Any, schema: Schema) -> Errors:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Schema, instance: Any, schema: Schema) -> Errors:
    if isinstance(instance, dict):
        for pattern, inner in patterns.items():
            if priced(pattern):
                for name, value in instance.items():
                    if _found(pattern, name):
                        yield from validator.descend(value, inner, path=name, schema_path=pattern)


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
    """In one pass; jsonschema compares each with each."""
    if (
        wanted
        and isinstance(instance, list)
        and len({frozen(item, _steps) for item in instance}) < len(instance)
    ):
        yield ValidationError("the items are not all different")


_OWN: dict[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
_BoundedValidator = extend(
    Draft202012Validator,
    {
        name: _counted(keyword, REFERENCE_STEPS if name == "$ref" else 1)
        for name, keyword in (Draft202012Validator.VALIDATORS | _OWN).items()
    },
)
