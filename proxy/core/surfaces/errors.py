"""How a fault is told to clients, on every surface that has OpenAI's form of an error."""

from proxy.core.errors import Fault


def error_member(fault: Fault) -> dict[str, str]:
    """The members that every surface tells. Both are strings, always: null breaks strict clients. Codex reads the
    delay of a rate limit out of the message."""
    message = fault.message
    if fault.retry_after is not None:
        end = "" if message.endswith((".", "!", "?")) else "."
        message = f"{message}{end} Please try again in {fault.retry_after:g}s."
    return {"code": fault.code or "server_error", "message": message}
