"""`POST /v1/responses/input_tokens`: what passes on the way of a turn, and what a count leaves as it was."""

import asyncio
from typing import Any, NamedTuple

import pytest

from tests.support.keeping import Answer, Keeping, StartKeeping
from tests.support.sockets import PROMPTLY, Line, ScriptedBackend, answer, reply, text
from tests.support.two_backends import StartBoth

PATH = "/responses/input_tokens"
COUNTED = {"object": "response.input_tokens", "input_tokens": 31}
HI = {"role": "user", "content": "Hi"}
TOOL = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}


class Counter(NamedTuple):
    profile: str
    model: str
    path: str
    answer: dict[str, Any]


COUNTERS = [
    Counter("anthropic", "claude-sonnet-4-5", "/v1/messages/count_tokens", {"input_tokens": 31}),
    Counter("google", "gemini-2.5-pro", "/v1/models/gemini-2.5-pro:countTokens", {"totalTokens": 31}),
    Counter("llamacpp", "m", "/v1/chat/completions/input_tokens", {"input_tokens": 31}),
    Counter("sglang", "m", "/v1/tokenize", {"count": 31, "tokens": [1], "max_model_len": 9}),
    Counter("vllm", "m", "/tokenize", {"count": 31, "tokens": [1], "max_model_len": 9}),
]
LLAMACPP = {"profile": "llamacpp"}


async def count(keeping: Keeping, **body: Any) -> Answer:
    return await keeping.ask("POST", PATH, {"model": "m", "input": "Hi"} | body)


def counted(tokens: int = 31) -> bytes:
    return answer(200, {"input_tokens": tokens})


@pytest.fixture
async def counting(start_keeping: StartKeeping, backend: ScriptedBackend) -> Keeping:
    backend.answers(counted())
    return await start_keeping(backend=LLAMACPP)


# ── counting ──


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.profile)
async def test_the_backend_is_asked_by_its_own_counter(
    start_keeping: StartKeeping, backend: ScriptedBackend, counter: Counter
) -> None:
    backend.answers(answer(200, counter.answer))
    keeping = await start_keeping(backend={"profile": counter.profile, "key": "ours"})
    told = await count(keeping, model=counter.model, instructions="Be brief.", tools=[TOOL])
    assert (told.status, told.body) == (200, COUNTED)
    (asked,) = backend.received
    assert (asked.method, asked.path) == ("POST", counter.path)
    assert "ours" in repr(asked.headers)
    for part in (b"Be brief.", b"Hi", b'"f"'):
        assert part in asked.body


async def test_what_is_counted_is_what_a_turn_would_ask(
    start_keeping: StartKeeping, backend: ScriptedBackend
) -> None:
    backend.answers(counted(), reply(text("Hello")))
    keeping = await start_keeping(backend=LLAMACPP)
    body = {"input": [HI], "tools": [TOOL], "tool_choice": "required", "reasoning": {"effort": "low"}}
    await count(keeping, **body)
    await keeping.proxy.stream(**body)
    question, asked = (received.json for received in backend.received)
    assert question == asked


async def test_a_lesson_of_a_count_is_a_lesson_for_turns(
    start_keeping: StartKeeping, backend: ScriptedBackend
) -> None:
    refusal = {"error": {"message": "Unknown parameter: 'stream_options'.", "type": "invalid_request_error"}}
    backend.answers(answer(400, refusal), counted(), reply(text("Hello")))
    keeping = await start_keeping(backend=LLAMACPP)
    assert (await count(keeping)).body == COUNTED
    await keeping.proxy.stream()
    assert ["stream_options" in received.json for received in backend.received] == [True, False, False]


# ── what is kept ──


async def test_t101_a_chain_is_counted_with_what_follows_and_nothing_is_kept(
    start_keeping: StartKeeping, backend: ScriptedBackend
) -> None:
    backend.answers(reply(text("Hello")), counted())
    keeping = await start_keeping(backend=LLAMACPP)
    first = await keeping.ask("POST", "/responses", {"model": "m", "input": "Hi"})
    keeping.watched.asked.clear()
    for body in ({"input": "More"}, {"input": None}):
        told = await count(keeping, previous_response_id=first.body["id"], **body)
        assert told.body == COUNTED
    said = [[message["content"] for message in received.json["messages"]] for received in backend.received]
    assert said == [["Hi"], ["Hi", "Hello", "More"], ["Hi", "Hello", "Continue."]]
    assert set(keeping.watched.asked) == {"chain"}


async def test_t101_a_conversation_is_not_locked(counting: Keeping, backend: ScriptedBackend) -> None:
    made = await counting.ask("POST", "/conversations", {"items": [HI]})
    counting.watched.asked.clear()
    told = await count(counting, conversation=made.body["id"], input="More")
    assert told.body == COUNTED
    assert b"Hi" in backend.received[-1].body
    assert counting.watched.asked == ["entries"]


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"input": None}, (400, "missing_required_parameter", "input")),
        ({"model": None}, (400, "missing_required_parameter", "model")),
        ({"tools": 5}, (400, "invalid_type", "tools")),
        ({"prompt": {"id": "p"}}, (400, "unsupported_parameter", "prompt")),
        (
            {"previous_response_id": "resp_" + "a" * 48},
            (400, "previous_response_not_found", "previous_response_id"),
        ),
        ({"conversation": "conv_" + "a" * 48}, (404, None, "conversation")),
    ],
)
async def test_what_a_turn_would_refuse_is_refused(
    counting: Keeping, backend: ScriptedBackend, body: dict[str, Any], refusal: tuple[int, str | None, str]
) -> None:
    told = await count(counting, **body)
    turn = await counting.ask("POST", "/responses", {"model": "m", "input": "Hi"} | body)
    assert told.refusal == turn.refusal
    assert told.status == refusal[0]
    assert backend.received == []


