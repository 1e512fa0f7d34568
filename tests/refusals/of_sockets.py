"""What a message on a WebSocket is refused for, besides all that is wrong in a request."""

from typing import Any

from tests.refusals.cases import HI, PREVIOUS, Case
from tests.scripted.say import Say

CREATE = {"type": "response.create", "model": "m"}


def _socket(says: str, param: str | None, code: str | None, *messages: Any, **more: Any) -> Case:
    return Case(says, param, code, kind="socket", body=messages, **more)


def _continued(says: str, param: str, code: str | None, input: Any) -> Case:
    """A second request, wrong by itself."""
    first, second = CREATE | {"input": "Hi"}, CREATE | {"previous_response_id": PREVIOUS, "input": input}
    return _socket(says, param, code, first, second, backend=(Say(text="Hello"),))


CASES = (
    _socket("send the JSON as text", None, "invalid_message", b"{}"),
    _socket("Send one JSON object in each", None, "invalid_json", "{"),
    _socket("lists, objects and names: send fewer", None, "too_many_values", "[" + "[]," * 500_001 + "0]"),
    _socket("must be a JSON object", None, "invalid_type", []),
    _socket("Only messages of type response.create are understood", "type", "unknown_message_type", {}),
    _socket("send the input with the next response.create", None, "steering_not_supported", {"type": "response.steer"}),
    _socket("stream_id must be 1 to 256 of the letters", "stream_id", "invalid_value", CREATE | {"stream_id": ""}),
    _socket(
        "leave previous_response_id out and send the whole history as input",
        "previous_response_id",
        "previous_response_not_found",
        CREATE | {"input": "Hi", "previous_response_id": "resp_1"},
        world="keeping nothing",
    ),
    _continued("must be a string or an array of items", "input", "invalid_type", 5),
    _continued("must be a string", "input[1].role", "invalid_type", [HI, {"role": 5}]),
    _continued("No tool call found for function call output with call_id c.", "input", "invalid_request_error",
               [{"type": "function_call_output", "call_id": "c", "output": ""}]),
    _socket("Open a new one to go on", None, "websocket_connection_limit_reached", world="brief"),
)  # fmt: skip
