"""Small requests of the Chat Completions surface and its stricter sibling, and what becomes of them."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Turn
from proxy.core.surfaces.chat import decode
from proxy.core.surfaces.chat.decode import ChatRequest
from proxy.core.surfaces.memory.call_ids import CallMaps
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.native import decode as native_decode
from proxy.core.surfaces.native.decode import NativeRequest

HI = {"role": "user", "content": "Hi"}
OBJECT = {"type": "object", "properties": {}}
SIGNER = TokenSigner("a secret")


def tool(name: str = "weather", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": OBJECT} | more}


def native_tool(name: str = "weather", **more: Any) -> dict[str, Any]:
    return tool(name, **{"description": "Tells it."} | more)


def called(call_id: str = "a", name: str = "weather", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}} | more


def assistant(*calls: Any, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content} | ({"tool_calls": list(calls)} if calls else {}) | more


def returned(call_id: str = "a", content: Any = "sunny", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content} | more


def chat(ledger: Ledger | None = None, **fields: Any) -> ChatRequest:
    return decode.decode({"model": "m", "messages": [HI]} | fields, ledger or Ledger())


def turns(*messages: Any, ledger: Ledger | None = None) -> list[Turn]:
    return chat(ledger, messages=list(messages)).request.turns


def refused(**fields: Any) -> ClientFault:
    with pytest.raises(ClientFault) as caught:
        chat(**fields)
    assert caught.value.status == 400
    return caught.value


def native(
    headers: dict[str, str] | None = None, maps: CallMaps | None = None, tenant: str = "", **fields: Any
) -> NativeRequest:
    body = {"model": "m", "messages": [HI]} | fields
    return native_decode.decode(body, headers or {}, Ledger(), maps or CallMaps(SIGNER), tenant)


def native_refused(
    headers: dict[str, str] | None = None, maps: CallMaps | None = None, **fields: Any
) -> ClientFault:
    with pytest.raises(ClientFault) as caught:
        native(headers, maps, **fields)
    assert caught.value.status == 400
    return caught.value
