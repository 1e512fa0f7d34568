"""How a fault is told to clients, on every surface that has OpenAI's form of an error."""

import re
from typing import Any

from proxy.core.errors import Fault

_DELAY = re.compile(r"\btry again in ?+\d++(?:\.\d++)? ?+(?:ms|s|seconds?)\b", re.IGNORECASE)
"""How Codex finds a delay in a message: it takes the first."""


def error_member(fault: Fault) -> dict[str, str]:
    """The members that every surface tells. Both are strings, always: null breaks strict clients. Codex reads the
    delay of a rate limit out of the message, where ours and most backends' own have it."""
    message = fault.message
    if fault.retry_after is not None and not _DELAY.search(message):
        end = "" if message.endswith((".", "!", "?")) else "."
        message = f"{message}{end} Please try again in {fault.retry_after:g}s."
    return {"code": fault.code or "server_error", "message": message}


def error_body(fault: Fault) -> dict[str, Any]:
    """OpenAI's envelope, the body of an answer with an error status. Its head has the delay."""
    error = {"message": fault.message, "type": fault.type, "param": fault.param, "code": fault.code}
    return {"error": error | dict(fault.details)}
