"""Short words for what the tests of this room ask: turns in, one backend's body out, read by the strict server."""

from dataclasses import replace
from typing import Any, Self

from proxy.core import jsontext
from proxy.core.dialects.chat.encode import encode
from proxy.core.errors import Fault
from proxy.core.events import Decoder, Delta, ErrorDelta
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Extras, Part, Request, Result, Role, Text, ToolKind, ToolName, Turn
from proxy.core.profile import DEFAULT, BackendProfile
from proxy.core.tools.prepare import prepare
from tests.support.strict_server import refuse
from tests.support.written import as_sent


def system(text: str) -> Turn:
    return (Role.SYSTEM, [text])


def developer(text: str) -> Turn:
    return (Role.DEVELOPER, [text])


def user(*parts: Part) -> Turn:
    return (Role.USER, list(parts))


def assistant(*parts: Part) -> Turn:
    return (Role.ASSISTANT, [Text(part) if isinstance(part, str) else part for part in parts])


def tool(*results: Part) -> Turn:
    return (Role.TOOL, list(results))


def call(
    call_id: str = "c1", name: str = "f", arguments: str = "{}", kind: ToolKind = ToolKind.FUNCTION
) -> Call:
    return Call(call_id, ToolName(name), kind, arguments)


def result(call_id: str = "c1", *content: Any) -> Result:
    return Result(call_id, list(content))


def profile(**changes: Any) -> BackendProfile:
    return replace(DEFAULT, **changes)


def body_of(
    *turns: Turn,
    on: BackendProfile = DEFAULT,
    ledger: Ledger | None = None,
    **request: Any,
) -> dict[str, Any]:
    """As it is sent."""
    ledger = ledger or Ledger()
    asked = Request("m", list(turns) or [user("Hi")], **request)
    body = as_sent(encode(asked, prepare(asked, on, ledger), on, "m", ledger))
    refuse(body, on)
    return body


def messages_of(
    *turns: Turn, on: BackendProfile = DEFAULT, ledger: Ledger | None = None
) -> list[dict[str, Any]]:
    messages = body_of(*turns, on=on, ledger=ledger)["messages"]
    assert isinstance(messages, list)
    return messages


class Decoded:
    """A decoder, which each dialect makes, with its deltas, what it wants kept, and its ledger."""

    decoder: Decoder

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.deltas: list[Delta] = []
        self.kept: list[Extras] = []
        self.ledger = ledger or Ledger()

    def say(self, *chunks: Any, event: bytes = b"") -> Self:
        """Each chunk as an event of its own: an object, or the payload as it is."""
        for chunk in chunks:
            self.decoder.event(chunk if isinstance(chunk, bytes) else jsontext.dumps(chunk), event)
        return self

    def body(self, body: Any) -> Self:
        self.decoder.body(body if isinstance(body, bytes) else jsontext.dumps(body))
        return self

    @property
    def odd(self) -> dict[str, int]:
        return dict(self.ledger.oddities)

    @property
    def fault(self) -> Fault:
        """The one fault that was told last."""
        assert isinstance(self.deltas[-1], ErrorDelta)
        return self.deltas[-1].fault


def nested(levels: int) -> list[Any]:
    """Lists in one another."""
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value
