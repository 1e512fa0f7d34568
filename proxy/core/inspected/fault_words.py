"""In words: what each code of a fault means, and what to do about it. A test compares it with the codes there are."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Side(StrEnum):
    """Who must act."""

    CLIENT = "client"
    BACKEND = "backend"
    PROXY = "proxy"


class FaultWords(NamedTuple):
    side: Side
    what: str
    advice: str


def _client(what: str, advice: str = "The client must send another request.") -> FaultWords:
    return FaultWords(Side.CLIENT, what, advice)


def _backend(what: str, advice: str) -> FaultWords:
    return FaultWords(Side.BACKEND, what, advice)


def _proxy(what: str, advice: str) -> FaultWords:
    return FaultWords(Side.PROXY, what, advice)


_VALUE = "A value in the request is not what it must be."
_LATER = "Try again later."
_KEPT = "It was never kept, was deleted, has expired, or belongs to another tenant."
_WORSE_MODEL = (
    "The model made the mistake. A larger model, a clearer description of the tool, or fewer tools help."
)

FAULTS: Final[Mapping[str, FaultWords]] = {
    # the client
    "array_above_max_length": _client("A list in the request is too long."),
    "conversation_locked": _client("Another response works on this conversation.", "Wait until it has ended."),
    "conversation_not_found": _client("There is no such conversation.", _KEPT),
    "head_too_large": _client("The headers of the request are too large."),
    "host_not_allowed": _client("The request came for a host that is not served.", "See server.allowed_hosts."),
    "integer_above_max_value": _client("A number in the request is too large."),
    "integer_below_min_value": _client("A number in the request is too small."),
    "invalid_api_key": _client("The client sent no valid key of the proxy.", "See the keys of the tenants."),
    "invalid_framing": _client("The bytes of the request contradict each other about its length."),
    "invalid_function_parameters": _client("The schema of a tool is wrong.", "The client must correct it there."),
    "invalid_handshake": _client("The WebSocket was opened with wrong headers."),
    "invalid_json": _client("The body of the request is not JSON."),
    "invalid_json_schema": _client("The schema of the answer is wrong.", "The client must correct it there."),
    "invalid_message": _client("What came over the WebSocket is no message."),
    "invalid_prompt": _client("The backend refused the prompt by its rules."),
    "invalid_request_error": _client("The request is refused, by the proxy or the backend."),
    "invalid_type": _client(_VALUE),
    "invalid_value": _client(_VALUE),
    "item_already_in_conversation": _client("The conversation has this item already."),
    "item_not_found": _client("There is no such item.", _KEPT),
    "method_not_allowed": _client("This path does not take this method."),
    "missing_required_parameter": _client("A field that must be there is missing."),
    "model_not_found": _client("No backend has this model.", "See GET /v1/models, and routing in the settings."),
    "mutually_exclusive_parameters": _client("Two fields of the request exclude each other."),
    "not_found": _client("There is nothing at this path."),
    "object_above_max_properties": _client("An object in the request has too many properties."),
    "origin_not_allowed": _client("A web page of another origin sent this.", "See server.allowed_hosts."),
    "permission_denied": _client("This key may not do this."),
    "previous_response_not_completed": _client("The response that is continued has not ended."),
    "previous_response_not_found": _client("The response that is continued is not there.", _KEPT),
    "property_name_above_max_length": _client("A name in the request is too long."),
    "rate_limit_exceeded": _client("A limit per minute is reached, of the tenant or at the backend.", _LATER),
    "request_timeout": _client("The request did not come in time."),
    "request_too_complex": _client("The request would cost too much work to read."),
    "request_too_large": _client("The request is too large.", "See server.body_limit_mib."),
    "response_not_found": _client("There is no such response.", _KEPT),
    "steering_not_supported": _client("New input came for an answer under way: it belongs in the next turn."),
    "string_above_max_length": _client("A text in the request is too long."),
    "tool_limit_exceeded": _client("The request breaks a limit on tools.", "See limits in the settings."),
    "tool_not_allowed": _client("The request declares a tool that this tenant may not use.", "See tool_allowlist."),
    "tool_schema_incompatible": _client(
        "The schema of a tool is wrong, or this backend cannot read it.",
        "The parameter names the tool and the place in its schema.",
    ),
    "too_many_values": _client("The request holds too many values."),
    "unknown_message_type": _client("A message of a type that is not known came over the WebSocket."),
    "unsupported_content": _client("The model or its backend does not take this kind of content."),
    "unsupported_encoding": _client("The body is compressed in a way that is not known here."),
    "unsupported_media_type": _client("The body is not sent as JSON."),
    "unsupported_parameter": _client("The request has a field that cannot be followed here."),
    "upgrade_required": _client("WebSockets are switched off.", "Use HTTP, or set server.websocket."),
    "websocket_connection_limit_reached": _client("A connection has lived for as long as it may.", "Connect again."),
    # the model, or the server before it
    "content_filter": _backend("The backend's filter stopped the reply.", "The backend's rules say what it refuses."),
    "context_length_exceeded": _backend(
        "The conversation is longer than the model can read.", "Compact it, begin a new one, or take another model."
    ),
    "insufficient_quota": _backend("The account at the backend has nothing left.", "Look at the backend's billing."),
    "invalid_tool_arguments": _backend("The arguments of a call do not fit the schema of its tool.", _WORSE_MODEL),
    "malformed_tool_arguments": _backend("The arguments of a call are no complete JSON.", _WORSE_MODEL),
    "server_is_overloaded": _backend(
        "The backend has too much to do, or is left alone after failures.", "See its breaker and places."
    ),
    "too_many_tool_calls": _backend("The model made more calls than are allowed.", "See limits.calls."),
    "tool_arguments_too_large": _backend("The arguments of a call are too long.", "See limits.argument_bytes."),
    "tool_call_incomplete": _backend(
        "A call was cut off before it was complete.", "The stream broke off, or max_output_tokens was reached."
    ),
    "tool_call_required": _backend(
        "A call was demanded, and the model made none, or another.", "See tools in the profile of the backend."
    ),
    "unchecked_tool_arguments": _backend("The arguments of a call could not be checked.", _WORSE_MODEL),
    "unfit_answer": _backend("The answer does not have the form that was asked for.", _WORSE_MODEL),
    "unfit_tool_call": _backend("The model made a call that it must not make.", _WORSE_MODEL),
    "unknown_tool_call": _backend("The model called a tool that the request does not declare.", _WORSE_MODEL),
    "upstream_auth": _backend("The backend refuses the proxy's key.", "See backend.key in the settings."),
    "upstream_empty_reply": _backend("The backend ended its reply without a word.", "Look into the backend's log."),
    "upstream_error": _backend("The backend answered with an error.", "Look into the backend's log."),
    "upstream_incomplete": _backend("The backend ended its reply as incomplete.", "Look at its finish reason."),
    "upstream_invalid_response": _backend(
        "The backend's answer cannot be read.", "Is the backend's URL right? A web page answers like this, too."
    ),
    "upstream_not_found": _backend(
        "The backend does not know the path or the model.", "See backend.url, and the model's name at the backend."
    ),
    "upstream_protocol_error": _backend("What the backend sent is not HTTP.", "Is the backend's URL right?"),
    "upstream_redirect": _backend("The backend redirects, and nobody follows.", "Set backend.url to the target."),
    "upstream_reply_too_large": _backend("The backend's reply is too large, or never ends.", "Look at the model."),
    "upstream_stream_truncated": _backend(
        "The backend's stream broke off before its end.",
        "The backend or something before it closed the connection: look into their logs, and at their time limits.",
    ),
    "upstream_timeout": _backend(
        "The backend did not answer in time.", "See first_byte_seconds and idle_seconds, and the load of the backend."
    ),
    "upstream_unreachable": _backend("There is no connection to the backend.", "Does it run? Is its URL right?"),
    # the proxy
    "server_error": _proxy("The proxy failed.", "Its log has the traceback under this request's id."),
    "server_shutting_down": _proxy("The proxy is about to stop.", _LATER),
    "storage_error": _proxy("The store did not answer.", "See store.url, and whether the database is up."),
}  # fmt: skip


def fault_words(code: str | None, fault: str) -> FaultWords:
    """`fault`: the name of its kind, for a code that only the backend knows."""
    if code is not None and code in FAULTS:
        return FAULTS[code]
    side = Side.CLIENT if fault in ("ClientFault", "NotFound", "TooMany", "Unauthorized") else Side.BACKEND
    return FaultWords(side, "It failed with a code of the backend's own.", "Look into the backend's log.")
