"""Every field that a surface's model knows, with a value that it cannot have: made from the models themselves."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from proxy.core.inbound.chat_envelope import ChatEnvelope
from proxy.core.inbound.native_decode import NativeEnvelope
from proxy.core.inbound.responses_envelope import Envelope
from tests.refusals.cases import Case, chat, native, responses

WRONG: tuple[Any, ...] = (True, 0.5)
"""Nothing takes both of them but what takes anything, and is left to its own reader."""


def _of(model: type[BaseModel], asking: Callable[..., Case]) -> Iterator[Case]:
    for name, field in model.model_fields.items():
        said = field.alias or name
        codes = {code: value for value in WRONG if (code := _complaint(model, {said: value}))}
        for code, value in codes.items():
            yield asking("must be ", said, code, **{said: value})


def _complaint(model: type[BaseModel], body: dict[str, Any]) -> str | None:
    """Its code: a choice of words is no type."""
    try:
        model.model_validate(body)
    except ValidationError as error:
        return "invalid_value" if error.errors()[0]["type"] == "literal_error" else "invalid_type"
    return None


CASES = (*_of(Envelope, responses), *_of(ChatEnvelope, chat), *_of(NativeEnvelope, native))
