"""Turns aiohttp's errors about bytes that are no request into faults.

It reads only the kind of an error, because aiohttp's words quote the head, where keys are.
"""

from aiohttp.http_exceptions import LineTooLong

from proxy.core.errors import ClientFault

NO_HTTP = "This is not valid HTTP: send a request of its version 1.1, without TLS."
TOO_MUCH = "The target or a header is longer than 8190 bytes, or there are over 128 headers: send less."
TOO_LATE = "The head of the request did not arrive in time: send it at once, up to the empty line behind it."


class HeadTooLate(Exception):
    """A part of a head came, and never its end."""


class UnknownVersion(Exception):
    """The request names another version of HTTP, or none."""


def fault_of(error: BaseException | None) -> ClientFault:
    if isinstance(error, LineTooLong) or "Too many headers" in str(error):
        return ClientFault(TOO_MUCH, status=431, code="head_too_large")
    if isinstance(error, HeadTooLate):
        return ClientFault(TOO_LATE, status=408, code="request_timeout")
    return ClientFault(NO_HTTP)
