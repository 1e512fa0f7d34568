"""One request from top to bottom, over real sockets: what clients see, and what the log tells afterwards."""

import asyncio
from contextlib import nullcontext

import aiohttp
import pytest

from tests.support.proxies import Proxy, StartProxy, final, names
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
    reply,
    text,
    usage,
)
from tests.support.weather import CALL, WEATHER

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
        "stored": True,
        "calls": 1,
        "ending": "completed",
        "input_tokens": 3,
        "output_tokens": 5,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
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


async def test_the_log_line_of_a_refusal_names_the_model(proxy: Proxy) -> None:
    status, _ = await proxy.refused(model="gpt-5", tools=[{"type": "function", "name": "f", "parameters": 7}])
    assert (status, proxy.log.request["model"]) == (400, "gpt-5")


async def test_what_is_no_name_of_a_model_is_not_logged(proxy: Proxy) -> None:
    """It may be a prompt in the wrong field."""
    await proxy.refused(model="tell me a secret", tools=7)
    assert proxy.log.request["model"] == "*"
