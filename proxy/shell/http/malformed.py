"""What is no request at all, as the fault that says what is wrong with it.

Only the kind of error is looked at: aiohttp's own words quote the head, where keys are.
"""

from aiohttp.http_exceptions import LineTooLong

from proxy.core.errors import ClientFault

NO_HTTP = "This is not valid HTTP: send a request of its version 1.1, without TLS."
TOO_MUCH = "The target or a header is longer than 8190 bytes, or there are over 128 headers: send less."
TOO_LATE = "The head of the request did not arrive in time: send it at once, up to the empty line behind it."


class HeadTooLate(Exception):
    """A part of one came, and never its end."""


class UnknownVersion(Exception):
    """It is named, or none is."""


def fault_of(error: BaseException | None) -> ClientFault:
    if isinstance(error, LineTooLong) or "Too many headers" in str(error):
        return ClientFault(TOO_MUCH, status=431, code="head_too_large")
    if isinstance(error, HeadTooLate):
        return ClientFault(TOO_LATE, status=408, code="request_timeout")
    return ClientFault(NO_HTTP)
