"""Turns an error of the Responses API into a fault that says who must act.

Before a stream the error comes with a status, inside a reply only with a code. What all dialects have in common is
judged in `reading.errors`.
"""

from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import error_body, errors
from proxy.core.errors import BackendFault, Fault, OwnWords

STATUSES = {
    "server_error": 500,
    "rate_limit_exceeded": 429,
    "invalid_prompt": 400,
    "bio_policy": 400,
    "cyber_policy": 400,
    "vector_store_timeout": 504,
    "invalid_image": 400,
    "invalid_image_format": 400,
    "invalid_base64_image": 400,
    "invalid_image_url": 400,
    "image_too_large": 400,
    "image_too_small": 400,
    "image_parse_error": 400,
    "image_content_policy_violation": 400,
    "invalid_image_mode": 400,
    "image_file_too_large": 400,
    "unsupported_image_media_type": 400,
    "empty_image_file": 400,
    "failed_to_download_image": 400,
    "image_file_not_found": 400,
}
"""The codes that the API has for a response that failed, each with the status that it would have had before."""


def in_reply(raw: Any) -> Fault:
    """Judges an error inside an answer that began as a success."""
    error = error_body.of(raw)
    if error.code in STATUSES and not jsontext.deeper_than(raw, jsontext.WRITABLE_DEPTH):
        return errors.fault_of(STATUSES[error.code], {}, jsontext.dumps(raw), own_key=True)
    return errors.in_stream(raw)


def of_response(response: Any) -> Fault:
    """Judges a response that has failed, or that somebody has cancelled."""
    error = response.get("error") if isinstance(response, dict) else None
    if error:
        return in_reply({"error": error})
    return BackendFault(OwnWords("The backend ended the reply as failed, without a reason."))
