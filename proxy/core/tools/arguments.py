"""Do the arguments of a call fit the schema that the client declared?

The client's own schema is asked, not what was left of it for the backend. Two kinds of strangers meet here, the
schema of one and the arguments of another, and no count is safe from both: a pattern that goes back and tries again
holds the whole process, whatever was thought to be its price. So a check is made `briefly` first, with nothing in it
that could take long; most end there. For the rest there is `verdict`, to be asked in a process that can be ended.

Nothing is fetched. Formats are remarks, as the standard has it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema._utils import find_evaluated_item_indexes_by_schema
from jsonschema.validators import extend
from referencing import Registry

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED, ArgumentProblem
from proxy.core.caches.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.masking.redact import quoted
from proxy.core.model import ToolSpec
from proxy.core.schemas import loosening, traversal
from proxy.core.schemas.patterns import compiled, priced
from proxy.core.schemas.traversal import Path, Schema
from proxy.core.schemas.unions import frozen
from proxy.core.schemas.validity import check_schema
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.work import Allowance, Dear, Purse, Work

STEP = 20
"""What one keyword costs, and each thing that it loops over: some 2 µs."""
REFERENCE = 20 * STEP
"""A reference is looked up anew each time, which takes as long as many other keywords."""
COMPILING = 2
"""For each character of a pattern. The schema itself takes as much for each of its bytes."""
MATCHED_PER_UNIT = 2
"""Steps of a pattern."""
QUOTED_PER_UNIT = 4
"""Characters of a message: it quotes what it complains about, however large."""
WHOLE_CHECK = 2_500_000
"""Units of a check that does not stop anybody else: a quarter of a second and more. Honest calls need some thousand."""
BRIEF_BYTES = 256 * 1024
"""Of arguments. Longer ones take more than a thousandth of a second to be read."""
MAX_NESTING = 64
"""Of arguments. The validator takes some ten of Python's 1000 frames for each level."""
SHOWN = 200
"""Characters of the validator's message: it quotes what it complains about."""


def is_checked(spec: ToolSpec) -> bool:
    """Not where the input of a tool is free text."""
    return not BRIDGES[spec.kind].freeform


def briefly(spec: ToolSpec, arguments: str, purse: Purse) -> ArgumentProblem | None:
    """What is wrong with the arguments of a call, as the model wrote them. Raises Dear, at the latest when the purse is
    empty, if that could take long. The schema was checked when the request was read."""
    if len(arguments) > BRIEF_BYTES:
        raise Dear
    data = written(spec)

    def make() -> tuple[Draft202012Validator, int]:
        purse.spend(COMPILING * len(data))
        return _validator(data), OBJECTS_PER_BYTE * len(data)

    return _checked(_VALIDATORS.of((data, None), make), arguments, purse, certain=True)


def written(spec: ToolSpec) -> bytes:
    """The schema, as `verdict` takes it."""
    return jsontext.dumps(spec.parameters or {})


def verdict(schema: bytes, arguments: str) -> ArgumentProblem | None:
    """The same, but it takes as long as it takes: for a process that can be ended. ClientFault if that is no schema."""

    def make() -> tuple[Draft202012Validator, int]:
        check_schema(jsontext.loads(schema), "parameters", Work())
        return _validator(schema), OBJECTS_PER_BYTE * len(schema)

    try:
        validator = _VALIDATORS.of((schema, None), make)
        return _checked(validator, arguments, Allowance(WHOLE_CHECK), certain=False)
    except Dear:
        return UNCHECKED


_VALIDATORS: Remembered[Draft202012Validator] = Remembered()


def _validator(data: bytes) -> Draft202012Validator:
    return _CountingValidator(_answerable(jsontext.loads(data)), registry=Registry())


def _checked(
    validator: Draft202012Validator, arguments: str, purse: Purse, *, certain: bool
) -> ArgumentProblem | None:
    try:
        value = jsontext.strict(arguments.strip() or "{}")
    except ValueError:
        return ArgumentProblem("malformed_tool_arguments", "The arguments are not valid JSON.")
    if not isinstance(value, dict):
        return ArgumentProblem("malformed_tool_arguments", "The arguments are not a JSON object.")
    if jsontext.deeper_than(value, MAX_NESTING):
        return _invalid(f"The arguments are nested deeper than {MAX_NESTING} levels.")
    _check.purse, _check.certain, _check.unread = purse, certain, ""
    try:
        error = next(validator.iter_errors(value), None)
    except (RecursionError, OverflowError):  # the last from numbers that no float holds
        return UNCHECKED
    if error is not None:
        return _invalid(error.message[:SHOWN], traversal.path_text(tuple(error.absolute_path)))
    if _check.unread:
        unread = f"the pattern {quoted(_check.unread)} cannot be read here, and was not enforced."
        return ArgumentProblem("unread_pattern", unread, remark=True)
    return None


def _invalid(message: str, path: str = "") -> ArgumentProblem:
    return ArgumentProblem("invalid_tool_arguments", message, path)


# ── what of the schema can be answered ──


def _answerable(schema: Schema) -> Schema:
    """Without references that lead nowhere or out of the schema, and what no bound could be given for."""
    schema = loosening.plain(traversal.spelled_out(schema))
    parts = list(traversal.subschemas(schema))
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


class _Check:
    """The one that is under way. The core never waits, so that there is only one at a time."""

    __slots__ = ("certain", "purse", "unread")

    purse: Purse
    unread: str
    """A pattern that would have had to be matched, and says nothing to Python."""
    certain: bool
    """Is nothing to be done but what takes as long as was thought, beyond doubt?"""

    def spend(self, units: int) -> None:
        self.purse.spend(units)


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
"""What a keyword loops over, besides the keywords inside it, which count by themselves."""


def _found(pattern: str, text: str) -> bool:
    """What Python cannot read counts as found."""
    if not _check.certain:
        expression = _read(pattern)
        return expression is None or expression.search(text) is not None
    _check.spend(STEP)
    price = None if "(" in pattern else priced(pattern)  # of what has no brackets, the price is beyond doubt
    if price is None:
        raise Dear
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
    """What cannot be read counts as found, but says nothing of what was."""
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
    """In one pass; jsonschema compares each with each."""
    if (
        wanted
        and isinstance(instance, list)
        and len({frozen(item, _check) for item in instance}) < len(instance)
    ):
        yield ValidationError("the items are not all different")


def _enum(validator: Any, listed: list[Any], instance: Any, schema: Schema) -> Errors:
    """Whatever is compared is counted with all that is inside it."""
    looked_for = frozen(instance, _check)
    if not any(frozen(each, _check) == looked_for for each in listed):
        yield ValidationError(f"{instance!r} is not one of {listed!r}")


def _const(validator: Any, only: Any, instance: Any, schema: Schema) -> Errors:
    if frozen(instance, _check) != frozen(only, _check):
        yield ValidationError(f"{only!r} was expected")


def _unevaluated_items(validator: Any, wanted: Any, instance: Any, schema: Schema) -> Errors:
    """jsonschema looks for each item in a list of all that were evaluated, and lists them once for each schema."""
    if isinstance(instance, list):
        _check.spend(STEP * (1 + len(instance)) * _parts(schema))
        evaluated = set(find_evaluated_item_indexes_by_schema(validator, instance, schema))
        if len(evaluated & set(range(len(instance)))) < len(instance):
            yield ValidationError("there are more items than the schema allows")


def _unevaluated_properties(validator: Any, wanted: Any, instance: Any, schema: Schema) -> Errors:
    """In such a list, too, so the price grows by the square."""
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
