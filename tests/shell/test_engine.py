"""One request from top to bottom, over real sockets: what clients see, and what the log tells afterwards."""

import asyncio
import gzip
import io
import threading
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import aiohttp
import orjson
import pytest

from proxy.core.stream.pipeline import Pipeline
from proxy.core.surfaces.responses.surface import ResponsesSurface
from proxy.shell.http.stream import HttpStream
from proxy.shell.offload.threads import LARGE_BYTES
from tests.support.proxies import Event, Proxy, StartProxy, events, names
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    Line,
    ScriptedBackend,
    answer,
    delta,
    event,
    finish,
    http_chunk,
    reply,
    text,
    usage,
)

WEATHER = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}
CALL = delta(
    tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "get_weather", "arguments": "{}"}}]
)


def final(found: list[Event]) -> dict[str, Any]:
    response: dict[str, Any] = next(
        event.data["response"]
        for event in found
        if event.name in ("response.completed", "response.failed", "response.incomplete")
    )
    return response


# ── the two endings ──


async def test_a_stream(proxy: Proxy) -> None:
    found = await proxy.stream()
    assert names(found) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
        "done",
    ]
    assert final(found)["usage"]["total_tokens"] == 8


async def test_without_streaming_the_answer_is_the_streams_last_object(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    streamed = final(await proxy.stream())
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        whole = await response.json()
    assert whole.keys() == streamed.keys()
    (item,), (streamed_item,) = whole["output"], streamed["output"]
    assert item["content"] == streamed_item["content"]
    assert all(asked.json["stream"] for asked in backend.received)


async def test_a_backend_that_cannot_stream_works_too(backend: ScriptedBackend, proxy: Proxy) -> None:
    """F17."""
    message = {"role": "assistant", "content": "Hello"}
    backend.answers(answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    found = await proxy.stream()
    assert names(found)[-2] == "response.completed"
    assert final(found)["output"][0]["content"][0]["text"] == "Hello"


async def test_a_call_id_that_the_history_has_is_not_given_again(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Some backends count their calls anew in each reply; a client could not tell the results apart."""
    backend.answers(reply(CALL))
    history = [
        {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
    ]
    (call,) = final(await proxy.stream(input=history, tools=[WEATHER]))["output"]
    assert call["call_id"].startswith("call_")
    assert call["call_id"] != "call_1"


async def test_a_reply_is_read_as_its_backends_profile_says(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """`call_identity`: this one invents an id for each fragment, and repeats the name."""
    proxy = await start_proxy(backend={"overrides": {"call_identity": "index"}})
    fragments = [
        delta(
            tool_calls=[
                {"index": 0, "id": f"call_{i}", "function": {"name": "get_weather", "arguments": piece}}
            ]
        )
        for i, piece in enumerate(("{", "}"))
    ]
    backend.answers(reply(*fragments))
    (call,) = final(await proxy.stream(tools=[WEATHER]))["output"]
    assert call["arguments"] == "{}"


async def test_a_connection_is_kept_though_its_body_ends_after_the_last_event(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Most backends send the end by itself, when the client has long been answered."""
    answered = asyncio.Event()

    async def plays(line: Line) -> None:
        while True:
            await line.request()
            line.send(HEAD, text("Hello"), finish(), DONE)
            await answered.wait()
            line.send(END)

    backend.plays(plays)
    for _ in range(2):
        answered.clear()
        await proxy.stream()
        answered.set()
        async with proxy.session.get(f"{proxy.url}/healthz"):
            pass  # by now the proxy has seen the end
    assert backend.connections == 1


# ── who gets which events ──


async def test_a_request_with_tools_gets_the_extended_events(backend: ScriptedBackend, proxy: Proxy) -> None:
    """R04, R05."""
    backend.answers(reply(CALL))
    found = names(await proxy.stream(tools=[WEATHER]))
    assert "response.output_tool_call.begin" in found
    assert found[-2:] == ["response.done", "done"]


async def test_the_configuration_may_forbid_them(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    backend.answers(reply(CALL))
    proxy = await start_proxy(clients={"events": "standard"})
    assert "response.output_tool_call.begin" not in names(await proxy.stream(tools=[WEATHER]))


async def test_a_header_decides_for_its_request(proxy: Proxy) -> None:
    body = {"model": "m", "input": "Hi", "stream": True}
    async with proxy.post(body, **{"X-Proxy-Events": "extended"}) as response:
        assert b"event: response.done" in await response.read()
    async with proxy.post(body, **{"X-Proxy-Events": "all"}) as response:
        assert response.status == 400


@pytest.mark.parametrize(
    ("agent", "breaks"),
    [("ai-sdk-openai/4.0.118", True), ("OpenAI/Python 3.51.0", False), ("curl/8.5.0", False)],
)
async def test_v01_a_chat_stream_breaks_where_its_end_would_make_a_call_of_half_a_one(
    backend: ScriptedBackend, proxy: Proxy, agent: str, breaks: bool
) -> None:
    half = {"index": 0, "id": "call_1", "function": {"name": "get_weather", "arguments": '{"ci'}}
    backend.answers(HEAD + delta(tool_calls=[half]) + END)
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True, "tools": [tool]}
    said = b""
    with pytest.raises(aiohttp.ClientPayloadError) if breaks else nullcontext():
        async with proxy.session.post(
            f"{proxy.url}/v1/chat/completions", json=body, headers={"User-Agent": agent}
        ) as response:
            async for piece in response.content.iter_any():
                said += piece
    assert b'data: {"error":' in said
    assert b"[DONE]" not in said
    assert proxy.log.request["ending"] == "failed"


async def test_v01_nobody_is_told_that_half_a_call_is_done(backend: ScriptedBackend, proxy: Proxy) -> None:
    """It would be run."""
    half = {"index": 0, "id": "call_1", "function": {"name": "get_weather", "arguments": '{"ci'}}
    backend.answers(HEAD + delta(tool_calls=[half]) + finish("length") + DONE + END)
    body = {"model": "m", "input": "Hi", "stream": True, "tools": [WEATHER]}
    for headers in ({}, {"originator": "codex_exec"}):
        async with proxy.post(body, **headers) as response:
            said = await response.read()
        assert b"event: response.output_item.done" not in said
        assert b'"status":"incomplete","call_id":"call_1"' in said  # listed at the end


async def test_the_other_order_of_items(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """R06."""
    backend.answers(reply(CALL))
    proxy = await start_proxy(clients={"item_order": "message_first"})
    added = [
        event.data
        for event in await proxy.stream(tools=[WEATHER])
        if event.name == "response.output_item.added"
    ]
    assert [data["item"]["type"] for data in added] == ["message", "function_call"]


# ── failures before anything was said ──


async def test_a_bad_request_never_reaches_the_backend(backend: ScriptedBackend, proxy: Proxy) -> None:
    status, error = await proxy.refused(
        input=[{"type": "function_call_output", "call_id": "x", "output": "1"}]
    )
    assert (status, error["type"]) == (400, "invalid_request_error")
    assert error["param"].startswith("input[0]")
    assert backend.received == []


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        (answer(429, {"error": {"message": "slow down"}}, Retry_After="7"), 429, "rate_limit_exceeded"),
        (answer(401, {"error": {"message": "bad key"}}), 502, "upstream_auth"),
        (answer(503, b"", Retry_After="1"), 503, "server_is_overloaded"),
        (answer(302, Location="http://elsewhere/"), 502, "upstream_redirect"),
        (answer(200, b"<html>", Content_Type="text/html"), 502, "upstream_invalid_response"),
        (answer(200, {"error": {"message": "boom"}}), 502, "upstream_error"),
        (answer(200, b""), 502, "upstream_empty_reply"),
        (HEAD + event({"error": {"message": "boom"}}) + END, 502, "upstream_error"),
        (HEAD + http_chunk(b": x\n\n") + END, 502, None),
    ],
)
async def test_it_is_a_status_for_streams_as_well(
    backend: ScriptedBackend, proxy: Proxy, stream: bool, said: bytes, status: int, code: str | None
) -> None:
    """E1, F09-F20."""
    backend.answers(said)
    told, error = await proxy.refused(stream=stream)
    assert told == status
    assert code in (None, error["code"])
    assert proxy.log.request["status"] == status


async def test_a_limit_is_passed_on_with_its_time(backend: ScriptedBackend, proxy: Proxy) -> None:
    """F11."""
    backend.answers(answer(429, {"error": {"message": "slow down"}}, Retry_After="7"))
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "7")


async def test_without_streaming_a_broken_reply_is_no_success(backend: ScriptedBackend, proxy: Proxy) -> None:
    """F23."""
    backend.answers(HEAD + text("Hel") + END)
    status, error = await proxy.refused()
    assert (status, error["code"]) == (502, "upstream_stream_truncated")


async def test_nobody_is_there(backend: ScriptedBackend, proxy: Proxy) -> None:
    """F01, and S34: the client is not told where."""
    await backend.stop()
    status, error = await proxy.refused(stream=True)
    assert (status, error["code"]) == (502, "upstream_unreachable")
    assert "127.0.0.1" not in error["message"]
    assert "127.0.0.1" in proxy.log.request["cause"]
    await backend.start()


# ── failures after it ──


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (HEAD + text("Hel") + END, "upstream_stream_truncated"),
        (HEAD + text("Hel") + event({"error": {"message": "boom"}}) + DONE + END, "upstream_error"),
    ],
    ids=["F39 it stops", "F20 it says so"],
)
async def test_it_is_told_in_the_stream(
    backend: ScriptedBackend, proxy: Proxy, said: bytes, code: str
) -> None:
    backend.answers(said)
    found = await proxy.stream()
    assert names(found)[-3:] == ["error", "response.failed", "done"]
    assert final(found)["error"]["code"] == code
    assert final(found)["output"][0]["content"][0]["text"] == "Hel"
    line = proxy.log.request
    assert (line["status"], line["ending"], line["code"]) == (200, "failed", code)


