"""S12, F70: each kind of it is told what to do, and nothing of it is quoted."""

import pytest
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong

from proxy.shell.http.malformed import HeadTooLate, UnknownVersion, fault_of


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (None, 400, None),
        (BadHttpMessage("canary"), 400, None),
        (UnknownVersion(), 400, None),
        (LineTooLong(b"canary", 8190), 431, "head_too_large"),
        (BadHttpMessage("Too many headers received: canary"), 431, "head_too_large"),
        (HeadTooLate(), 408, "request_timeout"),
    ],
)
def test_it_is_told_by_its_kind(error: Exception | None, status: int, code: str | None) -> None:
    fault = fault_of(error)
    assert (fault.status, fault.code) == (status, code)
    assert "canary" not in fault.message
    assert "send" in fault.message
