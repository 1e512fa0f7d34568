"""Who must act on a backend's refusal, and what they are told."""

from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import errors
from proxy.core.errors import (
    BackendFault,
    ClientFault,
    Fault,
    Forbidden,
    GatewayFault,
    Miscalled,
    NotFound,
    OutOfQuota,
    Overloaded,
    RateLimited,
    Timeout,
    TooLarge,
    Unauthorized,
)
from tests.support.tables import table

OVERFLOW = "This model's maximum context length is 8192 tokens."
TOO_MANY_PER_MINUTE = "Request too large for model `m` (TPM): Limit 6000, Requested 9000"


def refuse(status: int, body: Any = b"", *, own_key: bool = True, **headers: str) -> Fault:
    data = body if isinstance(body, bytes) else jsontext.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return errors.fault_of(status, named, data, own_key=own_key)


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@table(
    ("status", "body", "kind", "told_as", "code", "retryable"),
    [
        (400, error("No."), ClientFault, 400, None, False),
        (408, error("Late."), ClientFault, 408, None, True),
        (409, error("No."), ClientFault, 409, None, True),
        (422, error("No.", code="invalid_value"), ClientFault, 422, "invalid_value", False),
        (400, error("No.", code="tool_use_failed"), Miscalled, 502, "tool_use_failed", True),
        (413, error("No."), TooLarge, 413, "request_too_large", False),
        (402, error("Insufficient Balance"), OutOfQuota, 429, "insufficient_quota", False),
        (404, error("The model `m` does not exist."), NotFound, 404, "model_not_found", False),
        (404, {"detail": "Not Found"}, BackendFault, 502, "upstream_not_found", False),
        (405, b"", BackendFault, 502, "upstream_not_found", False),
        (429, error("Slow down."), RateLimited, 429, "rate_limit_exceeded", True),
        (429, error("No.", code="insufficient_quota"), OutOfQuota, 429, "insufficient_quota", False),
        (500, error("Oops."), BackendFault, 502, "upstream_error", True),
        (502, b"", GatewayFault, 502, "upstream_error", True),
        (503, b"", Overloaded, 503, "server_is_overloaded", True),
        (504, b"", Timeout, 504, "upstream_timeout", True),
        (520, b"", GatewayFault, 502, "upstream_error", True),
        (524, b"", Timeout, 504, "upstream_timeout", True),
        (529, error("Overloaded"), Overloaded, 503, "server_is_overloaded", True),
        (302, b"", BackendFault, 502, "upstream_redirect", False),
        (204, b"", BackendFault, 502, "upstream_error", True),
    ],
)
def test_each_status(
    status: int, body: Any, kind: type[Fault], told_as: int, code: str | None, retryable: bool
) -> None:
    """F09, F11, F12, F14, F15."""
    fault = refuse(status, body)
    assert type(fault) is kind
    assert (fault.status, fault.code, fault.retryable) == (told_as, code, retryable)
    assert fault.message


class TestOverflow:
    @table("status", [400, 413, 422])
    def test_it_is_told_in_the_one_way_that_clients_understand(self, status: int) -> None:
        """F13: Codex recognises it with status 400 only."""
        fault = refuse(status, error(OVERFLOW))
        assert type(fault) is ClientFault
        assert (fault.status, fault.code) == (400, "context_length_exceeded")
        assert fault.message == f"{OVERFLOW} {errors.SHORTEN}"
        assert not fault.retryable

    @table("status", [404, 429, 500])
    def test_with_another_status_the_same_words_mean_nothing(self, status: int) -> None:
        assert refuse(status, error(OVERFLOW)).code != "context_length_exceeded"

    def test_a_413_that_says_nothing_is_one(self) -> None:
        fault = refuse(413)
        assert fault.code == "context_length_exceeded"
        assert "context window" in fault.message

    def test_a_413_from_a_web_server_is_none(self) -> None:
        assert refuse(413, b"<html>413 Request Entity Too Large</html>").code == "request_too_large"

    def test_a_code_that_the_text_denies_is_not_passed_on(self) -> None:
        fault = refuse(400, error("string too long", code="context_length_exceeded"))
        assert (fault.status, fault.code) == (400, None)

    def test_inside_a_stream_the_status_does_not_matter(self) -> None:
        assert errors.in_stream(error(OVERFLOW, code=500)).code == "context_length_exceeded"


