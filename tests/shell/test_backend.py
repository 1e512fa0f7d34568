"""How requests are put to the backend, and what its refusals teach (chat-backends 3.3)."""

import asyncio
from typing import Any

import pytest

from proxy.shell import backend as module
from tests.support.proxies import Proxy, StartProxy, names
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    finish,
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


async def test_the_quirks_of_a_models_name_apply(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    history = [
        {"type": "function_call", "call_id": "call_0123456789", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_0123456789", "output": "1"},
    ]
    await proxy.stream(model="mistral-small", input=history)
    (body,) = sent(backend)
    assert len(body["messages"][-1]["tool_call_id"]) == 9


async def test_a_backend_that_is_recognised_later_is_treated_anew(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.discovery.ASK_AGAIN_SECONDS", 0)
    proxy = await start_proxy(backend={"profile": "auto"})
    pages = {"/v1/chat/completions": REPLY}

    async def plays(line: Line) -> None:
        while True:
            page = pages.get((await line.request()).path)
            if page is None:
                line.reset()
                return
            line.send(page)

    backend.plays(plays)
    await proxy.stream()
    pages["/v1/models"] = answer(200, {"data": [{"id": "m", "owned_by": "vllm"}]})
    await proxy.stream()
    assert [line["profile"] for line in proxy.log.named("request")] == ["default", "vllm"]


# ── refusals ──


async def test_a_refusal_that_teaches_is_answered_by_one_changed_retry(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(NO_USAGE, REPLY)
    assert names(await proxy.stream())[-2] == "response.completed"
    first, second = sent(backend)
    assert "stream_options" in first
    assert second == {name: value for name, value in first.items() if name != "stream_options"}


async def test_a_lesson_is_remembered_for_its_model_and_logged_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(NO_USAGE, REPLY)
    for model in ("a", "a", "b"):
        await proxy.stream(model=model)
    assert ["stream_options" in body for body in sent(backend)] == [True, False, False, True]
    (line,) = proxy.log.named("refusal_learned")
    assert line["model"] == "a"
    assert len(line["lessons"]) == 1


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


async def test_a_lesson_that_did_not_help_is_forgotten(backend: ScriptedBackend, proxy: Proxy) -> None:
    """It may have been a misunderstanding."""
    backend.answers(NO_USAGE, refusal("Something else is wrong."), REPLY)
    await proxy.refused()
    await proxy.stream()
    assert "stream_options" in sent(backend)[-1]
    assert proxy.log.named("refusal_learned") == []


async def test_what_is_remembered_is_bounded(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E7: the names of models come from clients."""
    monkeypatch.setattr(module, "MAX_KNOWN", 1)
    backend.answers(NO_USAGE, REPLY, NO_USAGE, REPLY, REPLY)
    for model in ("a", "b", "a"):
        await proxy.stream(model=model)
    assert ["stream_options" in body for body in sent(backend)] == [True, False, True, False, True]


async def test_what_was_learned_with_one_clients_key_is_kept_without_it(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """S05."""
    proxy = await start_proxy(backend={"key": None, "forward_key": True})
    backend.answers(NO_USAGE, REPLY)
    for headers in ({"Authorization": "Bearer one"}, {"Authorization": "Bearer other"}, {}):
        async with proxy.post({"model": "m", "input": "Hi"}, **headers) as response:
            assert response.status == 200
    keys = [request.headers.get("authorization") for request in backend.received]
    assert keys == ["Bearer one", "Bearer one", "Bearer other", None]
    assert ["stream_options" in body for body in sent(backend)] == [True, False, False, False]


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


# ── replies ──

OPENED = reply(text("Hm."), text("</think>\n\nHello"))


async def told(proxy: Proxy, **body: Any) -> list[str]:
    """The kinds of items of a streamed answer."""
    last = (await proxy.stream(**body))[-2].data["response"]
    return [item["type"] for item in last["output"]]


async def test_v25_what_a_reply_shows_is_remembered_for_its_model_and_logged_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(OPENED)
    seen = [await told(proxy, model=model) for model in ("a", "a", "a", "b")]
    assert seen == [["message"], ["reasoning", "message"], ["reasoning", "message"], ["message"]]
    of_a, of_b = proxy.log.named("reply_learned")
    assert (of_a["model"], of_a["fields"], of_a["minutes"]) == ("a", {"thoughts_until": "</think>"}, 10)
    assert of_b["model"] == "b"
    oddities = [line.get("oddities") for line in proxy.log.named("request")]
    assert oddities == [{"thought_unopened": 1}, None, None, {"thought_unopened": 1}]
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        assert 'oddities_total{what="thought_unopened",worker="0"} 2.0' in await response.text()


async def test_v25_a_lesson_that_anybody_can_give_harms_nobody_for_long(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Whoever asks a model to write the tag teaches it. The next answer comes whole, and the one after it as ever."""
    plain = reply(text("Hel"), text("lo"))
    backend.answers(OPENED, plain)
    assert await told(proxy) == ["message"]
    events = await proxy.stream()
    assert [event.data["text"] for event in events if event.name == "response.output_text.done"] == ["Hello"]
    assert await told(proxy) == ["message"]
    _, undone = proxy.log.named("reply_learned")
    assert undone["fields"] == {"thoughts_until": None}
    assert proxy.log.named("request")[1]["oddities"] == {"thought_taken_back": 1}


@pytest.mark.parametrize(
    ("set_by_hand", "kinds"), [("</think>", ["reasoning", "message"]), ("", ["message"])]
)
async def test_v25_what_is_set_by_hand_stays(
    set_by_hand: str, kinds: list[str], backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"overrides": {"thoughts_until": set_by_hand}})
    backend.answers(OPENED, reply(text("Hello")), OPENED)
    assert [await told(proxy), await told(proxy), await told(proxy)][::2] == [kinds, kinds]
    assert proxy.log.named("reply_learned") == []


async def test_v25_what_a_cut_reply_shows_counts_and_what_it_does_not_show_does_not(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    cut = b"".join((HEAD, text("Hm."), finish("length"), DONE, END))
    backend.answers(OPENED, cut, OPENED)
    assert [await told(proxy) for _ in range(3)] == [["message"], ["reasoning"], ["reasoning", "message"]]
    assert len(proxy.log.named("reply_learned")) == 1


async def test_v25_a_model_that_is_no_longer_known_learns_nothing(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reply may take longer than it is remembered."""
    monkeypatch.setattr(module, "MAX_KNOWN", 1)
    backend.answers(OPENED)
    assert await asyncio.gather(told(proxy, model="a"), told(proxy, model="b")) == [["message"]] * 2
    assert len(proxy.log.named("reply_learned")) == 1


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
