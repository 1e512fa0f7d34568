"""Turns an error of the Messages API into a fault that says who must act.

Before a stream the error comes with a status, inside one only with a type. Both mean the same, and a compatible server
may get either wrong. What all dialects have in common is judged in `reading.errors`.
"""

import re
from collections.abc import Mapping
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import error_body, errors
from proxy.core.errors import Fault, NotFound, TooLarge
from proxy.core.masking.redact import quotable

STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status with which each type of error comes before a stream."""

_NOTHING_LEFT = re.compile(r"spend limit|credit balance")
"""The API says it with 400 and with 429 alike; no later try helps."""
_NO_MODEL = re.compile(r"^\s*model\b", re.IGNORECASE)

ANSWERS_FOR = "x-should-retry"
"""In this header the API says whether a later try can help."""


def fault_of(status: int, headers: Mapping[str, str], body: bytes, *, own_key: bool) -> Fault:
    """Judges an HTTP answer that is no reply. `own_key`: the proxy's key was sent, not the client's."""
    error = error_body.read(body)
    if status == 413:  # from the network's edge, in any form
        text = quotable(error.message) or errors.TOO_LARGE
        return TooLarge(errors.with_advice(text, errors.SHORTEN))
    if status in (400, 429) and _NOTHING_LEFT.search(error.words):
        status = 402
    if status == 404 and error.type == "not_found_error" and _NO_MODEL.match(error.message):
        text = f"The backend has no such model: {quotable(error.message)}"
        message = errors.with_advice(text, errors.OTHER_MODEL)
        return NotFound(message, code="model_not_found", param="model")
    fault = errors.fault_of(status, headers, body, own_key=own_key)
    if _header(headers, ANSWERS_FOR) == "false":
        fault.retryable = False
    return fault


def in_stream(raw: Any) -> Fault:
    """Judges an error inside an answer that began as a success."""
    error = error_body.of(raw)
    if error.type in STATUSES and not jsontext.deeper_than(raw, jsontext.WRITABLE_DEPTH):
        return fault_of(STATUSES[error.type], {}, jsontext.dumps(raw), own_key=True)
    return errors.in_stream(raw)


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value.lower() for key, value in headers.items() if key.lower() == name), "")
