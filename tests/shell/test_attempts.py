"""E6: what follows a failed attempt, over real sockets: the same backend again, or nothing."""

import asyncio
from typing import Any

import aiohttp
import pytest

from proxy import app
from proxy.core.policy.retry import RESERVE
from proxy.settings.root import Settings
from proxy.shell.attempts import BACKEND_HEADER
from proxy.shell.ops.logs import make_log
from tests.support.chat_streams import fold, read_chat_stream
from tests.support.outcomes import black_hole
from tests.support.proxies import LogLines, Proxy, StartProxy
from tests.support.replies import TERMINAL, read_stream
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    event,
    http_chunk,
    text,
)
from tests.support.two_backends import (
    ASKED,
    BUSY,
    HELLO,
    NO_BREAKER,
    SOON,
    STREAMED,
    StartBoth,
    said,
    status_of,
    strictly_read,
)

# ── the same backend again ──


@pytest.mark.parametrize("stream", [True, False])
async def test_f01_a_backend_that_is_being_restarted_is_asked_again(
    backend: ScriptedBackend, start_proxy: StartProxy, stream: bool
) -> None:
    proxy = await start_proxy(retries={"attempts": 5})
    port = int(backend.root.rpartition(":")[2])
    await backend.stop()
    asking = asyncio.get_running_loop().create_task(status_of(proxy, stream=stream))
    line = await proxy.log.wait_for("backend_retry")
    assert (line["backend"], line["code"]) == ("backend", "upstream_unreachable")
    assert str(port) in line["cause"]
    await backend.start(port)
    assert await asking == 200
    assert proxy.log.request["attempts"] >= 2


async def test_a_client_sees_one_reply(backend: ScriptedBackend, proxy: Proxy) -> None:
    """E2: one id, one `response.created`, gapless numbers."""
    backend.answers(BUSY, HELLO)
    events = await strictly_read(proxy)
    assert [event["type"] for event in events].count("response.created") == 1
    assert events[-1]["type"] == "response.completed"
    assert len(backend.received) == 2


