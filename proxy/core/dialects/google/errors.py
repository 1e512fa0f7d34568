"""Turns Gemini's errors into faults: its own words are translated into the common ones, which `reading.errors` judges.

The body is one object or a list of one; the status has a name, which is right where the number is missing; the details
say how long to wait, as no header does.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import errors
from proxy.core.dialects.reading.errors import CRASH
from proxy.core.errors import Fault, OutOfQuota
from proxy.core.masking.redact import quotable

STATUSES: Mapping[str, int] = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": CRASH,
    "DATA_LOSS": CRASH,
    "INTERNAL": CRASH,
    "UNIMPLEMENTED": CRASH,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
KEY_REFUSED = 401

_BAD_KEY = re.compile(r"\bapi[ _]key\b.{0,20}\b(?:not valid|invalid|expired|not found)", re.IGNORECASE)
"""Google reports it as a bad argument, because the key is one."""
_DELAY = re.compile(r"(?P<seconds>\d+(?:\.\d+)?)s")
_DAILY = re.compile(r"per_?day", re.IGNORECASE)

Error = Mapping[str, Any]


def fault_of(status: int, headers: Mapping[str, str], body: bytes, *, own_key: bool) -> Fault:
    """Judges an HTTP answer that is no reply. `own_key`: the proxy's key was sent, not the client's."""
    try:
        error = error_in(jsontext.loads(body))
    except jsontext.BadJson:
        error = None
    if error is None:  # something between us and Google speaks
        return errors.fault_of(status, headers, body, own_key=own_key)
    return _judged(error, _status(error, status), headers, body, own_key=own_key)


def in_stream(raw: Any) -> Fault:
    """Judges an error inside an answer that began as a success."""
    error = error_in(raw)
    if (
        error is None
        or not (status := _status(error, 0))
        or jsontext.deeper_than(error, jsontext.WRITABLE_DEPTH)
    ):
        return errors.in_stream(raw)
    return _judged(error, status, {}, jsontext.dumps({"error": error}), own_key=True)


def error_in(raw: Any) -> Error | None:
    """Gives the error, where this is one in Google's form."""
    if isinstance(raw, list):
        raw = raw[0] if raw else None
    error = raw.get("error") if isinstance(raw, dict) else None
    return error if isinstance(error, dict) else None


def _judged(error: Error, status: int, headers: Mapping[str, str], body: bytes, *, own_key: bool) -> Fault:
    if status == 429 and _is_daily(error):
        text = error.get("message")
        message = quotable(text) if isinstance(text, str) else ""
        return OutOfQuota(message or "The account at the backend has no quota left for today.")
    if status == CRASH:
        return errors.crash(body)
    if (delay := _delay(error)) is not None:
        headers = {**headers, "retry-after": delay}
    return errors.fault_of(status, headers, body, own_key=own_key)


def _status(error: Error, otherwise: int) -> int:
    """The name decides, then the number in the body, then what HTTP said."""
    if _BAD_KEY.search(str(error.get("message"))) or _reasons(error) & {"API_KEY_INVALID"}:
        return KEY_REFUSED
    code = error.get("code")
    number = code if isinstance(code, int) and 400 <= code < 600 else otherwise
    status = STATUSES.get(str(error.get("status")), number)
    return CRASH if status == 499 else status


def _details(error: Error) -> Iterator[Error]:
    details = error.get("details")
    return (detail for detail in (details if isinstance(details, list) else ()) if isinstance(detail, dict))


def _reasons(error: Error) -> set[str]:
    return {str(detail.get("reason")) for detail in _details(error)}


def _delay(error: Error) -> str | None:
    for detail in _details(error):
        if found := _DELAY.fullmatch(str(detail.get("retryDelay"))):
            return found["seconds"]
    return None


def _is_daily(error: Error) -> bool:
    """Is the quota of the day used up? Neither seconds nor minutes of waiting help then."""
    return any(
        _DAILY.search(str(violation))
        for detail in _details(error)
        if isinstance(violations := detail.get("violations"), list)
        for violation in violations
    )
