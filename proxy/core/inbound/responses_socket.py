"""What is said on a WebSocket besides the events of a stream: the client's one message, and ours when it is refused."""

from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault, Fault
from proxy.core.inbound.checks import json_name
from proxy.core.inbound.responses_object import error_member
from proxy.core.redact import shown

CREATE = "response.create"

NOT_HERE = frozenset({"type", "stream", "stream_options", "background"})
"""Members without meaning on this transport. Some clients send them although the specification forbids it."""


def read_create(message: bytes) -> dict[str, Any]:
    """The body of the request that a message stands for; here every answer is streamed."""
    try:
        said = jsontext.loads(message)
    except jsontext.BadJson as error:
        raise ClientFault(
            f"The message is not valid JSON: {error}. Send one JSON object in each.", code="invalid_json"
        ) from None
    if not isinstance(said, dict):
        raise ClientFault(f"A message must be a JSON object, got {json_name(said)}.", code="invalid_type")
    if (kind := said.get("type")) != CREATE:
        told = shown(kind) if isinstance(kind, str) else json_name(kind)
        raise ClientFault(
            f"Only messages of type {CREATE} are understood here, not {told}.",
            param="type",
            code="unknown_message_type",
        )
    return {name: value for name, value in said.items() if name not in NOT_HERE} | {"stream": True}


def error_message(fault: Fault) -> bytes:
    """In place of a status: what a request comes to of which nothing was streamed. The code is always a string."""
    code = fault.code or fault.type
    error = error_member(fault) | {"type": fault.type, "code": code, "param": fault.param}
    message = {"type": "error", "status": fault.status, "error": error}
    if headers := fault.headers:  # there is no head on this transport, so clients look for them here
        message["headers"] = headers
    return jsontext.dumps(message)
