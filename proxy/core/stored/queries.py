"""The query of a request that reads what is kept: its parameters, each once or as a list, in words.

OpenAI's clients write a list as `include[]=a&include[]=b`, others as `include=a&include=b`.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from proxy.core.masking.redact import quoted
from proxy.core.stored.faults import no_encrypted_content
from proxy.core.surfaces.reading.checks import FieldFault, wrong_value

ENCRYPTED: Final = "reasoning.encrypted_content"

INCLUDABLE: Final = frozenset(
    {
        "code_interpreter_call.outputs",
        "computer_call_output.output.image_url",
        "file_search_call.results",
        "message.input_image.image_url",
        "message.output_text.logprobs",
        ENCRYPTED,
        "web_search_call.action.sources",
        "web_search_call.results",
    }
)
"""What the API can include. None of it changes an answer here: what there is of it is always there."""

MAX_DIGITS = 18
"""Digits of a number in a query. A longer one is above every bound."""
BEYOND = 10**MAX_DIGITS

SWITCHES: Final = {"true": True, "false": False}


class Query:
    __slots__ = ("_values",)

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name.removesuffix("[]"), []).append(value)

    def every(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def first(self, name: str) -> str | None:
        return next(iter(self.every(name)), None)

    def switch(self, name: str) -> bool:
        """False where it is not there."""
        raw = self.first(name)
        if raw is None:
            return False
        if raw not in SWITCHES:
            raise wrong_value(name, f"must be true or false, got {quoted(raw)}.")
        return SWITCHES[raw]

    def number(self, name: str) -> int | None:
        """Raises a FieldFault for what is no whole number."""
        raw = self.first(name)
        if raw is None:
            return None
        digits = raw.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise FieldFault(name, f"must be a whole number, got {quoted(raw)}.", "invalid_type")
        size = BEYOND if len(digits) > MAX_DIGITS else int(digits)
        return -size if raw.startswith("-") else size


def included(query: Query) -> frozenset[str]:
    for word in query.every("include"):
        if word not in INCLUDABLE:
            complaint = f"must be of {', '.join(sorted(INCLUDABLE))}, got {quoted(word)}."
            raise wrong_value("include", complaint)
    return frozenset(query.every("include"))


class Retrieval(NamedTuple):
    """How a response is wanted."""

    stream: bool
    after: int
    """The number of the last event that the client has; -1 if it has none."""


def retrieval(query: Query) -> Retrieval:
    if ENCRYPTED in included(query):
        raise no_encrypted_content()
    if not query.switch("stream"):
        return Retrieval(stream=False, after=-1)
    return Retrieval(stream=True, after=_starting_after(query))


def _starting_after(query: Query) -> int:
    name = "starting_after"
    try:
        number = query.number(name)
    except FieldFault:
        number = -1
    if number is None:
        return -1
    if number < 0:
        given = quoted(query.first(name) or "")
        raise wrong_value(name, f"must be the number of an event, 0 or more, got {given}.")
    return number
