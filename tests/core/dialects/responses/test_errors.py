"""Errors inside a reply have a code and no status."""

from typing import Any

from proxy.core.dialects.responses.errors import STATUSES, in_reply, of_response
from proxy.core.errors import BackendFault, ClientFault, Fault, RateLimited, Timeout
from tests.support.chat_requests import nested
from tests.support.tables import table


@table(
    ("raw", "fault", "code"),
    [
        ({"code": "rate_limit_exceeded", "message": "x"}, RateLimited, "rate_limit_exceeded"),
        ({"code": "server_error", "message": "x"}, BackendFault, "upstream_error"),
        ({"code": "invalid_prompt", "message": "x"}, ClientFault, "invalid_prompt"),
        ({"code": "vector_store_timeout", "message": "x"}, Timeout, "upstream_timeout"),
        ({"code": "context_length_exceeded", "message": "x"}, ClientFault, "context_length_exceeded"),
        ({"error": {"code": "image_too_large", "message": "x"}}, ClientFault, "image_too_large"),
        ({"code": "invalid_prompt", "message": "x", "more": nested(300)}, BackendFault, "upstream_error"),
        ("out of memory", BackendFault, "upstream_error"),
    ],
)
def test_what_a_code_means(raw: Any, fault: type[Fault], code: str) -> None:
    found = in_reply(raw)
    assert type(found) is fault
    assert found.code == code


def test_every_code_that_the_api_has() -> None:
    for code, status in STATUSES.items():
        assert in_reply({"code": code, "message": "x"}).status == (status if status < 500 else found(status))


def found(status: int) -> int:
    return {500: 502, 504: 504}[status]


def test_a_response_that_failed() -> None:
    said = {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}
    assert type(of_response(said)) is RateLimited
    for nothing in (None, 7, {}, {"error": None}):
        assert of_response(nothing).message.startswith("The backend ended the reply as failed")
