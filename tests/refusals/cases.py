"""One request that is refused, and what its client must be told: a status, a code, the field, and the way out.

The way out is said in the case's own words, as the message must have them: a message that only complains fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.scripted.say import Say

Json = dict[str, Any]

INVALID = "invalid_request_error"
Kind = Literal["http", "raw", "socket"]
PREVIOUS = "the previous response"
"""Stands in a socket's message for the id of the last answer."""


@dataclass(frozen=True, eq=False)
class Case:
    says: str
    """In the message, besides the field: what to send instead, what to change, where to look. Or all of the message,
    word for word: clients compare it with OpenAI's, which need not name the field."""
    param: str | None
    code: str | None
    status: int = 400
    type: str = INVALID
    path: str = "/v1/responses"
    body: Any = None
    """Bytes go as they are, all else as JSON."""
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    world: str = "plain"
    kind: Kind = "http"
    """`raw`: the body is all that is written on the connection. `socket`: it is a list of messages."""
    backend: tuple[Say, ...] = ()
    """What the backend says, where it must be asked: nothing is sent in vain."""
    times: int = 1
    """How often it is asked; the last answer counts."""
    tells: Mapping[str, str] = field(default_factory=dict)
    """Headers of the answer that help."""
    features: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.world} {self.path} {self.status} {self.param} {self.says[:40]}"


def responses(says: str, param: str | None, code: str | None = "invalid_value", **more: Any) -> Case:
    """Of a request to the Responses surface that is right but for these fields."""
    return _asking("/v1/responses", {"model": "m", "input": "Hi"}, says, param, code, more)


def chat(says: str, param: str | None, code: str | None = "invalid_value", **more: Any) -> Case:
    return _asking("/v1/chat/completions", {"model": "m", "messages": [HI]}, says, param, code, more)


def native(says: str, param: str | None, code: str | None = "invalid_value", **more: Any) -> Case:
    return _asking("/native/v1/chat/completions", {"model": "m", "messages": [HI]}, says, param, code, more)


HI = {"role": "user", "content": "Hi"}
OF_THE_CASE = {"status", "type", "headers", "world", "backend", "times", "tells", "features"}


def _asking(path: str, right: Json, says: str, param: str | None, code: str | None, more: Json) -> Case:
    own = {name: value for name, value in more.items() if name in OF_THE_CASE}
    fields = {name: value for name, value in more.items() if name not in OF_THE_CASE}
    return Case(says, param, code, path=path, body=right | fields, **own)
