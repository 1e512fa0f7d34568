"""The messages of a WebSocket besides the events of a stream: the client's request, and the proxy's refusal."""

import re
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault, Fault, OwnWords
from proxy.core.masking.redact import quoted
from proxy.core.stored.faults import no_background
from proxy.core.surfaces.errors import error_member
from proxy.core.surfaces.reading.checks import json_name
from proxy.core.surfaces.reading.parsing import parsed

CREATE = "response.create"
STEER = "response.steer"

LANE = re.compile(r"[A-Za-z0-9_.-]{1,256}")
"""The name of a lane. It has no character that JSON would escape."""

NOT_HERE = frozenset({"type", "stream", "stream_options"})
"""Members without meaning on this transport. Some clients send them although the specification forbids it."""


class Unsteered(ClientFault):
    """New words for an answer that is under way. No backend takes them; the client gets them back, to send them in its
    next turn."""

    code: str | None = "steering_not_supported"


def read_create(message: bytes, *, exact: bool = True) -> dict[str, Any]:
    """The body of the request in a message. On this transport every answer is a stream."""
    raw = parsed(message, "The message", "Send one JSON object in each.", exact=exact)
    if not isinstance(raw, dict):
        raise ClientFault(f"A message must be a JSON object, got {json_name(raw)}.", code="invalid_type")
    if (kind := raw.get("type")) == STEER:
        raise Unsteered(
            OwnWords("An answer cannot be steered here: send the input with the next response.create."),
            details={name: raw.get(name) for name in ("previous_response_id", "input")},
        )
    if kind != CREATE:
        got = quoted(kind) if isinstance(kind, str) else json_name(kind)
        raise ClientFault(
            f"Only messages of type {CREATE} are understood here, not {got}.",
            param="type",
            code="unknown_message_type",
        )
    if raw.get("background") is True:
        raise no_background()
    return {name: value for name, value in raw.items() if name not in NOT_HERE} | {"stream": True}


def take_lane(body: dict[str, Any]) -> str | None:
    """Takes the name of its lane out of a request. The request itself does not depend on it."""
    lane = body.pop("stream_id", None)
    if lane is not None and not (isinstance(lane, str) and LANE.fullmatch(lane)):
        got = quoted(lane) if isinstance(lane, str) else json_name(lane)
        raise ClientFault(
            f"stream_id must be 1 to 256 of the letters a to z and A to Z, digits, _, . and -, got {got}.",
            param="stream_id",
            code="invalid_value",
        )
    return lane


def on_lane(message: bytes, lane: str | None) -> bytes:
    """The message with the name of its lane as the last member."""
    return message if lane is None else b'%b,"stream_id":"%b"}' % (message[:-1], lane.encode())


def error_message(fault: Fault, lane: str | None = None) -> bytes:
    """The answer to a request that failed before its stream began, in place of a status. Its code is a string."""
    code = fault.code or fault.type
    error = error_member(fault) | {"type": fault.type, "code": code, "param": fault.param}
    if isinstance(fault, Unsteered):
        failed = {"type": f"{STEER}.failed", "sequence_number": 0, "error": error, "steer": fault.details}
        return on_lane(jsontext.dumps(failed), lane)
    message = {"type": "error", "status": fault.status, "error": error}
    if headers := fault.headers:  # clients look for them here, because this transport has no head
        message["headers"] = headers
    return on_lane(jsontext.dumps(message), lane)
