"""The fields around the messages, on every surface: forms say what a field may hold, and pydantic checks it once.

pydantic's first complaint becomes a 400 in plain words. Unknown fields are ignored: new ones appear every month.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted, shown
from proxy.core.model import FormatKind, OutputFormat
from proxy.core.schemas import traversal, validity
from proxy.core.surfaces.reading.checks import json_name, missing, wrong_type, wrong_value
from proxy.core.work import Work

MODEL = "the name of a model, such as those that GET /v1/models lists"

MAX_DEPTH = 128
"""Levels of a request. orjson reads 1024 but writes 254, and schemas are wrapped in a few more on the way."""

EXPECTED = {
    "string_type": "a string",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "a boolean",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
}
BOUNDS = {
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "finite_number": "must be a finite number",
    "literal_error": "must be {expected}",
    "string_too_long": "may have at most {max_length} characters",
    "too_long": "may have at most {max_length} entries",
    "string_pattern_mismatch": "must match {pattern}",
    "string_unicode": "must be text without halves of surrogate pairs",
}
"""pydantic's complaints in the words of JSON."""
OF_NUMBERS = frozenset({"greater_than_equal", "less_than_equal"})
OF_A_NAME = "[key]"
"""pydantic's last step of a path where the name of a member is wrong, not its value."""


FormatWord = Literal["text", "json_object", "json_schema"]
Verbosity = Literal["low", "medium", "high"]


def _whole(value: Any) -> Any:
    """JSON has one kind of number, and some clients write each with a dot."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]

AtLeastOne = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
"""A whole number. A limit behind the validator would be described in words that are none of JSON Schema's."""

RANGES = {"temperature": (0, 2), "top_p": (0, 1), "top_logprobs": (0, 20)}
"""Fields with a lower and an upper bound, which a complaint names together."""


def _within(field: str) -> Any:
    low, high = RANGES[field]
    return Field(ge=low, le=high)


Temperature = Annotated[float, _within("temperature")]
TopP = Annotated[float, _within("top_p")]
TopLogprobs = Annotated[int, _within("top_logprobs"), BeforeValidator(_whole)]

ModelName = Annotated[str, Field(max_length=1024)]
"""Longer than any real name. It is bounded because tables and log lines keep it (E7)."""


LOOSE = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class Loose(BaseModel):
    model_config = ConfigDict(**LOOSE, frozen=True)


class NamedSchema(Loose):
    """The schema of the answer. Chat has it one level deeper than the Responses API."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")] | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    description: str | None = None
    strict: bool | None = None


class RequestOptions(Loose):
    """An extension of the proxy: what a client may decide about its own request."""

    validate_tool_arguments: bool | None = None


Form = TypeVar("Form")

ANY_TEXT = OutputFormat()
"""The format of an answer that may look like anything."""


def user_id(*names: Any) -> str | None:
    """The end user's id, under the newer or the older name of the field. It is a label, so a wrong type is no reason to
    refuse the request."""
    for name in names:
        if name and isinstance(name, str):
            return name
    return None


CACHE = frozenset({"prompt_cache_key", "prompt_cache_retention"})


def cache_labels(fields: Mapping[str, Any]) -> dict[str, str]:
    """Labels: a wrong type is no reason to refuse the request."""
    if CACHE.isdisjoint(fields):
        return {}
    return {name: label for name in sorted(CACHE) if isinstance(label := fields.get(name), str) and label}


UNREAD = frozenset(
    {
        "chat_template_kwargs",
        "enable_thinking",
        "grammar",
        "guided_choice",
        "guided_grammar",
        "guided_json",
        "guided_regex",
        "min_p",
        "min_tokens",
        "models",
        "plugins",
        "provider",
        "repetition_penalty",
        "structured_outputs",
        "thinking",
        "thinking_budget",
        "top_k",
        "transforms",
    }
)
"""Fields of single servers, such as vLLM or OpenRouter, whose clients expect an effect. They have none here."""


def count_unread(body: Mapping[str, Any], ledger: Ledger) -> None:
    for name in UNREAD.intersection(body):
        if body[name] is not None:
            ledger.drop(name)


def json_object(body: Any, levels: int | None = None) -> dict[str, Any]:
    """`levels`: of lists and objects inside one another there are at most so many, where that is known already."""
    if not isinstance(body, dict):
        raise ClientFault(
            f"The request body must be a JSON object, got {json_name(body)}.", code="invalid_type"
        )
    if (levels is None or levels > MAX_DEPTH) and jsontext.deeper_than(body, MAX_DEPTH):
        field = next(name for name in body if jsontext.deeper_than(body[name], MAX_DEPTH - 1))
        raise wrong_value(shown(field), f"is nested deeper than {MAX_DEPTH} levels: flatten it.")
    return body


def checked(form: TypeAdapter[Form], body: dict[str, Any]) -> Form:
    try:
        # The adapter calls the same; its own options, none of which is used here, cost another fifth.
        valid: Form = form.validator.validate_python(body)
    except ValidationError as error:
        raise _fault(error.errors(include_url=False)[0]) from None
    return valid


def output_format(kind: FormatWord, wish: NamedSchema, param: str, work: Work) -> OutputFormat:
    """The format that a request asks for. `param`: the path of the object with name and schema."""
    wanted = FormatKind(kind)
    if wanted is not FormatKind.JSON_SCHEMA:
        return OutputFormat(wanted)
    if wish.name is None:
        raise missing(f"{param}.name", "a name for the schema")
    if wish.schema_ is None:
        raise missing(f"{param}.schema", "a JSON Schema")
    validity.check_answer(wish.schema_, f"{param}.schema", work)
    return OutputFormat(
        wanted, wish.name, wish.schema_, wish.description, wish.strict, path=f"{param}.schema"
    )


def _fault(error: ErrorDetails) -> ClientFault:
    path = traversal.path_text(tuple(step for step in error["loc"] if step != OF_A_NAME)).removeprefix(".")
    kind = error["type"]
    if kind == "missing":
        return missing(path, "see /openapi.json for what belongs there")
    if kind in EXPECTED:
        return wrong_type(path, EXPECTED[kind], error["input"])
    return wrong_value(path, f"{_bound(path, error)}.")


def _bound(path: str, error: ErrorDetails) -> str:
    kind, got = error["type"], error["input"]
    bound = BOUNDS.get(kind, "is not valid").format(**error.get("ctx", {}))
    if kind in OF_NUMBERS:
        if path in RANGES:
            bound = "must be between {} and {}".format(*RANGES[path])
        return f"{bound}, got {shown(str(got))}"
    return f"{bound}, got {quoted(got)}" if kind == "literal_error" and isinstance(got, str) else bound
