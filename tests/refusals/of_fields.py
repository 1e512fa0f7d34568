"""Every field that a surface's form knows, with a value that it cannot have: made from the forms themselves."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from proxy.core.surfaces.chat.envelope import CHAT
from proxy.core.surfaces.native.decode import NATIVE
from proxy.core.surfaces.responses.envelope import ENVELOPE
from tests.refusals.cases import Case, chat, native, responses

WRONG: tuple[Any, ...] = (True, 0.5)
"""Nothing takes both of them but what takes anything, and is left to its own reader."""


def _of(form: TypeAdapter[Any], asking: Callable[..., Case]) -> Iterator[Case]:
    for said in form.json_schema()["properties"]:
        codes = {code: value for value in WRONG if (code := _complaint(form, {said: value}))}
        for code, value in codes.items():
            yield asking("must be ", said, code, **{said: value})


def _complaint(form: TypeAdapter[Any], body: dict[str, Any]) -> str | None:
    """Its code: a choice of words is no type."""
    try:
        form.validate_python(body)
    except ValidationError as error:
        return "invalid_value" if error.errors()[0]["type"] == "literal_error" else "invalid_type"
    return None


CASES = (*_of(ENVELOPE, responses), *_of(CHAT, chat), *_of(NATIVE, native))
