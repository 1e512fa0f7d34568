"""Who must act, by the status before a stream and by the type inside one."""

from collections.abc import Mapping

from proxy.core import jsontext
from proxy.core.dialects.anthropic.errors import fault_of, in_stream
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


def error(kind: str, message: str = "No.") -> dict:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def refused(
    status: int,
    kind: str = "x",
    message: str = "No.",
    headers: Mapping[str, str] | None = None,
    own_key: bool = True,
) -> Fault:
    return fault_of(status, headers or {}, jsontext.dumps(error(kind, message)), own_key=own_key)


ROWS = [
    (400, "invalid_request_error", ClientFault, 400),
    (402, "billing_error", OutOfQuota, 429),
    (403, "permission_error", Forbidden, 403),
    (404, "not_found_error", ClientFault, 404),
    (409, "conflict_error", ClientFault, 409),
    (413, "request_too_large", TooLarge, 413),
    (429, "rate_limit_error", RateLimited, 429),
    (500, "api_error", BackendFault, 502),
    (504, "timeout_error", Timeout, 504),
    (529, "overloaded_error", Overloaded, 503),
]


@table(("status", "kind", "fault", "shown"), ROWS)
def test_before_a_stream_and_inside_it_the_same(
    status: int, kind: str, fault: type[Fault], shown: int
) -> None:
    """Never classified by the 200 that the stream began with."""
    for said in (refused(status, kind), in_stream(error(kind))):
        assert type(said) is fault
        assert said.status == shown
        assert "No." in said.message


def test_a_refused_key() -> None:
    ours, theirs = refused(401), refused(401, own_key=False)
    assert (ours.status, ours.code) == (502, "upstream_auth")
    assert (theirs.status, theirs.code) == (401, "invalid_api_key")


@table(
    "message",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000",
    ],
)
def test_an_outgrown_window(message: str) -> None:
    for said in (
        refused(400, "invalid_request_error", message),
        in_stream(error("invalid_request_error", message)),
    ):
        assert said.code == "context_length_exceeded"
        assert isinstance(said, ClientFault)


@table("status", [400, 429])
@table("message", ["You have reached your specified API spend limits.", "Your credit balance is too low."])
def test_an_empty_account(status: int, message: str) -> None:
    assert type(refused(status, "invalid_request_error", message)) is OutOfQuota


def test_no_such_model() -> None:
    said = refused(404, "not_found_error", "model: claude-opus-9")
    assert type(said) is NotFound
    assert (said.code, said.param) == ("model_not_found", "model")
    assert "claude-opus-9" in said.message


@table("body", [b"", b"<html>413</html>", b'{"type":"error"}'])
def test_too_large_comes_from_the_edge_in_any_form(body: bytes) -> None:
    said = fault_of(413, {}, body, own_key=True)
    assert type(said) is TooLarge
    assert said.message


def test_a_rate_limit_says_how_long() -> None:
    assert refused(429, "rate_limit_error", headers={"Retry-After": "7"}).retry_after == 7
    assert refused(529, "overloaded_error", headers={"retry-after": "7"}).retry_after == 7


@table(("word", "retryable"), [("false", False), ("true", True)])
def test_the_apis_own_word_on_retries(word: str, retryable: bool) -> None:
    assert refused(500, "api_error", headers={"X-Should-Retry": word}).retryable is retryable


@table(
    ("said", "status"),
    [
        ({"type": "error", "error": {"type": "new_error", "message": "rate limit"}}, 429),
        ({"type": "error", "error": "Boom"}, 502),
        ({"type": "error"}, 502),
    ],
)
def test_an_error_of_a_compatible_server_is_read_by_its_words(said: dict, status: int) -> None:
    assert in_stream(said).status == status


def test_attack_27_an_error_too_deep_to_be_written_again_is_still_the_backends() -> None:
    deep: dict = {}
    for _ in range(400):
        deep = {"a": deep}
    said = error("overloaded_error", "Busy.")
    said["error"]["more"] = deep
    fault = in_stream(said)
    assert isinstance(fault, BackendFault)
    assert "Busy." in fault.message