@pytest.mark.parametrize("break_off", [Line.reset, Line.close], ids=["F60", "F61"])
async def test_a_broken_connection_is_told_in_the_stream(
    backend: ScriptedBackend, proxy: Proxy, break_off: Any
) -> None:
    sent = asyncio.Event()

    async def breaks(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await sent.wait()
        break_off(line)

    backend.plays(breaks)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await response.content.readuntil(b"output_text.delta")
        sent.set()
        body = await response.read()
    assert b'"code":"upstream_stream_truncated"' in body
    assert body.endswith(b"data: [DONE]\n\n")


async def test_a_break_after_the_finish_loses_nothing_but_usage(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F42."""

    async def breaks(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hello"), finish())
        line.close()

    backend.plays(breaks)
    found = await proxy.stream()
    assert names(found)[-2] == "response.completed"
    assert final(found)["usage"] is None


async def test_usage_that_does_not_come_is_not_waited_for(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F43."""
    monkeypatch.setattr("proxy.shell.http.exchange.FINISHING_SECONDS", 0.05)

    async def dawdles(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hello"), finish())
        await line.closed()

    backend.plays(dawdles)
    assert names(await proxy.stream())[-2] == "response.completed"


async def test_f45_what_comes_after_a_finish_is_waited_for_like_the_rest(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open WebUI says `stop` beside every thought of a model, which may think for minutes."""
    monkeypatch.setattr("proxy.shell.http.exchange.FINISHING_SECONDS", 0.2)

    async def finishes_all_the_time(line: Line) -> None:
        await line.request()
        line.send(HEAD, delta(reasoning_content="Hm"), finish())
        await time_passes(0.05)
        line.send(delta(reasoning_content="m."), finish())
        await time_passes(0.4)
        line.send(text("Hello"), finish(), DONE, END)

    backend.plays(finishes_all_the_time)
    thought, said = final(await proxy.stream())["output"]
    assert (thought["summary"][0]["text"], said["content"][0]["text"]) == ("Hmm.", "Hello")


async def time_passes(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    later = loop.create_future()
    loop.call_later(seconds, later.set_result, None)
    await later


async def test_an_idle_backend_is_told_in_the_stream(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """F62."""
    proxy = await start_proxy(backend={"idle_seconds": 0.05})

    async def falls_silent(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await line.closed()

    backend.plays(falls_silent)
    assert final(await proxy.stream())["error"]["code"] == "upstream_timeout"


async def test_a_reply_that_has_begun_may_take_its_time(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """The limit on the first byte is over with it."""
    proxy = await start_proxy(backend={"first_byte_seconds": 0.1})
    loop = asyncio.get_running_loop()

    async def takes_its_time(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        later = loop.create_future()
        loop.call_later(0.2, later.set_result, None)
        await later
        line.send(text("lo"), finish(), DONE, END)

    backend.plays(takes_its_time)
    assert names(await proxy.stream())[-2] == "response.completed"


async def test_a_stream_that_opened_early_tells_what_would_have_been_a_status(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """E1: there is no status left to choose."""
    proxy = await start_proxy(server={"patience_seconds": 0.05})
    goes_on = asyncio.Event()

    async def refuses_late(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(answer(429, {"error": {"message": "slow down"}}, Retry_After="7"))

    backend.plays(refuses_late)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await response.content.readuntil(b"response.in_progress")
        goes_on.set()
        body = await response.read()
    assert b"event: response.failed" in body
    assert b"rate_limit_exceeded" in body
    assert b"try again in 7s" in body


# ── failures as Codex must be told ──

CODEX = {"originator": "codex_exec"}


async def told_codex(proxy: Proxy, **body: Any) -> dict[str, Any]:
    """The error of a stream that failed, as the only news in it."""
    async with proxy.post({"model": "m", "input": "Hi", "stream": True} | body, **CODEX) as response:
        assert response.status == 200, await response.text()
        found = events(await response.read())
    assert names(found) == ["response.created", "response.in_progress", "error", "response.failed", "done"]
    error: dict[str, Any] = final(found)["error"]
    return error


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (answer(500, b"oops"), "upstream_error"),
        (answer(503, b""), "slow_down"),
        (answer(429, {"error": {"message": "Slow down."}}), "rate_limit_exceeded"),
        (
            answer(429, {"error": {"message": "No credit.", "code": "insufficient_quota"}}),
            "insufficient_quota",
        ),
        (answer(400, {"error": {"message": "The prompt is too long."}}), "context_length_exceeded"),
        (answer(400, {"error": {"message": "Bad words."}}), "invalid_prompt"),
        (answer(401, b""), "invalid_prompt"),
        (answer(404, {"error": {"message": "The model `m` does not exist."}}), "invalid_prompt"),
    ],
)
async def test_a_refused_stream_tells_codex_in_the_code_whether_to_try_again(
    backend: ScriptedBackend, proxy: Proxy, refusal: bytes, code: str
) -> None:
    """Any status from 500 up is asked again 29 times, and of the others only 400 shows what we say."""
    backend.answers(refusal)
    assert (await told_codex(proxy))["code"] == code
    assert proxy.log.request["client"] == "codex"
    assert proxy.log.request["ending"] == "failed"


async def test_codex_reads_the_delay_of_a_limit_in_its_message(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F11: it has no header to look at."""
    backend.answers(answer(429, {"error": {"message": "Slow down."}}, retry_after="7"))
    assert (await told_codex(proxy))["message"].endswith("try again in 7s.")


async def test_the_log_has_the_code_that_it_was(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(answer(503, b""))
    await told_codex(proxy)
    assert proxy.log.request["code"] == "server_is_overloaded"


async def test_a_spared_backend_is_told_to_codex_too(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker={"consecutive_failures": 1, "open_seconds": 30})
    backend.answers(answer(500, b"oops"))
    await told_codex(proxy)
    assert (await told_codex(proxy))["code"] == "slow_down"
    assert len(backend.received) == 1


async def test_a_request_that_no_backend_can_serve_is_told_to_codex_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """It was understood; what stands in the way is found when it is put into the backend's words."""
    file = {"type": "input_file", "filename": "a.bin", "file_data": "data:application/x-thing;base64,AAAA"}
    asked = [{"role": "user", "content": [file]}]
    error = await told_codex(proxy, input=asked)
    assert error["code"] == "invalid_prompt"
    assert "cannot be read by the backend" in error["message"]
    assert backend.received == []
    assert (await proxy.refused(input=asked, stream=True))[0] == 400


async def test_what_cannot_be_understood_is_a_status_for_codex_as_well(proxy: Proxy) -> None:
    async with proxy.post({"model": "m", "stream": True, "input": 7}, **CODEX) as response:
        assert response.status == 400


async def test_without_streaming_codex_gets_a_status(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(answer(503, b""))
    async with proxy.post({"model": "m", "input": "Hi"}, **CODEX) as response:
        assert response.status == 503
        assert (await response.json())["error"]["code"] == "server_is_overloaded"


async def test_a_refusal_is_shown_by_codex(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(reply(delta(refusal="I won't.")))
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}, **CODEX) as response:
        found = events(await response.read())
    assert final(found)["output"][0]["content"][0]["type"] == "output_text"
    assert not any("refusal" in name for name in names(found))


# ── bugs of our own ──


class Broken(Exception):
    pass


def break_pipeline(monkeypatch: pytest.MonkeyPatch, *methods: str) -> None:
    def fail(self: Pipeline, *_: object) -> None:
        raise Broken("sk-proj-0123456789abcdef")

    for method in methods:
        monkeypatch.setattr(Pipeline, method, fail)


async def test_a_bug_before_the_stream_is_500(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """F80."""
    break_pipeline(monkeypatch, "feed")
    status, error = await proxy.refused(stream=True)
    assert (status, error["code"]) == (500, "server_error")
    assert "Broken" not in error["message"]
    (line,) = proxy.log.named("unhandled_exception")
    assert "Broken" in line["exception"]
    assert "0123456789" not in proxy.log.text
    assert line["request_id"] == proxy.log.request["request_id"]


async def test_a_bug_within_the_stream_is_told_there(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F80: and other streams are unharmed, which the next request shows."""
    break_pipeline(monkeypatch, "feed")
    proxy = await start_proxy(server={"patience_seconds": 0.05})
    goes_on = asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(reply(text("Hello")))

    backend.plays(slow)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await response.content.readuntil(b"response.in_progress")
        goes_on.set()
        assert b"event: response.failed" in await response.read()
    monkeypatch.undo()
    assert names(await proxy.stream())[-2] == "response.completed"


async def test_a_bug_that_cannot_be_told_breaks_the_connection(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Better a visible break than an end that looks clean."""
    break_pipeline(monkeypatch, "feed", "fail")
    proxy = await start_proxy(server={"patience_seconds": 0.05})
    goes_on = asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(reply(text("Hello")))

    backend.plays(slow)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await response.content.readuntil(b"response.in_progress")
        goes_on.set()
        with pytest.raises(aiohttp.ClientError):
            await response.read()
    assert (await proxy.log.wait_for("request"))["status"] == 500


async def test_a_bug_before_the_backend_is_500(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    break_pipeline(monkeypatch, "__init__")
    assert (await proxy.refused())[0] == 500
    assert proxy.log.request["status"] == 500


# ── clients that leave ──


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("said", [b"", HEAD, HEAD + text("Hel")], ids=["nothing", "a head", "a beginning"])
async def test_a_client_that_leaves_takes_the_backends_work_along(
    backend: ScriptedBackend, proxy: Proxy, stream: bool, said: bytes
) -> None:
    """E5, F65, F66: whatever had been said, streaming or not."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(said)
        asked.set()
        await line.closed()
        gone.set()

    backend.plays(plays)
    body = {"model": "m", "input": "Hi", "stream": stream}

    async def ask() -> None:
        async with proxy.post(body) as response:
            await response.read()

    asking = asyncio.get_running_loop().create_task(ask())
    await asked.wait()
    asking.cancel()
    async with asyncio.timeout(1):
        await gone.wait()
    assert (await proxy.log.wait_for("request"))["status"] == 499


TOOL = {"type": "function", "function": WEATHER | {"description": "The weather."}}
ASKED_IN_A_CHAT = {"messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]}
LATER_CALL = {"index": 1, "id": "call_2", "function": {"name": "get_weather", "arguments": "{"}}


@pytest.mark.parametrize(
    ("path", "body", "seen", "calls"),
    [
        ("/v1/responses", {"input": "Hi", "tools": [WEATHER]}, b'"delta":"{"', 2),
        ("/v1/chat/completions", ASKED_IN_A_CHAT, b'"arguments":"{"', 2),
        (
            "/native/v1/chat/completions",
            ASKED_IN_A_CHAT,
            b'"arguments":{}',
            1,
        ),  # a call is told when it is whole
    ],
)
async def test_a_client_that_leaves_pays_for_what_it_has_seen(
    backend: ScriptedBackend,
    start_proxy: StartProxy,
    path: str,
    body: dict[str, Any],
    seen: bytes,
    calls: int,
) -> None:
    """P08, P10: else whoever hangs up at the right time has everything for nothing."""
    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, CALL, usage(7, 2), delta(tool_calls=[LATER_CALL]))
        await line.closed()
        gone.set()

    backend.plays(plays)
    proxy = await start_proxy(limits={"tool_calls_per_minute": calls}, metrics={"open": True})
    asked = {"model": "m", "stream": True, **body}
    async with proxy.session.post(proxy.url + path, json=asked) as response:
        await response.content.readuntil(seen)
    async with asyncio.timeout(1):
        await gone.wait()
    line = await proxy.log.wait_for("request")
    assert (line["status"], line["calls"], line["input_tokens"], line["output_tokens"]) == (499, calls, 7, 2)
    assert "ending" not in line
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        counted = await response.text()
    assert f'tenant_tool_calls_total{{tenant="anybody",worker="0"}} {calls}.0' in counted
    backend.answers(reply(text("Hello")))
    async with proxy.session.post(proxy.url + path, json=asked) as response:
        assert response.headers["x-ratelimit-remaining-tool-calls"] == "0"


async def test_a_client_that_is_found_gone_when_it_is_written_to(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transport may know before anybody was told: that is no bug of ours, nor the backend's failure."""

    async def closing(*_: object) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    monkeypatch.setattr(HttpStream, "_send", closing)
    with pytest.raises(aiohttp.ClientError):
        await proxy.stream()
    assert proxy.log.request["status"] == 499
    assert proxy.log.named("unhandled_exception") == []


async def test_a_client_that_is_found_gone_in_the_middle(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def closing(*_: object) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await line.closed()
        gone.set()

    monkeypatch.setattr(HttpStream, "_send", closing)
    backend.plays(plays)
    with pytest.raises(aiohttp.ClientError):
        await proxy.stream()
    async with asyncio.timeout(1):
        await gone.wait()
    assert proxy.log.request["status"] == 499


# ── the breaker ──


async def test_a_backend_that_keeps_failing_is_spared(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """R12, F08."""
    proxy = await start_proxy(breaker={"consecutive_failures": 2, "open_seconds": 30})
    backend.answers(answer(502, b"oops"))
    for _ in range(2):
        assert (await proxy.refused())[0] == 502
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        assert response.status == 503
        assert response.headers["Retry-After"] == "1"
        assert (await response.json())["error"]["message"] == (
            "The backend 'backend' failed 2 times in a row (last: 502) and is left alone for 1 s more."
        )
    assert len(backend.received) == 2


async def test_a_backend_that_recovers_is_used_again(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker={"consecutive_failures": 1, "open_seconds": 1e-9})
    backend.answers(answer(500, b"oops"), reply(text("Hello")))
    await proxy.refused()
    assert names(await proxy.stream())[-2] == "response.completed"
    assert names(await proxy.stream())[-2] == "response.completed"


async def test_nobody_waits_for_the_end_of_a_probe(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """Its first word is proof enough that the backend is back."""
    proxy = await start_proxy(breaker={"consecutive_failures": 1, "open_seconds": 1e-9})

    async def fails(line: Line) -> None:
        await line.request()
        line.send(answer(500, b"oops"))

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await line.closed()

    async def answers(line: Line) -> None:
        await line.request()
        line.send(reply(text("Hello")))

    backend.plays(fails, begins, answers)
    await proxy.refused()
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as probe:
        await probe.content.readuntil(b"output_text.delta")
        assert names(await proxy.stream())[-2] == "response.completed"


async def test_neither_refusals_nor_clients_that_leave_count_as_failures(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker={"consecutive_failures": 1})

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await line.closed()

    backend.plays(begins)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as left:
        await left.content.readuntil(b"output_text.delta")
    await proxy.log.wait_for("request")
    backend.answers(answer(400, {"error": {"message": "no"}}), answer(429, b""), reply(text("Hello")))
    assert (await proxy.refused())[0] == 400
    assert (await proxy.refused())[0] == 429
    assert names(await proxy.stream())[-2] == "response.completed"


# ── the log line ──


async def test_one_line_tells_one_request(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """V08: also whose it was."""
    proxy = await start_proxy(backend={"models": {"gpt-5": "qwen"}})
    backend.answers(reply(CALL))
    found = await proxy.stream(model="gpt-5", tools=[WEATHER], store=True)
    line = proxy.log.request
    times = {name: line.pop(name) for name in ("ms_first_byte", "ms_first_text", "ms_total")}
    assert 0 <= times["ms_first_byte"] <= times["ms_first_text"] <= times["ms_total"] < 5000
    assert line.pop("bytes_out") > 1000
    assert line.pop("request_id").startswith("req_")
    del line["timestamp"]
    assert line == {
        "level": "info",
        "event": "request",
        "tenant": "anybody",
        "status": 200,
        "client": "default",
        "model": "gpt-5",
        "stream": True,
        "backend_model": "qwen",
        "backend": "backend",
        "profile": "default",
        "response_id": final(found)["id"],
        "calls": 1,
        "ending": "completed",
        "input_tokens": 3,
        "output_tokens": 5,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
        "dropped": {"store": 1},
    }


async def test_r08_a_call_in_the_text_is_a_call_and_the_log_says_so(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    said = text('<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>')
    backend.answers(reply(said), reply(said))
    (call,) = final(await proxy.stream(tools=[WEATHER]))["output"]
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "get_weather", "{}")
    assert proxy.log.request["markup"] == {"recovered:hermes": 1}
    (message,) = final(await proxy.stream())["output"]
    assert message["type"] == "message"


async def test_what_was_strange_is_counted(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(HEAD + text("Hello") + finish() + usage() + DONE + text("more") + END)
    await proxy.stream()
    backend.answers(HEAD + text("Hello") + event({"choices": 3}) + finish() + usage() + DONE + END)
    await proxy.stream()
    assert any(line.get("oddities") for line in proxy.log.named("request"))


async def test_neither_content_nor_keys_are_logged(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """S06, at the level that says most."""
    proxy = await start_proxy(backend={"key": "canary-key-0123"}, logs={"level": "debug"})
    backend.answers(reply(text("canary-answer"), CALL))
    await proxy.stream(input="canary-prompt", instructions="canary-instructions", tools=[WEATHER])
    await proxy.refused(input=[{"role": "canary"}])
    assert len(proxy.log.named("request")) == 2
    assert len(proxy.log.lines) > 2
    assert "canary-" not in proxy.log.text


# ── very large requests ──


@pytest.fixture
def aside(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each request that was read: was it in another thread?"""
    threads: list[bool] = []
    read = ResponsesSurface.read

    def noting(*said: Any) -> Any:
        threads.append(threading.current_thread() is not threading.main_thread())
        return read(*said)

    monkeypatch.setattr(ResponsesSurface, "read", noting)
    return threads


VERY_MUCH = orjson.dumps({"model": "m", "input": "Hi" * LARGE_BYTES})


async def in_chunks() -> AsyncIterator[bytes]:
    yield VERY_MUCH


@pytest.mark.parametrize(
    ("data", "coding", "large"),
    [
        (orjson.dumps({"model": "m", "input": "Hi"}), "identity", False),
        (VERY_MUCH, "identity", True),
        (in_chunks, "identity", True),
        (gzip.compress(VERY_MUCH), "gzip", True),
    ],
    ids=["little", "much", "much in chunks", "much in little"],
)
async def test_f79_who_sends_very_much_waits_beside_the_others(
    proxy: Proxy, aside: list[bool], data: Any, coding: str, large: bool
) -> None:
    """It is understood in another thread, however it came, and the answer is the same."""
    body = io.BytesIO(data) if isinstance(data, bytes) else data()
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=body, headers=headers) as response:
        assert response.status == 200, await response.text()
    assert aside == [large]


async def test_f79_so_does_who_sends_it_over_a_websocket(proxy: Proxy, aside: list[bool]) -> None:
    async with proxy.session.ws_connect(f"{proxy.url}/v1/responses") as socket:
        await socket.send_str('{"type": "response.create",' + VERY_MUCH[1:].decode())
        assert (await socket.receive_json())["type"] == "response.created"
    assert aside == [True]
