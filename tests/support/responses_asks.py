"""Small requests for the tests of this room, and what becomes of them."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Part, Request, Result, ToolKind, ToolName, Turn
from proxy.core.surfaces.reading.history import OrphanOutputs
from proxy.core.surfaces.responses.decode import decode

OBJECT = {"type": "object", "properties": {}}
WEATHER = {"type": "function", "name": "weather", "parameters": OBJECT}
CLOCK = {"type": "function", "name": "clock"}
SEARCH = {"type": "web_search"}


class Notes:
    """A log that remembers."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def debug(self, event: str, **fields: Any) -> None:
        self.lines.append(("debug", event, fields))

    def info(self, event: str, **fields: Any) -> None:
        self.lines.append(("info", event, fields))


def ask(ledger: Ledger | None = None, orphan_outputs: OrphanOutputs = "refuse", **fields: Any) -> Request:
    return decode({"model": "m", "input": "Hi"} | fields, ledger or Ledger(), orphan_outputs)


def turns(*items: Any, ledger: Ledger | None = None, orphan_outputs: OrphanOutputs = "refuse") -> list[Turn]:
    return ask(ledger, orphan_outputs, input=list(items)).turns


def refused(**fields: Any) -> ClientFault:
    with pytest.raises(ClientFault) as caught:
        ask(**fields)
    return caught.value


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def call(call_id: str, name: str = "weather", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments} | more


def output(call_id: str, value: Any = "sunny") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


def called(call_id: str, name: str = "weather", arguments: str = "{}") -> Call:
    return Call(call_id, ToolName(name), ToolKind.FUNCTION, arguments)


def result(call_id: str, text: str = "sunny") -> Result:
    return Result(call_id, [text])


def spoken(*said: Turn) -> list[tuple[str, list[Part]]]:
    return [(role.value, parts) for role, parts in said]
