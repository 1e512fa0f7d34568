"""A surface as a client meets it: how a question is put, and what a strict reader makes of the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from proxy.core import jsontext
from tests.contract.cases import Ask, Outcome, failed

Json = dict[str, Any]
NO_HEADERS: Mapping[str, str] = {}
Calls = Sequence[tuple[str, str]]
"""Ids and names."""


@dataclass(frozen=True)
class Answer:
    outcome: Outcome
    calls: Calls = ()
    said: Any = None
    """The assistant's turn in the surface's own words, as a client keeps it for the next request; or the error."""
    carried: Mapping[str, str] = field(default_factory=dict)
    """Headers that go into the next request."""
    warnings: Sequence[str] = ()
    """What the proxy remarks beside it."""
    retry_after: int | None = None
    """Seconds that a refused client shall wait."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Those of a refusal, or of a whole answer."""


class Surface(Protocol):
    path: str

    def body(self, ask: Ask, model: str, *, stream: bool) -> Json: ...
    def streamed(self, data: bytes, headers: Mapping[str, str]) -> Answer:
        """AssertionError for whatever a client might stumble over."""

    def whole(self, body: Json, headers: Mapping[str, str]) -> Answer: ...
    def next(self, body: Json, answer: Answer, results: Sequence[tuple[str, str, str]]) -> Json:
        """The request that follows: ids, names and texts of the results are added to what was said."""


def error(status: int, body: Json, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
    """All surfaces refuse in the same form."""
    assert status >= 400
    assert body.keys() == {"error"}
    told = body["error"]
    assert {"message", "type", "param", "code"} <= told.keys()
    assert told["message"]
    retry_after = int(headers.get("Retry-After", 0)) or None
    return Answer(failed(told["code"]), said=told, retry_after=retry_after, headers=headers)


def parsed(arguments: str, *, cut: bool = False) -> Any:
    """The object that they are; of a reply that was cut perhaps only its beginning, as it came."""
    if cut and not jsontext.is_object(arguments):
        return arguments
    value = jsontext.strict(arguments)
    assert isinstance(value, dict)
    return value