class TestKeys:
    @table("status", [401, 403])
    def test_the_proxys_own_key_is_nobodys_business(self, status: int) -> None:
        """F10: neither the key nor the backend's text about it."""
        fault = refuse(status, error("Incorrect API key provided: sk-abcdef123456"))
        assert (type(fault), fault.status, fault.code) == (BackendFault, 502, "upstream_auth")
        assert not fault.retryable
        assert "Incorrect" not in fault.message

    @table("status", [401, 403])
    def test_a_clients_key_is_the_clients_fault(self, status: int) -> None:
        fault = refuse(status, error("Incorrect API key provided: sk-abcdef123456"), own_key=False)
        assert (type(fault), fault.status, fault.code) == (Unauthorized, 401, "invalid_api_key")
        assert "sk-" not in fault.message

    def test_a_redirect_is_not_quoted(self) -> None:
        """F09, S34."""
        fault = refuse(307, b"see https://internal/", location="https://internal/")
        assert "internal" not in fault.message

    @table("status", [400, 404, 429, 500, 503])
    def test_what_is_quoted_is_masked_and_cut(self, status: int) -> None:
        """S06."""
        fault = refuse(status, error("no such path: sk-abcdef123456 " + "x" * 5000))
        assert "sk-" not in fault.message
        assert len(fault.message) < 600

    @table("status", [400, 404, 413, 422, 429, 500, 502, 503])
    def test_a_web_page_is_not_echoed(self, status: int) -> None:
        """F16."""
        fault = refuse(status, b"<html><body>nginx secret model not found</body></html>")
        assert "secret" not in fault.message
        assert fault.code != "model_not_found"


class TestForbidden:
    def test_what_the_backend_does_not_allow_is_told_in_its_words(self) -> None:
        """V31: a region, a model or an organisation, and no wrong key. Masked, S06."""
        for own_key in (True, False):
            fault = refuse(403, error("Country not supported; asked with sk-abcdef123456."), own_key=own_key)
            assert (type(fault), fault.status, fault.code) == (Forbidden, 403, "permission_denied")
            assert fault.message == "Country not supported; asked with [redacted]."

    def test_without_words_it_says_what_it_was(self) -> None:
        assert refuse(403, b"").message.startswith("The backend forbids this request (HTTP 403)")

    def test_inside_a_stream_it_is_the_same(self) -> None:
        assert type(errors.in_stream(error("No.", type="permission_error"))) is Forbidden

    def test_where_the_proxy_has_no_key_it_says_so(self) -> None:
        """V30."""
        ours, theirs = errors.no_key(forwards=False), errors.no_key(forwards=True)
        assert (ours.status, ours.code, ours.retryable) == (502, "upstream_auth", False)
        assert "set backend.key (or PROXY_BACKEND_KEY), or forward_key" in ours.message
        assert (theirs.status, theirs.code) == (401, "invalid_api_key")
        assert "Send one" in theirs.message


