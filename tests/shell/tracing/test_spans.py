"""What spans tell of a request: names and values of the conventions, and never what was said."""

from typing import Any

import pytest

from proxy.core.errors import BackendFault, ClientFault, Fault, OwnWords
from proxy.core.events import Ending
from proxy.shell.tracing.spans import LONGEST, Ids, Span, spans_of
from proxy.shell.watching.watch import Attempt, Watch
from tests.support.watching import a_watch, end

SECOND = 1_000_000_000
IDS = Ids(1, 2, 3, "a=1", [10, 11, 12])


def attempt(**fields: Any) -> Attempt:
    usual: dict[str, Any] = {"why": "first", "backend": "b", "backend_model": "qwen3", "profile": "vllm"}
    usual |= {"dialect": "chat", "url": "http://10.0.0.1:8000/v1/chat/completions", "began": 0.5}
    return Attempt(**usual | fields)


def ended(
    *attempts: Attempt,
    status: int = 200,
    fault: Fault | None = None,
    tenant: str | None = "ann",
    surface: str | None = "responses",
    **facts: Any,
) -> Watch:
    watch = a_watch(lambda: 7.0, *attempts, date=100.0, tenant=tenant, surface=surface)
    watch.facts.update(facts)  # type: ignore[typeddict-item]
    end(watch, status, fault)
    watch.ended = 2.0
    return watch


def spans(*attempts: Attempt, **about: Any) -> list[Span]:
    return spans_of(ended(*attempts, **about), IDS)


def test_a_request_is_a_span_of_a_server_and_each_attempt_one_of_a_client_below_it() -> None:
    request, first, second = spans(attempt(), attempt(why="elsewhere"), model="gpt-5")
    assert (request.name, request.kind, request.trace_id, request.span_id, request.parent_id) == (
        "chat gpt-5", "server", 1, 2, 3,
    )  # fmt: skip
    assert [(each.name, each.kind, each.span_id, each.parent_id) for each in (first, second)] == [
        ("chat qwen3", "client", 10, 2),
        ("chat qwen3", "client", 11, 2),
    ]
    assert request.parent_is_remote
    assert not first.parent_is_remote
    assert {each.state for each in (request, first, second)} == {"a=1"}


def test_a_request_tells_what_was_asked_for_and_what_was_answered() -> None:
    watch = ended(
        model="gpt-5",
        stream=True,
        response_id="resp_1",
        conversation="conv_1",
        continues="resp_0",
        bytes_out=9,
    )
    watch.remarks["oddities"] = {"call_repeated": 1}
    (request,) = spans_of(watch, IDS)
    assert request.attributes == {
        "http.request.method": "POST",
        "url.path": "/v1/responses",
        "http.response.status_code": 200,
        "http.response.body.size": 9,
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.request.stream": True,
        "gen_ai.response.id": "resp_1",
        "gen_ai.conversation.id": "conv_1",
        "gen_ai.request.previous_response.id": "resp_0",
        "responses_proxy.request_id": "req_1",
        "responses_proxy.transport": "http",
        "responses_proxy.surface": "responses",
        "responses_proxy.tenant": "ann",
        "responses_proxy.oddities": ["call_repeated"],
    }
    assert (request.start, request.end) == (100 * SECOND, 102 * SECOND)


def test_an_attempt_tells_what_was_wished_and_which_api_of_openai_was_asked() -> None:
    _, chat, other = spans(
        attempt(profile="openai", wishes={"temperature": 0.5}),
        attempt(profile="openai", dialect="responses"),
    )
    assert chat.attributes["gen_ai.request.temperature"] == 0.5
    assert (chat.attributes["openai.api.type"], other.attributes["openai.api.type"]) == (
        "chat_completions",
        "responses",
    )
    (_, elsewhere) = spans(attempt(profile="vllm"))
    assert "openai.api.type" not in elsewhere.attributes


def test_an_attempt_tells_which_model_was_asked_and_what_it_cost() -> None:
    one = attempt(place=0.6, head=0.75, first_byte=1.0, first_text=1.25, ended=1.75, status=200)
    one.ending = Ending.COMPLETED
    _, span = spans(
        one, stream=True, input_tokens=12, output_tokens=3, cached_tokens=5, reasoning_tokens=1, calls=2
    )
    assert span.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "vllm",
        "gen_ai.request.model": "qwen3",
        "gen_ai.request.stream": True,
        "gen_ai.response.time_to_first_chunk": 0.5,
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.usage.cache_read.input_tokens": 5,
        "gen_ai.usage.reasoning.output_tokens": 1,
        "server.address": "10.0.0.1",
        "server.port": 8000,
        "http.response.status_code": 200,
        "responses_proxy.backend": "b",
        "responses_proxy.attempt": "first",
    }
    assert (span.start, span.end) == (int(100.5 * SECOND), int(101.75 * SECOND))
    assert span.events == (
        ("slot got", int(100.6 * SECOND)),
        ("response head", int(100.75 * SECOND)),
        ("first byte", 101 * SECOND),
        ("first text", int(101.25 * SECOND)),
    )


