"""Has an answer the form that the client asked for? Asked where the backend was only told of it in words.

The check is brief, as that of most calls' arguments is: what could take long stays unchecked, and that is told.
"""

from jsonschema import Draft202012Validator

from proxy.core import jsontext
from proxy.core.caches.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.masking.redact import quotable
from proxy.core.model import FormatKind, OutputFormat
from proxy.core.schemas import conformance, traversal
from proxy.core.tools.arguments import BRIEF_BYTES, COMPILING, MAX_NESTING
from proxy.core.work import BRIEF_UNITS, Allowance, TakesLong

SHOWN = 130
"""Characters of the validator's message: it quotes what it complains about."""

NOT_JSON = "it is not one JSON object and nothing else"
UNCHECKED = "it takes too long to hold it against the schema"


def problem_of(wanted: OutputFormat, answer: str) -> str | None:
    """Says what is wrong with an answer, in half a sentence."""
    if len(answer) > BRIEF_BYTES:
        return UNCHECKED
    try:
        value = jsontext.strict(answer)
    except ValueError:
        return NOT_JSON
    if wanted.kind is not FormatKind.JSON_SCHEMA:
        return None if isinstance(value, dict) else NOT_JSON
    if jsontext.deeper_than(value, MAX_NESTING):
        return UNCHECKED
    try:
        budget = Allowance(BRIEF_UNITS)
        error, _ = conformance.first_error(_validator(wanted, budget), value, budget, certain=True)
    except (TakesLong, RecursionError, OverflowError):
        return UNCHECKED
    if error is None:
        return None
    path = traversal.path_text(tuple(error.absolute_path))
    return quotable(f"{path}: {error.message}" if path else error.message, SHOWN)


def _validator(wanted: OutputFormat, budget: Allowance) -> Draft202012Validator:
    data = jsontext.dumps(wanted.schema or {})

    def make() -> tuple[Draft202012Validator, int]:
        budget.spend(COMPILING * len(data))
        return conformance.validator_of(jsontext.loads(data)), OBJECTS_PER_BYTE * len(data)

    return _VALIDATORS.of((data, None), make)


_VALIDATORS: Remembered[Draft202012Validator] = Remembered()
"""By the bytes of their schemas."""
