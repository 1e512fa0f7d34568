"""Answers over HTTP: the envelope, and the request's id."""

import pytest

from proxy.core.errors import ClientFault, Fault, ProxyFault, RateLimited, Timeout, Unreachable
from proxy.core.ids import Mint
from proxy.shell.http.answers import error_response, request_id_of
from tests.support.proxies import Proxy

MINT = Mint(lambda size: "0" * 2 * size)
SOON = 0.05
ASK = {"model": "m", "input": "Hi", "stream": True}


# ── the request's id ──


@pytest.mark.parametrize("name", ["x-request-id", "x-client-request-id"])
def test_a_clients_own_id_is_kept(name: str) -> None:
    assert request_id_of({name: "Turn-1.2_3"}, MINT) == "Turn-1.2_3"


@pytest.mark.parametrize(
    "given", ["", "a b", "a\r\nSet-Cookie: x", "ü", "x" * 129, "sk-proj-0123456789abcdef"]
)
def test_an_id_that_could_do_harm_is_replaced(given: str) -> None:
    """S13, S06."""
    assert request_id_of({"x-request-id": given}, MINT) == "req_" + "0" * 32


async def test_every_answer_carries_its_id(proxy: Proxy) -> None:
    for path in ("/v1/responses", "/v1/models", "/nowhere", "/healthz"):
        async with proxy.session.get(proxy.url + path, headers={"X-Request-Id": "abc"}) as response:
            assert response.headers["X-Request-Id"] == "abc"
    async with proxy.post(ASK) as response:
        assert response.headers["X-Request-Id"].startswith("req_")
        assert response.headers["X-Request-Id"] == proxy.log.named("request")[-1]["request_id"]


# ── refusals ──


def headers_of(fault: Fault) -> dict[str, str]:
    return dict(error_response(fault, {}, "req_1").headers)


def test_the_body_is_the_surfaces() -> None:
    response = error_response(ClientFault("No.", param="input[0]", code="invalid_value"), {"a": 1}, "req_1")
    assert (response.status, response.body) == (400, b'{"a":1}')


@pytest.mark.parametrize(
    ("seconds", "whole", "milliseconds"),
    [(0, "1", "1"), (0.2, "1", "200"), (1.5, "2", "1500"), (30, "30", "30000")],
)
def test_the_time_to_come_back_is_told_in_whole_seconds(
    seconds: float, whole: str, milliseconds: str
) -> None:
    """F11."""
    told = headers_of(RateLimited("Slow down.", retry_after=seconds))
    assert (told["Retry-After"], told["Retry-After-Ms"]) == (whole, milliseconds)


def test_no_time_is_made_up() -> None:
    assert "Retry-After" not in headers_of(RateLimited("Slow down."))


def test_a_retry_that_cannot_help_is_advised_against() -> None:
    """The OpenAI SDKs would otherwise repeat every 5xx twice."""
    assert headers_of(Unreachable("No TLS.", retryable=False))["X-Should-Retry"] == "false"
    assert headers_of(ClientFault("No."))["X-Should-Retry"] == "false"
    assert "X-Should-Retry" not in headers_of(Timeout("Late."))
    assert "X-Should-Retry" not in headers_of(ProxyFault("Ours.", retryable=True))
