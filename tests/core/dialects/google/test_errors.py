"""What Gemini's refusals mean, whole or in a stream, as an object or as a list of one."""

from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.google.errors import fault_of, in_stream
from proxy.core.errors import (
    BackendFault,
    ClientFault,
    Fault,
    Forbidden,
    NotFound,
    OutOfQuota,
    Overloaded,
    RateLimited,
    Timeout,
    TooLarge,
)
from tests.support.tables import table

TYPE = "type.googleapis.com/google.rpc."
KEY_INFO = {"@type": f"{TYPE}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
LONGER = "The input token count (1194421) exceeds the maximum number of tokens allowed (1048576)."
DAILY = {
    "quotaMetric": "generate_content_requests",
    "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
}
MINUTE = {
    "quotaMetric": "generate_content_requests",
    "quotaId": "GenerateRequestsPerMinutePerProjectPerModel",
}


def error(code: Any = None, status: Any = None, message: Any = "Why.", *details: Any) -> dict[str, Any]:
    told = {"code": code, "message": message, "status": status, "details": list(details)}
    return {"error": {key: value for key, value in told.items() if value}}


def refused(status: int, body: Any, own_key: bool = True, headers: dict[str, str] | None = None) -> Fault:
    return fault_of(status, headers or {}, jsontext.dumps(body), own_key=own_key)


def quota(*violations: Any) -> dict[str, Any]:
    return {"@type": f"{TYPE}QuotaFailure", "violations": list(violations)}


def retry(delay: Any) -> dict[str, Any]:
    return {"@type": f"{TYPE}RetryInfo", "retryDelay": delay}


@table(
    ("http", "body", "kind", "status", "code"),
    [
        (400, error(400, "INVALID_ARGUMENT"), ClientFault, 400, None),
        (400, error(400, "INVALID_ARGUMENT", LONGER), ClientFault, 400, "context_length_exceeded"),
        (400, error(400, "FAILED_PRECONDITION"), ClientFault, 400, None),
        (400, error(400, "OUT_OF_RANGE"), ClientFault, 400, None),
        (401, error(401, "UNAUTHENTICATED"), BackendFault, 502, "upstream_auth"),
        (403, error(403, "PERMISSION_DENIED"), Forbidden, 403, "permission_denied"),
        (
            404,
            error(404, "NOT_FOUND", "models/x is not found for API version v1beta"),
            NotFound,
            404,
            "model_not_found",
        ),
        (429, error(429, "RESOURCE_EXHAUSTED"), RateLimited, 429, "rate_limit_exceeded"),
        (
            429,
            error(429, "RESOURCE_EXHAUSTED", "Why.", quota(MINUTE)),
            RateLimited,
            429,
            "rate_limit_exceeded",
        ),
        (
            429,
            error(429, "RESOURCE_EXHAUSTED", "Why.", quota(MINUTE, DAILY)),
            OutOfQuota,
            429,
            "insufficient_quota",
        ),
        (429, error(429, "RESOURCE_EXHAUSTED", 7, quota(DAILY)), OutOfQuota, 429, "insufficient_quota"),
        (
            429,
            error(429, "RESOURCE_EXHAUSTED", "Why.", {"violations": 1}),
            RateLimited,
            429,
            "rate_limit_exceeded",
        ),
        (499, error(499, "CANCELLED"), BackendFault, 502, "upstream_error"),
        (499, error(499), BackendFault, 502, "upstream_error"),
        (500, error(500, "INTERNAL", "Tool call failed."), BackendFault, 502, "upstream_error"),
        (500, error(500, "UNKNOWN"), BackendFault, 502, "upstream_error"),
        (413, error(413, "UNKNOWN"), TooLarge, 413, "request_too_large"),
        (503, error(503, "UNAVAILABLE"), Overloaded, 503, "server_is_overloaded"),
        (504, error(504, "DEADLINE_EXCEEDED"), Timeout, 504, "upstream_timeout"),
        (400, error(None, "UNAVAILABLE"), Overloaded, 503, "server_is_overloaded"),
        (400, error(503, "NEW_WORD"), Overloaded, 503, "server_is_overloaded"),
        (503, error(None, None), Overloaded, 503, "server_is_overloaded"),
        (503, error(7), Overloaded, 503, "server_is_overloaded"),
    ],
)
def test_refusals(http: int, body: Any, kind: type[Fault], status: int, code: str | None) -> None:
    for shape in (body, [body]):
        fault = refused(http, shape)
        assert type(fault) is kind
        assert (fault.status, fault.code) == (status, code)


@table(
    "body",
    [
        error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        error(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key."),
        error(400, "INVALID_ARGUMENT", "Why.", 7, KEY_INFO),
    ],
)
def test_a_refused_key_is_no_mistake_in_the_request(body: Any) -> None:
    assert refused(400, body).code == "upstream_auth"
    assert refused(400, body, own_key=False).code == "invalid_api_key"


@table(
    ("delay", "seconds"),
    [("37s", 37.0), ("0.5s", 0.5), ("3600s", 120.0), ("soon", None), (None, None), (7, None)],
)
def test_how_long_to_wait_stands_in_the_details(delay: Any, seconds: float | None) -> None:
    fault = refused(429, error(429, "RESOURCE_EXHAUSTED", "Why.", retry(delay)))
    assert fault.retry_after == seconds


def test_a_header_is_believed_where_the_details_say_nothing() -> None:
    fault = refused(503, error(503, "UNAVAILABLE"), headers={"retry-after": "3"})
    assert fault.retry_after == 3.0


@table(
    "body",
    [
        b"<html>",
        b"",
        b"[]",
        b"[1]",
        b'{"error": "down"}',
        b'{"message": "down"}',
        b'{"error": {"details": 1}}',
    ],
)
def test_what_something_else_says_is_judged_as_anybodys(body: bytes) -> None:
    assert type(fault_of(503, {}, body, own_key=True)) is Overloaded


@table(
    ("said", "kind"),
    [
        (error(503, "UNAVAILABLE"), Overloaded),
        (error(None, "INTERNAL"), BackendFault),
        ([error(429, "RESOURCE_EXHAUSTED")], RateLimited),
        (error(400, "INVALID_ARGUMENT", LONGER), ClientFault),
        (error(None, None, "overloaded"), Overloaded),
        ({"error": "rate limit"}, RateLimited),
    ],
)
def test_in_a_stream(said: Any, kind: type[Fault]) -> None:
    """Never by the 200 that the stream began with."""
    assert type(in_stream(said)) is kind


def test_attack_27_an_error_too_deep_to_be_written_again_is_still_the_backends() -> None:
    deep: Any = {}
    for _ in range(400):
        deep = {"a": deep}
    fault = in_stream(error(503, "UNAVAILABLE", "Busy.", deep))
    assert isinstance(fault, BackendFault)
    assert "Busy." in fault.message