def test_tokens_are_told_once() -> None:
    """By the attempt that answered: whoever adds up all spans counts them once."""
    request, first, last = spans(attempt(), attempt(why="again"), input_tokens=12)
    assert "gen_ai.usage.input_tokens" not in request.attributes | first.attributes
    assert last.attributes["gen_ai.usage.input_tokens"] == 12


@pytest.mark.parametrize(
    ("ending", "calls", "reason"),
    [
        (Ending.COMPLETED, 0, "stop"),
        (Ending.COMPLETED, 1, "tool_calls"),
        (Ending.MAX_TOKENS, 1, "length"),
        (Ending.FILTERED, 0, "content_filter"),
        (Ending.FAILED, 0, "error"),
    ],
)
def test_each_end_has_the_conventions_word(ending: Ending, calls: int, reason: str) -> None:
    one = attempt()
    one.ending = ending
    _, span = spans(one, calls=calls)
    assert span.attributes["gen_ai.response.finish_reasons"] == [reason]


@pytest.mark.parametrize(
    ("profile", "dialect", "provider"),
    [
        ("openai", "chat", "openai"),
        ("default", "chat", "openai"),
        ("azure-deployment", "chat", "azure.ai.openai"),
        ("google-chat", "chat", "gcp.gemini"),
        ("minimax", "anthropic", "anthropic"),
        ("sglang", "chat", "sglang"),
    ],
)
def test_providers_have_the_conventions_names(profile: str, dialect: str, provider: str) -> None:
    _, span = spans(attempt(profile=profile, dialect=dialect))
    assert span.attributes["gen_ai.provider.name"] == provider


def test_a_failure_is_told_by_its_code_and_in_our_own_words() -> None:
    """S06: what a backend said may quote what it was asked."""
    words = BackendFault(OwnWords("The backend is gone."), code="upstream_unreachable")
    quoting = BackendFault("the prompt was: SECRET")
    one, two = attempt(fault=words), attempt(fault=quoting, status=500, ended=1.0)
    request, first, second = spans(one, two, status=502, fault=quoting)
    assert (first.error, first.attributes["error.type"]) == ("The backend is gone.", "upstream_unreachable")
    assert (second.error, second.attributes["error.type"]) == ("", "upstream_error")
    assert (request.error, request.attributes["error.type"]) == ("", "upstream_error")
    assert "SECRET" not in repr([request, first, second])


def test_a_clients_own_mistake_is_no_failure_of_the_server() -> None:
    (request,) = spans(status=400, fault=ClientFault("no"))
    assert request.error is None
    assert "error.type" not in request.attributes


def test_a_stream_that_failed_is_a_failure_though_its_status_was_well() -> None:
    request, span = spans(attempt(status=200, ending=Ending.FAILED), status=200, fault=BackendFault("cut"))
    assert request.error == span.error == ""
    assert (request.attributes["http.response.status_code"], span.attributes["error.type"]) == (
        200,
        "upstream_error",
    )


def test_a_status_alone_is_a_failure_too() -> None:
    _, span = spans(attempt(status=429))
    assert (span.error, span.attributes["error.type"]) == ("", "429")


def test_whoever_was_not_let_in_has_a_span_without_a_name_of_anybody() -> None:
    (request,) = spans(status=401, tenant=None, surface=None)
    assert request.name == "POST"
    assert not {"responses_proxy.tenant", "gen_ai.operation.name"} & {*request.attributes}


def test_no_text_is_longer_than_it_may_be_or_cannot_be_sent() -> None:
    (request,) = spans(model="\ud800" + "m" * 1000)
    assert len(request.name) == LONGEST + len("chat ")
    assert request.name.startswith("chat ?m")


def test_what_was_taken_over_from_the_attempt_before_is_no_event_of_this_one() -> None:
    _, span = spans(attempt(why="lesson", began=0.9, place=0.6))
    assert span.events == ()


def test_a_url_without_a_port_has_that_of_its_scheme() -> None:
    _, span = spans(attempt(url="https://api.example/v1"))
    assert (span.attributes["server.address"], span.attributes["server.port"]) == ("api.example", 443)
