"""What clients are told over real sockets when a request, a backend or the proxy itself fails."""

import asyncio
import gc
from typing import Any

import aiohttp
import pytest

from proxy.core.errors import Fault
from proxy.core.stream.pipeline import Pipeline
from proxy.shell.in_flight import InFlight
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
    http_chunk,
    reply,
    silent_after_hello,
    text,
)

# ── failures before anything was said ──


async def test_a_bad_request_never_reaches_the_backend(backend: ScriptedBackend, proxy: Proxy) -> None:
    status, error = await proxy.refused(
        input=[{"type": "function_call_output", "call_id": "x", "output": "1"}]
    )
    assert (status, error["type"]) == (400, "invalid_request_error")
    assert error["param"] == "input"
    assert "call_id x" in error["message"]
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

    backend.plays(silent_after_hello)
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

    async def answers(line: Line) -> None:
        await line.request()
        line.send(reply(text("Hello")))

    backend.plays(fails, silent_after_hello, answers)
    await proxy.refused()
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as probe:
        await probe.content.readuntil(b"output_text.delta")
        assert names(await proxy.stream())[-2] == "response.completed"


async def test_neither_refusals_nor_clients_that_leave_count_as_failures(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker={"consecutive_failures": 1})

    backend.plays(silent_after_hello)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as left:
        await left.content.readuntil(b"output_text.delta")
    await proxy.log.wait_for("request")
    backend.answers(answer(400, {"error": {"message": "no"}}), answer(429, b""), reply(text("Hello")))
    assert (await proxy.refused())[0] == 400
    assert (await proxy.refused())[0] == 429
    assert names(await proxy.stream())[-2] == "response.completed"


# ── what is left of them ──


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "said",
    [
        answer(400, {"error": {"message": "no"}}),
        answer(503, b"", Retry_After="1"),
        HEAD + delta(content="Hi") + END,
        HEAD + event({"error": {"message": "boom"}}) + END,
    ],
    ids=["refused", "busy", "cut", "failed"],
)
async def test_nothing_is_left_for_the_collector(
    backend: ScriptedBackend, start_proxy: StartProxy, stream: bool, said: bytes
) -> None:
    """A request that hangs in a circle lives until all objects of the process are looked at, for tens of ms."""
    backend.answers(said)
    proxy = await start_proxy(inspector={"enabled": False})

    async def ask() -> None:
        async with proxy.post({"model": "m", "input": "Hi", "stream": stream}) as response:
            await response.read()

    def alive() -> list[object]:
        return [kept for kept in gc.get_objects() if isinstance(kept, Fault | InFlight)]

    await ask()
    gc.collect()
    before = alive()
    gc.disable()
    try:
        await ask()
        await proxy.log.wait_for("request", times=2)
        assert len(alive()) == len(before)
    finally:
        gc.enable()
