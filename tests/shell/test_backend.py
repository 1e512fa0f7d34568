"""How requests are put to the backend, and what its refusals teach (chat-backends 3.3)."""

import asyncio
from typing import Any

import pytest

from proxy.shell import backend as module
from tests.support.proxies import Proxy, StartProxy, names
from tests.support.sockets import (
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    reply,
    text,
)

REPLY = reply(text("Hello"))


def refusal(message: str, status: int = 400) -> bytes:
    return answer(status, {"error": {"message": message, "type": "invalid_request_error"}})


NO_USAGE = refusal("Unknown parameter: 'stream_options'.")
NO_LENGTH = refusal("'max_tokens' is not supported with this model.")
NO_TEMPERATURE = refusal("Unsupported value: 'temperature' does not support 0.5 with this model.")


def sent(backend: ScriptedBackend) -> list[dict[str, Any]]:
    return [received.json for received in backend.received]


# ── putting ──


async def test_the_client_s_name_of_a_model_is_translated(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"models": {"gpt-5": "org/qwen3"}})
    await proxy.stream(model="gpt-5")
    await proxy.stream(model="other")
    assert [body["model"] for body in sent(backend)] == ["org/qwen3", "other"]


async def test_key_and_fixed_headers_are_sent_and_the_clients_own_are_not(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """S05."""
    proxy = await start_proxy(backend={"key": "ours", "headers": {"X-Team": "a"}})
    own = {"Authorization": "Bearer theirs", "Cookie": "a=b", "X-Api-Key": "theirs", "X-Custom": "theirs"}
    async with proxy.post({"model": "m", "input": "Hi"}, **own) as response:
        assert response.status == 200
    (asked,) = backend.received
    assert asked.headers["authorization"] == "Bearer ours"
    assert asked.headers["x-team"] == "a"
    assert "theirs" not in repr(asked.headers)


# ── refusals ──


async def test_a_refusal_that_teaches_is_answered_by_one_changed_retry(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(NO_USAGE, REPLY)
    assert names(await proxy.stream())[-2] == "response.completed"
    first, second = sent(backend)
    assert "stream_options" in first
    assert second == {name: value for name, value in first.items() if name != "stream_options"}


async def test_several_lessons_in_one_request(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(NO_USAGE, NO_LENGTH, NO_TEMPERATURE, REPLY)
    found = await proxy.stream(max_output_tokens=100, temperature=0.5)
    assert names(found)[-2] == "response.completed"
    last = sent(backend)[-1]
    assert last["max_completion_tokens"] == 100
    assert "temperature" not in last


async def test_there_are_at_most_three(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LESSONS", 1)
    backend.answers(NO_USAGE, NO_LENGTH, REPLY)
    status, error = await proxy.refused(max_output_tokens=100)
    assert (status, len(backend.received)) == (400, 2)
    assert "max_tokens" in error["message"]


async def test_no_row_is_tried_twice(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(NO_USAGE)
    status, _ = await proxy.refused()
    assert (status, len(backend.received)) == (400, 2)


@pytest.mark.parametrize(("status", "asked"), [(422, 2), (500, 2), (404, 1), (502, 1)])
async def test_only_some_refusals_teach(
    backend: ScriptedBackend, proxy: Proxy, status: int, asked: int
) -> None:
    backend.answers(refusal("Unknown parameter: 'stream_options'.", status), REPLY)
    async with proxy.post({"model": "m", "input": "Hi"}):
        assert len(backend.received) == asked


async def test_what_no_retry_can_cure_comes_with_advice(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(refusal('"auto" tool choice requires --enable-auto-tool-choice'))
    _, error = await proxy.refused()
    assert "start the server with --enable-auto-tool-choice" in error["message"]


async def test_a_refusal_without_end_is_read_only_at_its_beginning(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E7, S28."""
    monkeypatch.setattr(module, "MAX_REFUSAL_BYTES", 100)

    async def endless(line: Line) -> None:
        await line.request()
        line.send(b"HTTP/1.1 400 No\r\nContent-Length: 1000000\r\n\r\n", b"x" * 200)
        await line.closed()

    backend.plays(endless)
    assert (await proxy.refused())[0] == 400


@pytest.mark.parametrize("status", [200, 201, 202])
async def test_any_success_is_one(backend: ScriptedBackend, proxy: Proxy, status: int) -> None:
    backend.answers(REPLY.replace(b" 200 OK", b" %d OK" % status))
    assert names(await proxy.stream())[-2] == "response.completed"


async def test_f21_a_reply_that_cannot_be_unpacked_is_named_and_left(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    left = asyncio.Event()

    async def packs(line: Line) -> None:
        await line.request()
        line.send(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: identity, x-compress\r\nContent-Length: 999\r\n\r\n\x1f\x9d"
        )
        await line.closed()
        left.set()

    backend.plays(packs)
    status, error = await proxy.refused()
    assert (status, error["code"]) == (502, "upstream_protocol_error")
    assert "(x-compress)" in error["message"]
    async with asyncio.timeout(PROMPTLY):
        await left.wait()


# ── refusals that were told as something else ──


async def test_v28_a_validation_error_names_the_field_and_teaches(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """As a server built on FastAPI says it, with 422, and one that prints it with 500."""
    said = "Input should be 'text' or 'json_object'"
    place = {"type": "literal_error", "loc": ["body", "response_format", "type"], "msg": said}
    printed = f"1 validation error for Request\nresponse_format.type\n  {said} [type=literal_error]"
    form = {"type": "json_schema", "name": "form", "schema": {"type": "object", "properties": {}}}
    wrong = answer(422, {"detail": [place | {"loc": ["body", "top_k"], "msg": "Too small"}]})
    backend.answers(
        answer(422, {"detail": [place]}), REPLY, REPLY, refusal(printed, 500), REPLY, REPLY, wrong
    )
    for model in ("a", "a", "b", "b"):
        await proxy.stream(model=model, text={"format": form})
    kinds = [body["response_format"]["type"] for body in sent(backend)]
    assert kinds == ["json_schema", "json_object", "json_object"] * 2
    status, error = await proxy.refused(model="c")
    assert (status, error["param"]) == (422, "top_k")
    assert "Too small" in error["message"]


async def test_v29_a_404_that_is_not_about_the_path_is_told_as_it_is(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(refusal("Only 'text' content type is supported.", 404))
    status, error = await proxy.refused()
    assert (status, error["message"]) == (404, "Only 'text' content type is supported.")


@pytest.mark.parametrize(
    ("settings", "status", "words"),
    [
        ({}, 502, "set backend.key (or PROXY_BACKEND_KEY), or forward_key"),
        ({"forward_key": True}, 401, "this request brought none"),
        ({"key": "ours-0123456789"}, 502, "refused the proxy's access"),
    ],
)
async def test_v30_who_wants_a_key_is_said_to_whoever_can_give_it(
    settings: dict[str, Any], status: int, words: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend=settings)
    backend.answers(refusal("No key.", 401))
    told, error = await proxy.refused()
    assert told == status
    assert words in error["message"]


async def test_v31_what_is_forbidden_is_no_wrong_key(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"key": "ours-0123456789"})
    backend.answers(refusal("Your organisation may not use this model.", 403))
    status, error = await proxy.refused()
    assert (status, error["code"], error["type"]) == (403, "permission_denied", "permission_error")
    assert error["message"] == "Your organisation may not use this model."


TOO_MUCH = refusal(
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
    "64123 tokens: 123 tokens from the input messages and 64000 tokens for the completion."
)

MESSAGE = answer(
    200, {"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}
)


async def test_v34_a_limit_of_ours_is_never_why_a_request_is_refused(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Asked once more with what the window leaves; the next request leaves half of it to the conversation."""
    proxy = await start_proxy(backend={"profile": "anthropic"})
    backend.answers(TOO_MUCH, MESSAGE, MESSAGE, TOO_MUCH)
    for _ in range(2):
        assert names(await proxy.stream())[-2] == "response.completed"
    assert [body["max_tokens"] for body in sent(backend)][1:] == [3973, 2048]
    before = len(backend.received)
    _, error = await proxy.refused(max_output_tokens=64000)
    assert error["code"] == "context_length_exceeded"
    assert len(backend.received) == before + 1, "it is the client's own limit"