class TestValidation:
    """V28: what FastAPI and pydantic say, in whichever form a server prints it."""

    @table(
        ("status", "body"),
        [
            (
                422,
                {
                    "detail": [
                        {
                            "type": "literal_error",
                            "loc": ["body", "response_format", "type"],
                            "msg": "Input should be 'text' or 'json_object'",
                        }
                    ]
                },
            ),
            (
                400,
                error(
                    "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': 'Input should be'}]"
                ),
            ),
            (500, error("1 validation error for Request\nresponse_format.type\n  Input should be 'text'")),
            (500, error("[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]")),
            (500, {"detail": "1 validation error for Request\nresponse_format.type\n  Input should be"}),
        ],
    )
    def test_it_names_the_client_s_field(self, status: int, body: Any) -> None:
        fault = refuse(status, body)
        assert type(fault) is ClientFault
        assert (fault.status, fault.param) == (400 if status == 500 else status, "text.format")
        assert fault.message.strip()

    def test_inside_a_stream_too(self) -> None:
        said = error("1 validation error for Request\nmax_tokens\n  Input should be")
        fault = errors.in_stream(said)
        assert (type(fault), fault.param) == (ClientFault, "max_output_tokens")

    def test_an_answer_of_its_own_that_it_cannot_write_is_a_crash(self) -> None:
        assert type(refuse(500, error("1 validation error for ChatResponse\nid\n  Field"))) is BackendFault


class TestModels:
    @table(
        "body",
        [
            error(
                "The model `gpt-9` does not exist or you do not have access to it.", code="model_not_found"
            ),
            error("The model `m` does not exist.", type="NotFoundError", code=404),
            error("model 'llama9' not found, try pulling it first"),
            error("The API deployment for this resource does not exist.", code="DeploymentNotFound"),
            error("No endpoints found for meta/llama-9."),
            error("No endpoints found that support tool use."),
            {"code": "NOT_FOUND", "error": "Unknown model: grok-9"},
            {"message": "Invalid model name passed in model=m"},
        ],
    )
    def test_a_missing_model_is_one(self, body: Any) -> None:
        """F15."""
        fault = refuse(404, body)
        assert (type(fault), fault.code, fault.param) == (NotFound, "model_not_found", "model")

    def test_the_code_says_it_with_any_status(self) -> None:
        assert type(refuse(400, error("No.", code="model_not_found"))) is NotFound
        assert type(refuse(400, error("Unknown Model", code="1211"))) is NotFound

    @table(
        "body",
        [
            error("Only 'text' content type is supported."),
            error("Cannot find the requested snapshot of 'x'."),
            {"detail": "No session 5."},
        ],
    )
    def test_a_404_about_something_else_is_told_as_it_is(self, body: Any) -> None:
        """V29."""
        fault = refuse(404, body)
        assert (type(fault), fault.status, fault.code) == (ClientFault, 404, None)
        assert "URL" not in fault.message

    @table(
        "body",
        [
            b"",
            b"404 page not found",
            b"Only text",
            b"<html>Not Found</html>",
            {},
            {"detail": "Not Found"},
            error("File Not Found", code=404),
            error("Resource not found"),
            error("The requested URL was not found."),
            error("Invalid URL (POST /v1/chat/completionss)"),
            {"message": "no Route matched with those values"},
        ],
    )
    def test_any_other_404_is_a_wrong_address(self, body: Any) -> None:
        fault = refuse(404, body)
        assert (fault.status, fault.code) == (502, "upstream_not_found")
        assert "URL" in fault.message


class TestLimits:
    @table("status", [429, 503])
    def test_the_wait_is_kept(self, status: int) -> None:
        """F11."""
        assert refuse(status, b"", Retry_After="7").retry_after == 7
        assert refuse(status).retry_after is None

    @table(
        "body",
        [
            error("You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota"),
            error("Insufficient balance or no resource package. Please recharge.", code="1113"),
            error("Your credit balance is too low to access the API."),
            error("insufficient credits"),
        ],
    )
    def test_an_empty_account_is_no_rate_limit(self, body: Any) -> None:
        """Codex gives up only if type and code both say so; waiting would not help."""
        fault = refuse(429, body)
        assert (fault.type, fault.code, fault.status) == ("insufficient_quota", "insufficient_quota", 429)
        assert not fault.retryable

    def test_a_request_above_a_whole_minutes_allowance_is_final(self) -> None:
        """Groq's 413: no wait and no repetition can cure it, and it is no overflow either."""
        fault = refuse(413, error(TOO_MANY_PER_MINUTE, code="rate_limit_exceeded"))
        assert type(fault) is ClientFault
        assert (fault.status, fault.code) == (400, "request_too_large")
        assert fault.message == f"{TOO_MANY_PER_MINUTE}. {errors.SHORTEN}"

    def test_zais_numbers_are_known(self) -> None:
        assert type(refuse(400, error("High concurrency", code="1302"))) is RateLimited
        assert type(refuse(500, error("crash", code="1302"))) is BackendFault