# ── what the backend says instead ──


@pytest.mark.parametrize("settings", [{}, {"overrides": {"counter": "anthropic"}}, {"profile": "openai"}])
async def test_t102_where_there_is_no_counter_nothing_is_asked(
    start_keeping: StartKeeping, backend: ScriptedBackend, settings: dict[str, Any]
) -> None:
    told = await count(await start_keeping(backend=settings))
    assert told.refusal == (400, "unsupported_parameter", None)
    assert told.headers["X-Should-Retry"] == "false"
    assert backend.received == []


@pytest.mark.parametrize("status", [404, 405])
async def test_a_backend_of_a_kind_with_a_counter_may_have_none(
    counting: Keeping, backend: ScriptedBackend, status: int
) -> None:
    backend.answers(answer(status, {"error": {"message": "File Not Found", "type": "not_found_error"}}))
    told = await count(counting)
    assert told.refusal == (400, "unsupported_parameter", None)


async def test_an_older_server_that_counts_only_one_text_has_no_counter(
    start_keeping: StartKeeping, backend: ScriptedBackend
) -> None:
    missing = {"type": "missing", "loc": ["body", "prompt"], "msg": "Field required"}
    backend.answers(answer(422, {"detail": [missing]}))
    told = await count(await start_keeping(backend={"profile": "sglang"}))
    assert told.refusal == (400, "unsupported_parameter", None)


async def test_a_model_that_is_not_there_is_no_lack_of_a_counter(
    counting: Keeping, backend: ScriptedBackend
) -> None:
    backend.answers(answer(404, {"error": {"message": "The model `m` does not exist."}}))
    assert (await count(counting)).refusal == (404, "model_not_found", "model")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (answer(200, {"tokens": []}), "upstream_protocol_error"),
        (answer(200, b"<html>"), "upstream_protocol_error"),
        (answer(500, {"error": "boom"}), "upstream_error"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "upstream_stream_truncated"),
    ],
)
async def test_no_number_is_a_failure(
    counting: Keeping, backend: ScriptedBackend, said: bytes, code: str
) -> None:
    async def plays(line: Line) -> None:
        await line.request()
        line.send(said)
        await line.drained()
        line.close()

    backend.plays(plays)
    told = await count(counting)
    assert (told.status, told.error["code"]) == (502, code)
    assert counting.proxy.log.request["status"] == 502


async def test_an_answer_without_an_end_is_cut(
    counting: Keeping, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.backend.MAX_COUNT_BYTES", 9)
    told = await count(counting)
    assert (told.status, told.error["code"]) == (502, "upstream_protocol_error")


async def test_failures_open_the_breaker_and_numbers_close_nothing(
    counting: Keeping, backend: ScriptedBackend
) -> None:
    async def gone(line: Line) -> None:
        await line.request()
        line.reset()

    async def counts(line: Line) -> None:
        await line.request()
        line.send(counted())

    backend.plays(gone, gone, counts, gone, gone, gone)
    statuses = [(await count(counting)).status for _ in range(7)]
    assert statuses == [502, 502, 200, 502, 502, 502, 503]


async def test_only_the_first_backend_of_a_model_counts(
    start_both: StartBoth, backend: ScriptedBackend, other: ScriptedBackend
) -> None:
    """Another one has another model."""
    proxy = await start_both(LLAMACPP, backend=LLAMACPP)
    backend.answers(answer(529))
    other.answers(counted())
    async with proxy.session.post(f"{proxy.url}/v1{PATH}", json={"model": "m", "input": "Hi"}) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (503, "server_is_overloaded")
    assert (len(backend.received), len(other.received)) == (1, 0)


# ── around it ──


async def test_a_count_has_its_line_in_the_log_and_is_charged(
    start_keeping: StartKeeping, backend: ScriptedBackend
) -> None:
    backend.answers(counted())
    keeping = await start_keeping(backend=LLAMACPP, limits={"requests_per_minute": 1})
    told = await count(keeping)
    assert told.headers["x-ratelimit-remaining-requests"] == "0"
    line = keeping.proxy.log.request
    assert (line["status"], line["model"], line["profile"]) == (200, "m", "llamacpp")
    assert not {"input_tokens", "response_id"} & line.keys(), "nothing was used, and nothing is to be found"
    refused = await count(keeping)
    assert refused.refusal == (429, "rate_limit_exceeded", None)
    assert refused.headers["x-ratelimit-remaining-requests"] == "0"


async def test_a_client_that_leaves_is_not_counted_for(counting: Keeping, backend: ScriptedBackend) -> None:
    asked = asyncio.Event()

    async def silent(line: Line) -> None:
        await line.request()
        asked.set()
        await line.closed()

    backend.plays(silent)
    asking = asyncio.get_running_loop().create_task(count(counting))
    async with asyncio.timeout(PROMPTLY):
        await asked.wait()
    asking.cancel()
    assert (await counting.proxy.log.wait_for("request"))["status"] == 499


async def test_a_mistake_of_ours_is_told_as_one(counting: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("proxy.shell.request_reading.completed", broken)
    told = await count(counting)
    assert (told.status, told.error["code"]) == (500, "server_error")
    assert counting.proxy.log.named("unhandled_exception")