async def test_it_is_asked_the_same(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(BUSY, HELLO)
    await said(proxy)
    first, second = backend.received
    assert first.body == second.body


async def test_f11_it_is_left_alone_for_as_long_as_it_wants(backend: ScriptedBackend, proxy: Proxy) -> None:
    asked_at: list[float] = []

    async def plays(line: Line) -> None:
        for then in (answer(429, b"", retry_after_ms="200"), HELLO):
            await line.request()
            asked_at.append(asyncio.get_running_loop().time())
            line.send(then)

    backend.plays(plays)
    assert await said(proxy) == "Hello"
    assert asked_at[1] - asked_at[0] >= 0.2


@pytest.mark.parametrize("status", [429, 503])
async def test_f11_if_that_is_too_long_the_client_is_told_instead(
    backend: ScriptedBackend, proxy: Proxy, status: int
) -> None:
    backend.answers(answer(status, b"", retry_after="30"), HELLO)
    async with proxy.post(ASKED) as response:
        assert (response.status, response.headers["Retry-After"]) == (status, "30")
        assert "X-Should-Retry" not in response.headers
    assert len(backend.received) == 1


async def test_a_client_that_asks_again_by_itself_is_left_to_it(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Codex does so up to thirty times: twice as often would tell it of the breaker instead of the reason."""
    backend.answers(BUSY)
    async with proxy.post(STREAMED, originator="codex_exec") as response:
        assert b"slow_down" in await response.read()
    assert len(backend.received) == 1


async def test_it_is_not_asked_for_ever(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(BUSY)
    assert await status_of(proxy) == 503
    assert len(backend.received) == 2


MISCALLED = b'{"error": {"message": "No call.", "type": "invalid_request_error", "code": "tool_use_failed"}}'
"""Groq's words for what its model has written."""


@pytest.mark.parametrize(
    "failed",
    [answer(400, MISCALLED), HEAD + http_chunk(b"data: %b\n\n" % MISCALLED) + END],
    ids=["refusal", "stream"],
)
async def test_a_call_that_its_own_server_cannot_read_is_asked_for_once_more(
    backend: ScriptedBackend, proxy: Proxy, failed: bytes
) -> None:
    backend.answers(failed, HELLO)
    assert await said(proxy) == "Hello"
    assert len(backend.received) == 2


async def test_if_that_fails_too_it_is_no_mistake_of_the_client(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(answer(400, MISCALLED))
    async with proxy.post(ASKED) as response:
        error = (await response.json())["error"]
    assert (response.status, error["code"], error["message"]) == (502, "tool_use_failed", "No call.")
    assert len(backend.received) == 2


async def test_f12_what_may_have_been_done_is_done_again_only_if_that_is_wanted(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    for wanted, status, asked in ((False, 502, 1), (True, 200, 2)):
        backend.received.clear()
        backend.answers(answer(500, b"oops"), HELLO)
        proxy = await start_proxy(retries={"after_errors": wanted})
        assert await status_of(proxy) == status
        assert len(backend.received) == asked


async def test_f20_an_error_in_place_of_the_first_word_is_one_before_it(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(HEAD + event({"error": {"message": "boom"}}) + END, HELLO)
    proxy = await start_proxy(retries={"after_errors": True})
    assert (await strictly_read(proxy))[-1]["type"] == "response.completed"


@pytest.mark.parametrize("said_before", [b"", HEAD, HEAD + http_chunk(b": ping\n\n")])
async def test_f05_who_took_the_request_and_fell_silent_is_never_asked_again_nor_replaced(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth, said_before: bytes
) -> None:
    """It may be at work. Whether or not the client's stream has opened meanwhile."""
    proxy = await start_both(
        backend={"first_byte_seconds": 0.1}, retries={"after_errors": True, "attempts": 5}, server=SOON
    )

    async def silent(line: Line) -> None:
        await line.request()
        line.send(said_before)
        await line.closed()

    backend.plays(silent)
    assert await status_of(proxy) == 504
    assert (await strictly_read(proxy))[-1]["response"]["error"]["code"] == "upstream_timeout"
    assert (len(backend.received), other.received) == (2, [])


async def test_f60_nothing_is_tried_again_after_the_first_word(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both(retries={"after_errors": True, "attempts": 5})
    backend.answers(HEAD + text("Hel") + event({"error": {"message": "boom"}}) + DONE + END)
    async with proxy.post(STREAMED) as response:
        assert b"event: response.failed" in await response.read()
    assert await status_of(proxy) == 502
    assert (len(backend.received), other.received) == (2, [])


class Opened:
    """A backend that refuses when its client's stream has opened already: patience has ended, headers and
    `response.created` have left. But nothing of a reply has."""

    def __init__(self, backend: ScriptedBackend, *then: bytes) -> None:
        self.goes_on = asyncio.Event()
        self._then = list(then)
        backend.plays(self._plays)

    async def _plays(self, line: Line) -> None:
        await line.request()
        await self.goes_on.wait()
        line.send(BUSY)
        for then in self._then:
            await line.request()
            line.send(then)

    async def met_by(self, asked: Any) -> tuple[aiohttp.ClientResponse, bytes]:
        """All that a client gets who sees its stream open, and only then the backend refuses."""
        async with asked as response:
            said = await response.content.readuntil(b"response.in_progress")
            self.goes_on.set()
            return response, said + await response.read()


async def test_r6_a_stream_that_has_merely_opened_binds_nobody(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    """The client has its first byte, but it depends on no backend: another one may make the reply."""
    proxy = await start_both(server=SOON, retries={"attempts": 1})
    response, said = await Opened(backend).met_by(proxy.post(STREAMED))
    events = read_stream(said)
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "There"
    assert (len(backend.received), len(other.received)) == (1, 1)
    line = proxy.log.request
    assert (line["backend"], line["attempts"]) == ("there", 2)
    assert BACKEND_HEADER not in response.headers, "nobody knew yet who would answer"


async def test_r6_nor_does_it_keep_the_same_backend_from_being_asked_again(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(server=SOON)
    _, said = await Opened(backend, HELLO).met_by(proxy.post(STREAMED))
    assert read_stream(said)[-1]["type"] == "response.completed"
    assert len(backend.received) == 2


async def test_nor_if_it_opens_during_the_pause(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server=SOON)
    backend.answers(answer(503, b"", retry_after_ms="300"), HELLO)
    assert (await strictly_read(proxy))[-1]["type"] == "response.completed"
    assert len(backend.received) == 2


async def test_when_all_fail_an_opened_stream_tells_it_once(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    """E2: and of the last one."""
    proxy = await start_both(server=SOON)
    other.answers(answer(429, b"", retry_after="7"))
    _, said = await Opened(backend, BUSY).met_by(proxy.post(STREAMED))
    assert read_stream(said)[-1]["response"]["error"]["code"] == "rate_limit_exceeded"
    assert (len(backend.received), len(other.received)) == (2, 1)


async def test_signs_of_life_bind_nobody_either(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    """Codex gets events for them: the numbers go on from there, through all attempts."""
    proxy = await start_both(server=SOON | {"heartbeat_seconds": 0.02})
    opened = Opened(backend)
    async with proxy.post(STREAMED, originator="codex_exec") as response:
        said = b""
        while said.count(b"event: response.in_progress") < 3:
            said += await response.content.readany()
        opened.goes_on.set()
        events = read_stream(said + await response.read())
    assert [event["type"] for event in events].count("response.created") == 1
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "There"


async def test_on_other_surfaces_it_is_the_same(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    """C01, E6: one role, one id."""
    proxy = await start_both(server=SOON, retries={"attempts": 1})
    opened = Opened(backend)
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    async with proxy.session.post(f"{proxy.url}/v1/chat/completions", json=body) as response:
        said = await response.content.readuntil(b"\n\n")
        opened.goes_on.set()
        chunks = read_chat_stream(said + await response.read())
    assert fold(chunks)["choices"][0]["message"]["content"] == "There"


async def test_on_a_socket_too(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both(server=SOON, retries={"attempts": 1})
    opened = Opened(backend)
    async with proxy.session.ws_connect(f"{proxy.url}/v1/responses") as socket:
        await socket.send_json({"type": "response.create"} | ASKED)
        said = [await socket.receive_json(timeout=PROMPTLY)]
        opened.goes_on.set()
        while said[-1]["type"] not in TERMINAL:
            said.append(await socket.receive_json(timeout=PROMPTLY))
    assert [event["sequence_number"] for event in said] == list(range(len(said)))
    assert [event["type"] for event in said].count("response.created") == 1
    assert said[-1]["response"]["output"][0]["content"][0]["text"] == "There"


async def test_f04_a_black_hole_is_passed_over_while_the_client_watches(
    other: ScriptedBackend, start_both: StartBoth
) -> None:
    """It takes longer to give it up than any client is left without a word."""
    with black_hole() as url:
        proxy = await start_both(server=SOON, backend={"url": url, "connect_seconds": 0.2})
        async with asyncio.timeout(PROMPTLY):
            events = await strictly_read(proxy)
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "There"
    (over,) = proxy.log.named("backend_fallback")
    assert (over["backend"], over["code"]) == ("backend", "upstream_timeout")
    assert proxy.log.request["ms_total"] >= 200


async def test_f81_a_storm_of_retries_adds_a_fifth_and_no_more(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker=NO_BREAKER, retries={"attempts": 5})
    backend.answers(BUSY)
    requests = 50
    assert set(await asyncio.gather(*(status_of(proxy) for _ in range(requests)))) == {503}
    assert requests + RESERVE < len(backend.received) <= 1.2 * requests + RESERVE


async def test_f74_a_pause_does_not_outlast_the_proxy(backend: ScriptedBackend) -> None:
    """What the client is told then is how the attempt failed."""
    backend.answers(answer(503, b"", retry_after="30"))
    settings = Settings.model_validate(
        {
            "server": {"port": 0, "grace_seconds": 0},
            "backend": {"url": backend.url, "profile": "default"},
            "retries": {"longest_wait_seconds": 60},
        }
    )
    log = LogLines()
    async with aiohttp.ClientSession() as session:
        async with app.running(settings, make_log("info", "json", stream=log.stream)) as url:
            proxy = Proxy(url, log, session)
            asking = asyncio.get_running_loop().create_task(proxy.refused())
            await log.wait_for("backend_retry")
        status, error = await asking
    assert (status, error["code"]) == (503, "server_is_overloaded")
