"""Turns what the HTTP client raises into faults, which say who must act. Its own words stay in the log (S34)."""

import errno
from collections.abc import Callable

import aiohttp
from aiohttp.http import HttpProcessingError

from proxy.core.errors import (
    Empty,
    Fault,
    Garbled,
    OwnWords,
    ProxyFault,
    Silent,
    Timeout,
    Truncated,
    Unreachable,
)

FAILURES = (aiohttp.ClientError, HttpProcessingError, OSError)
"""All that the client raises, apart from bugs."""

NOT_BEGUN = "did not begin to answer in time"

NOT_SECURE = (
    "The proxy and the backend could not agree on a secure connection, and asking again does not help: whoever runs the"
    " proxy finds the cause in its log, and may check backend.url and whom this machine trusts (SSL_CERT_FILE)."
)


def exhausted(message: str) -> ProxyFault:
    """The fault for a limit of the proxy itself. It does not count for the breaker, and running streams go on."""
    return ProxyFault(message, code="server_is_overloaded", status=503, retry_after=1, retryable=True)


CONNECTING: tuple[tuple[type[Exception], Callable[[], Fault]], ...] = (
    (
        aiohttp.ConnectionTimeoutError,
        lambda: Timeout(OwnWords("The backend could not be connected to in time.")),
    ),
    (TimeoutError, lambda: Silent(OwnWords(f"The backend {NOT_BEGUN}."))),
    (
        aiohttp.ClientSSLError,
        lambda: Unreachable(OwnWords(NOT_SECURE), retryable=False),
    ),
    (
        aiohttp.ClientConnectorDNSError,
        lambda: Unreachable(OwnWords("The backend's name cannot be resolved.")),
    ),
    (aiohttp.ClientConnectorError, lambda: Unreachable(OwnWords("The backend cannot be connected to."))),
    (HttpProcessingError, lambda: Garbled(OwnWords("The backend's answer cannot be read as HTTP."))),
    (
        Exception,
        lambda: Truncated(OwnWords("The backend closed the connection without an answer."), code=Empty.code),
    ),
)
"""Faults before the head of an answer: the first row that matches counts. Details stay in the log (F01-F04, S34)."""


def fault_of(failure: Exception, *, answering: bool) -> Fault:
    """`answering`: the head of an answer had come (F60, F61)."""
    if getattr(failure, "errno", None) in (errno.EMFILE, errno.ENFILE):
        return exhausted(OwnWords("No more connections can be opened."))
    if answering:
        return Truncated(OwnWords("The backend broke off its answer."))
    return next(make() for kind, make in CONNECTING if isinstance(failure, kind))
