"""Do the arguments of a call fit the schema that the client declared?

The proxy asks the client's own schema, not what was left of it for the backend. It first checks `briefly`, with nothing
in the check that could take long, and most checks end there. The rest need a `verdict`, whose time has no bound: the
caller asks for it in a process that can be ended.
"""

from jsonschema import Draft202012Validator

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED, ArgumentProblem
from proxy.core.caches.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.masking.redact import quoted
from proxy.core.model import ToolSpec
from proxy.core.schemas import conformance, traversal
from proxy.core.schemas.validity import check_schema
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.work import Allowance, TakesLong, UnitBudget, Work

COMPILING = 2
"""The price of each byte of a schema that the validator has not seen."""
WHOLE_CHECK = 2_500_000
"""Units of a check that does not stop anybody else: a quarter of a second and more. Honest calls need some thousand."""
BRIEF_BYTES = 256 * 1024
"""Bytes of arguments. Longer ones take more than a thousandth of a second to be read."""
MAX_NESTING = 64
"""Levels of arguments. The validator takes some ten of Python's 1000 frames for each."""
SHOWN = 200
"""Characters of the validator's message: it quotes what it complains about."""


def is_checked(spec: ToolSpec) -> bool:
    """A tool whose input is free text has no arguments to check."""
    return not BRIDGES[spec.kind].freeform


def briefly(spec: ToolSpec, arguments: str, budget: UnitBudget) -> ArgumentProblem | None:
    """Says what is wrong with the arguments of a call, as the model wrote them. Raises TakesLong, at the latest when
    the budget is spent, if that could take long. The schema was checked when the request was read."""
    if len(arguments) > BRIEF_BYTES:
        raise TakesLong
    data = written(spec)

    def make() -> tuple[Draft202012Validator, int]:
        budget.spend(COMPILING * len(data))
        return conformance.validator_of(jsontext.loads(data)), OBJECTS_PER_BYTE * len(data)

    return _checked(_VALIDATORS.of((data, None), make), arguments, budget, certain=True)


def written(spec: ToolSpec) -> bytes:
    """Returns the schema as `verdict` takes it."""
    return jsontext.dumps(spec.parameters or {})


def verdict(schema: bytes, arguments: str) -> ArgumentProblem | None:
    """Says the same without a bound on its time, in a process that can be ended. ClientFault if that is no schema."""

    def make() -> tuple[Draft202012Validator, int]:
        check_schema(jsontext.loads(schema), "parameters", Work())
        return conformance.validator_of(jsontext.loads(schema)), OBJECTS_PER_BYTE * len(schema)

    try:
        validator = _VALIDATORS.of((schema, None), make)
        return _checked(validator, arguments, Allowance(WHOLE_CHECK), certain=False)
    except TakesLong:
        return UNCHECKED


_VALIDATORS: Remembered[Draft202012Validator] = Remembered()


def _checked(
    validator: Draft202012Validator, arguments: str, budget: UnitBudget, *, certain: bool
) -> ArgumentProblem | None:
    try:
        value = jsontext.strict(arguments.strip() or "{}")
    except ValueError:
        return ArgumentProblem("malformed_tool_arguments", "The arguments are not valid JSON.")
    if not isinstance(value, dict):
        return ArgumentProblem("malformed_tool_arguments", "The arguments are not a JSON object.")
    if jsontext.deeper_than(value, MAX_NESTING):
        return _invalid(f"The arguments are nested deeper than {MAX_NESTING} levels.")
    try:
        error, unread = conformance.first_error(validator, value, budget, certain=certain)
    except (RecursionError, OverflowError):
        return UNCHECKED
    if error is not None:
        return _invalid(error.message[:SHOWN], traversal.path_text(tuple(error.absolute_path)))
    if unread:
        message = f"the pattern {quoted(unread)} cannot be read here, and was not enforced."
        return ArgumentProblem("unread_pattern", message, remark=True)
    return None


def _invalid(message: str, path: str = "") -> ArgumentProblem:
    return ArgumentProblem("invalid_tool_arguments", message, path)
