"""A turn over a socket that fails: one refusal while nothing was said, one ending afterwards."""

import asyncio
from typing import Any

import pytest
from aiohttp import WSCloseCode, WSMsgType, web

from proxy.core.stream.pipeline import Pipeline
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    event,
    finish,
    reply,
    text,
)
from tests.support.websockets import ENDINGS, Talk, talking, waits

# ── failures ──


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        (answer(429, {"error": {"message": "slow down"}}, Retry_After="7"), 429, "rate_limit_exceeded"),
        (answer(200, b""), 502, "upstream_empty_reply"),
    ],
)
async def test_while_nothing_was_said_a_failure_is_one_refusal(
    backend: ScriptedBackend, talk: Talk, said: bytes, status: int, code: str
) -> None:
    backend.answers(said, reply(text("Hello")))
    assert await talk.refused() == (status, code)
    assert (await talk.turn())["status"] == "completed"


@pytest.mark.parametrize(
    "said",
    [HEAD + text("Hel") + END, HEAD + text("Hel") + event({"error": {"message": "boom"}}) + DONE + END],
    ids=["it stops", "it says so"],
)
async def test_afterwards_it_is_one_ending(backend: ScriptedBackend, talk: Talk, said: bytes) -> None:
    """Neither an `error` before it nor anything after it: both would be read as a turn of their own."""
    backend.answers(said, reply(text("Hello")))
    await talk.ask()
    found = await talk.heard()
    assert found[-1]["type"] == "response.failed"
    assert "error" not in {said["type"] for said in found}
    assert (await talk.turn())["status"] == "completed"


async def test_what_is_no_message_is_refused_in_its_place(backend: ScriptedBackend, talk: Talk) -> None:
    """Not in the middle of a turn, which would seem to end."""
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    await talk.ask()
    await talk.until("response.output_text.delta")
    await talk.socket.send_str("{")
    await talk.socket.send_bytes(b'{"type":"response.create"}')
    await talk.socket.send_json({"type": "session.update"})
    goes_on.set()
    assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"
    codes = [(await talk.next())["error"]["code"] for _ in range(3)]
    assert codes == ["invalid_json", "invalid_message", "unknown_message_type"]
    assert (await talk.turn())["status"] == "completed"


@pytest.mark.parametrize("lane", [{}, {"stream_id": "b"}])
async def test_what_is_to_steer_an_answer_comes_back_behind_it(
    backend: ScriptedBackend, proxy: Proxy, talk: Talk, lane: dict[str, str]
) -> None:
    """As the API says it where steering is not supported. An `error` would be taken for the end of the next turn."""
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    await talk.ask(**lane)
    begun = await talk.until("response.output_text.delta")
    steer = {
        "previous_response_id": begun[0]["response"]["id"],
        "input": [{"role": "user", "content": "Be brief."}],
    }
    await talk.socket.send_json({"type": "response.steer"} | steer)
    goes_on.set()
    assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"
    failed = await talk.next()
    error = failed.pop("error")
    assert failed == {"type": "response.steer.failed", "sequence_number": 0, "steer": steer} | lane
    assert (error["type"], error["code"]) == ("invalid_request_error", "steering_not_supported")
    assert (await talk.turn(**lane, previous_response_id=steer["previous_response_id"]))[
        "status"
    ] == "completed"
    assert "Be brief" not in proxy.log.text


async def test_a_bug_of_ours_is_a_refusal_and_its_traceback_stays_here(
    proxy: Proxy, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F80."""
    monkeypatch.setattr(Pipeline, "feed", lambda *_: 1 / 0)
    assert await talk.refused() == (500, "server_error")
    assert "ZeroDivisionError" in proxy.log.named("unhandled_exception")[0]["exception"]
    monkeypatch.undo()
    assert (await talk.turn())["status"] == "completed"


async def test_one_that_cannot_be_told_breaks_the_connection(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Better a visible break than a turn that never ends."""
    for method in ("feed", "fail"):
        monkeypatch.setattr(Pipeline, method, lambda *_: 1 / 0)
    proxy = await start_proxy(server={"patience_seconds": 0.05})
    goes_on = asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(reply(text("Hello")))

    backend.plays(slow)
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.in_progress")
        goes_on.set()
        assert (await talk.socket.receive(PROMPTLY)).type is WSMsgType.CLOSED
        assert talk.socket.close_code == WSCloseCode.ABNORMAL_CLOSURE
    await proxy.log.wait_for("websocket")


async def test_messages_keep_their_order_though_a_timer_sends_some_of_them(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones repeat all tools: a slow client takes its time for them."""
    proxy = await start_proxy(server={"patience_seconds": 0.02})
    goes_on, dawdling = asyncio.Event(), asyncio.Event()
    send_frame = web.WebSocketResponse.send_frame

    async def dawdle(self: Any, message: bytes, *more: Any) -> None:
        if b'"response.created"' in message:
            goes_on.set()
            await dawdling.wait()
        await send_frame(self, message, *more)

    async def plays(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(HEAD, text("Hel"))
        asyncio.get_running_loop().call_later(0.05, dawdling.set)
        await dawdling.wait()
        line.send(text("lo"), finish(), DONE, END)

    monkeypatch.setattr(web.WebSocketResponse, "send_frame", dawdle)
    backend.plays(plays)
    async with talking(proxy.url) as talk:
        await talk.ask()
        assert (await talk.heard())[-1]["type"] == "response.completed"


async def test_a_pause_in_a_turn_is_not_taken_for_a_client_that_does_not_read(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.http.connection.STALLED_SECONDS", 0.1)
    proxy = await start_proxy(server={"patience_seconds": 0.02, "heartbeat_seconds": 0.02})
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.output_text.delta")
        asyncio.get_running_loop().call_later(0.3, goes_on.set)
        assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"


async def test_a_turn_opens_early_when_the_backend_takes_its_time(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(server={"patience_seconds": 0.05})
    goes_on = asyncio.Event()

    async def refuses_late(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(answer(429, {"error": {"message": "slow down"}}))

    backend.plays(refuses_late)
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.in_progress")
        goes_on.set()
        (failed,) = await talk.until(*ENDINGS)
    assert (failed["type"], failed["sequence_number"]) == ("response.failed", 2)
    assert failed["response"]["error"]["code"] == "rate_limit_exceeded"
