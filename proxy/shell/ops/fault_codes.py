"""The codes of faults in the log and the metrics: the proxy's own names, and never a word of a backend."""

from typing import Final

from proxy.core.errors import Fault

OTHER = "other"

CODES: Final = frozenset({
    "array_above_max_length", "content_filter", "context_length_exceeded", "conversation_locked",
    "conversation_not_found", "head_too_large", "host_not_allowed", "insufficient_quota",
    "integer_above_max_value", "integer_below_min_value", "invalid_api_key", "invalid_framing",
    "invalid_function_parameters",
    "invalid_handshake", "invalid_json", "invalid_json_schema", "invalid_message", "invalid_prompt",
    "invalid_request_error",
    "invalid_tool_arguments", "invalid_type", "invalid_value", "item_already_in_conversation", "item_not_found",
    "malformed_tool_arguments", "method_not_allowed", "missing_required_parameter", "model_not_found",
    "mutually_exclusive_parameters", "not_found", "object_above_max_properties", "origin_not_allowed",
    "permission_denied", "previous_response_not_completed", "previous_response_not_found",
    "property_name_above_max_length", "rate_limit_exceeded", "request_timeout", "request_too_complex",
    "request_too_large", "response_not_found", "server_error", "server_is_overloaded", "server_shutting_down",
    "steering_not_supported", "storage_error", "string_above_max_length", "too_many_tool_calls", "too_many_values",
    "tool_arguments_too_large", "tool_call_incomplete", "tool_call_required", "tool_limit_exceeded",
    "tool_not_allowed", "tool_schema_incompatible", "unchecked_tool_arguments", "unfit_answer", "unfit_tool_call",
    "unknown_message_type", "unknown_tool_call", "unsupported_content", "unsupported_encoding",
    "unsupported_media_type", "unsupported_parameter", "upgrade_required", "upstream_auth",
    "upstream_empty_reply", "upstream_error", "upstream_incomplete", "upstream_invalid_response",
    "upstream_not_found", "upstream_protocol_error", "upstream_redirect", "upstream_reply_too_large",
    "upstream_stream_truncated", "upstream_timeout", "upstream_unreachable", "websocket_connection_limit_reached",
})  # fmt: skip
"""The proxy's own codes of faults; a test finds missing ones. Clients get a backend's own codes, but they are no
labels."""


def code_label(fault: Fault) -> str:
    """Returns the label of a fault: a backend may call it by any word."""
    return fault.code if fault.code in CODES else OTHER