class TestMistakes:
    def test_the_field_is_named_as_the_client_knows_it(self) -> None:
        """F14."""
        fault = refuse(
            400,
            error("Unsupported parameter: 'max_tokens'", param="max_tokens", code="unsupported_parameter"),
        )
        assert (fault.param, fault.code) == ("max_output_tokens", "unsupported_parameter")

    @table("code", [400, "3230", "", None, "rate_limit_exceeded", "Insufficient_Quota", "two words"])
    def test_a_code_that_means_nothing_or_too_much_is_left_out(self, code: Any) -> None:
        assert refuse(400, error("No.", code=code)).code is None

    @table(
        "message",
        [
            "Failed to parse tool call arguments as JSON",
            "image input is not supported - hint: you may need to provide the mmproj",
            "Error rendering prompt with jinja template: System message must be at the beginning.",
            "tools[0].function.description: type must be string",
        ],
    )
    def test_a_crash_that_names_what_the_client_sent_is_a_mistake(self, message: str) -> None:
        """llama.cpp and LM Studio say 500 for it: repeating it would help nobody."""
        fault = refuse(500, error(message, type="server_error", code=500))
        assert (type(fault), fault.status, fault.message) == (ClientFault, 400, message)
        assert refuse(502, error(message)).status == 502

    def test_without_a_text_the_status_is_told(self) -> None:
        assert "422" in refuse(422).message


@table(
    ("said", "kind"),
    [
        (error("No.", code=429), RateLimited),
        (error("No.", code="insufficient_quota"), OutOfQuota),
        (error("No.", type="rate_limit_error"), RateLimited),
        (error("No.", type="too_many_requests_error", code="queue_exceeded"), RateLimited),
        (error("Bedrock: ThrottlingException"), RateLimited),
        (error("Resource has been exhausted (e.g. check quota).", status="RESOURCE_EXHAUSTED"), RateLimited),
        (error("Overloaded", type="overloaded_error"), Overloaded),
        (error("Server is busy, please try again later."), Overloaded),
        (error("No.", type="invalid_request_error"), ClientFault),
        (error("No.", type="authentication_error"), BackendFault),
        (error("No.", code="model_not_found"), NotFound),
        (error("The request timed out."), Timeout),
        (error("Provider disconnected", code=502), GatewayFault),
        (error("tool parser crashed", code=500), BackendFault),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, OutOfQuota),
        (error("busy", code="1305"), RateLimited),
        ("Something failed", BackendFault),
        ({}, BackendFault),
        (None, BackendFault),
    ],
)
def test_inside_a_stream_the_words_stand_for_the_status(said: Any, kind: type[Fault]) -> None:
    """F18, F20."""
    fault = errors.in_stream(said)
    assert type(fault) is kind
    assert fault.message
    assert fault.status != 500


@table(
    ("said", "advice", "message"),
    [
        ("Too long", "Shorten it.", "Too long. Shorten it."),
        ("Too long.", "Shorten it.", "Too long. Shorten it."),
        ("Too…", "Shorten it.", "Too… Shorten it."),
        ("Too long", "", "Too long"),
    ],
)
def test_what_follows_from_a_backends_words_stands_behind_them(said: str, advice: str, message: str) -> None:
    assert errors.with_advice(said, advice) == message
