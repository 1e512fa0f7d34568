"""E6: what follows a failed attempt, over real sockets: the same backend again, another one, or nothing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from proxy import app
from proxy.core.policy.retry import RESERVE
from proxy.settings import Settings
from proxy.shell.attempts import BACKEND_HEADER
from proxy.shell.ops.logs import make_log
from tests.scripted import anthropic
from tests.scripted.say import Say
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
    finish,
    http_chunk,
    reply,
    scripted,
    text,
)

HELLO = reply(text("Hello"))
ASKED = {"model": "m", "input": "Hi"}
STREAMED = ASKED | {"stream": True}

BUSY = answer(529, b"")
AT_ONCE = {"retry_after_ms": "1"}
SOON = {"patience_seconds": 0.02}
NO_BREAKER = {"consecutive_failures": 1000, "minimum_requests": 1000}


@pytest.fixture
async def other() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        backend.answers(reply(text("There")))
        yield backend


StartBoth = Callable[..., Awaitable[Proxy]]


@pytest.fixture
def start_both(start_proxy: StartProxy, other: ScriptedBackend) -> StartBoth:
    """A proxy whose first backend has a second in its place; `there` are settings of that one."""

    async def start(there: dict[str, Any] | None = None, **sections: Any) -> Proxy:
        second = {"url": other.url, "profile": "default"} | (there or {})
        routing = {"fallbacks": {"*": ["there/spare"]}}
        return await start_proxy(backends={"there": second}, routing=routing, **sections)

    return start


async def said(proxy: Proxy, **headers: str) -> str:
    async with proxy.post(ASKED, **headers) as response:
        assert response.status == 200, await response.text()
        words: str = (await response.json())["output"][0]["content"][0]["text"]
        return words


async def status_of(proxy: Proxy, **body: Any) -> int:
    async with proxy.post(ASKED | body) as response:
        await response.read()
        status: int = response.status
        return status


async def strictly_read(proxy: Proxy) -> list[dict[str, Any]]:
    async with proxy.post(STREAMED) as response:
        assert response.status == 200, await response.text()
        return read_stream(await response.read())


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
        for said in (answer(429, b"", retry_after_ms="200"), HELLO):
            await line.request()
            asked_at.append(asyncio.get_running_loop().time())
            line.send(said)

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
        for said in self._then:
            await line.request()
            line.send(said)

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


# ── another one ──


async def gone(backend: ScriptedBackend) -> None:
    await backend.stop()


def answering(*replies: bytes) -> Callable[[ScriptedBackend], Awaitable[None]]:
    async def answers(backend: ScriptedBackend) -> None:
        backend.answers(*replies)

    return answers


async def hangs_up(backend: ScriptedBackend) -> None:
    async def plays(line: Line) -> None:
        await line.request()
        line.close()

    backend.plays(plays)


@pytest.mark.parametrize(
    "failing",
    [
        gone,
        hangs_up,
        answering(BUSY),
        answering(answer(503, b"", retry_after="30")),
        answering(answer(429, b"")),
        answering(answer(429, {"error": {"message": "No credit.", "code": "insufficient_quota"}})),
        answering(answer(500, b"oops")),
        answering(HEAD + event({"error": {"message": "boom"}}) + END),
        answering(answer(200, b"")),
    ],
    ids=["F01", "closed", "529", "503", "F11", "no quota", "F12", "F20", "F19"],
)
async def test_a_backend_that_fails_is_replaced(
    backend: ScriptedBackend,
    other: ScriptedBackend,
    start_both: StartBoth,
    failing: Callable[[ScriptedBackend], Awaitable[None]],
) -> None:
    proxy = await start_both(retries={"attempts": 1})
    await failing(backend)
    async with proxy.post(STREAMED) as response:
        assert response.headers[BACKEND_HEADER] == "there"
        events = read_stream(await response.read())
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "There"
    assert other.received[0].json["model"] == "spare"
    line = proxy.log.request
    assert (line["backend"], line["backend_model"], line["attempts"]) == ("there", "spare", 2)
    assert "error" not in line
    assert proxy.log.named("backend_fallback")[0]["backend"] == "backend"
    if failing is gone:
        await backend.start()


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (answer(400, {"error": {"message": "Bad words."}}), 400),
        (answer(400, {"error": {"message": "The prompt is too long."}}), 400),
        (answer(404, {"error": {"message": "The model `m` does not exist."}}), 404),
        (answer(401, b""), 502),
        (answer(302, Location="http://elsewhere/"), 502),
        (answer(200, b"<html>", Content_Type="text/html"), 502),
    ],
    ids=["F14", "F13", "F15", "F10", "F09", "F16"],
)
async def test_what_the_client_or_the_operator_must_change_is_told(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth, refusal: bytes, status: int
) -> None:
    proxy = await start_both(retries={"after_errors": True})
    backend.answers(refusal)
    assert await status_of(proxy) == status
    assert (len(backend.received), other.received) == (1, [])


async def test_a_filtered_reply_is_a_reply(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both()
    backend.answers(HEAD + finish("content_filter") + DONE + END)
    async with proxy.post(ASKED) as response:
        assert (await response.json())["status"] == "incomplete"
        assert response.headers[BACKEND_HEADER] == "backend"
    assert other.received == []


async def test_first_the_same_again_then_the_other(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both()
    backend.answers(BUSY)
    assert await said(proxy) == "There"
    assert (len(backend.received), len(other.received)) == (2, 1)
    assert proxy.log.request["attempts"] == 3


async def test_each_is_asked_as_often_as_may_be(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both()
    backend.answers(BUSY)
    other.answers(BUSY, reply(text("There")))
    assert await said(proxy) == "There"
    assert (len(backend.received), len(other.received)) == (2, 2)


async def test_f08_a_backend_that_is_being_spared_is_replaced_at_once(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both(
        breaker={"consecutive_failures": 1, "open_seconds": 30},
        retries={"attempts": 5, "longest_wait_seconds": 60},
    )
    backend.answers(answer(500, b"oops"))
    for _ in range(3):
        assert await said(proxy) == "There"
    assert (len(backend.received), len(other.received)) == (1, 3)


async def test_f08_so_is_one_whose_replies_all_break_off(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    """F60: each of them is lost to its client, but not the ones after."""
    proxy = await start_both(breaker={"consecutive_failures": 2, "open_seconds": 30})
    backend.answers(HEAD + text("Hel") + END)
    for _ in range(2):
        assert await status_of(proxy) == 502
    assert await said(proxy) == "There"
    assert (len(backend.received), len(other.received)) == (2, 1)


async def test_when_all_fail_the_last_failure_is_told(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both()
    backend.answers(answer(500, b"oops"))
    other.answers(answer(429, b"", retry_after="7"))
    async with proxy.post(STREAMED) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "7")
    assert proxy.log.request["status"] == 429


async def test_one_that_cannot_do_what_is_asked_for_is_no_replacement(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    """Why the first one failed is what the client is told."""
    proxy = await start_both(backend={"overrides": {"files": True}})
    backend.answers(answer(500, b"oops"))
    file = {"type": "input_file", "filename": "a.bin", "file_data": "data:application/x-thing;base64,AAAA"}
    assert await status_of(proxy, input=[{"role": "user", "content": [file]}]) == 502
    assert other.received == []
    line = proxy.log.request
    assert (line["backend"], line["code"]) == ("backend", "upstream_error")


async def test_then_the_next_one_may_be_one(
    backend: ScriptedBackend, other: ScriptedBackend, start_proxy: StartProxy
) -> None:
    able = {"overrides": {"files": True}}
    proxy = await start_proxy(
        backend=able,
        backends={
            "unable": {"url": other.url, "profile": "default"},
            "able": {"url": other.url, "profile": "default"} | able,
        },
        routing={"fallbacks": {"m": ["unable", "able"]}},
    )
    backend.answers(answer(500, b"oops"))
    file = {"type": "input_file", "filename": "a.bin", "file_data": "data:application/x-thing;base64,AAAA"}
    assert await status_of(proxy, input=[{"role": "user", "content": [file]}]) == 200
    assert proxy.log.request["backend"] == "able"


async def test_a_replacement_may_speak_another_language(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both(there={"profile": "anthropic", "url": other.root, "key": "sk-there"})
    backend.answers(answer(500, b"oops"))
    stream = b"".join(map(http_chunk, anthropic.stream(Say(text="Bonjour"))))
    other.answers(HEAD + stream + END)
    assert await said(proxy) == "Bonjour"
    (asked,) = other.received
    assert (asked.path, asked.headers["x-api-key"]) == ("/v1/messages", "sk-there")
    assert "authorization" not in asked.headers


@pytest.mark.parametrize("there", [{}, {"key": "sk-there"}], ids=["no key", "its own key"])
async def test_s05_no_backend_is_shown_a_key_that_is_not_for_it(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth, there: dict[str, str]
) -> None:
    """Neither the first one's, nor the client's, which goes only to those that opted in."""
    for here in ({"key": "sk-here"}, {"forward_key": True}):
        backend.received.clear()
        other.received.clear()
        backend.answers(answer(500, b"oops"))
        proxy = await start_both(there=there, backend={"headers": {"X-Team": "here"}} | here)
        assert await said(proxy, Authorization="Bearer sk-client") == "There"
        (first,), (second,) = backend.received, other.received
        expected = "sk-here" if "key" in here else "sk-client"
        assert first.headers["authorization"] == f"Bearer {expected}"
        assert second.headers.get("authorization") == ("Bearer sk-there" if there else None)
        assert "sk-here" not in repr(second)
        assert "sk-client" not in repr(second)
        assert "x-team" not in second.headers


async def test_a_lone_backend_is_not_named(proxy: Proxy) -> None:
    async with proxy.post(ASKED) as response:
        assert BACKEND_HEADER not in response.headers
    assert "attempts" not in proxy.log.request


# ── a backend's places ──


class Busy:
    """A backend that begins each reply at once and ends it when told to."""

    def __init__(self, backend: ScriptedBackend) -> None:
        self.begun = asyncio.Semaphore(0)
        self.ends = asyncio.Event()
        backend.plays(self._plays)

    async def _plays(self, line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        self.begun.release()
        await self.ends.wait()
        line.send(text("lo"), finish(), DONE, END)


async def test_f07_when_all_places_are_taken_the_answer_comes_at_once(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """And what is under way goes on."""
    proxy = await start_proxy(
        backend={"max_concurrent": 1, "max_waiting": 0}, retries={"attempts": 5}, breaker=NO_BREAKER
    )
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    for stream in (False, True):
        async with proxy.post(ASKED | {"stream": stream}) as response:
            assert (response.status, response.headers["Retry-After"]) == (503, "1")
            assert (await response.json())["error"]["code"] == "server_is_overloaded"
    busy.ends.set()
    assert await under_way == "Hello"
    assert await said(proxy) == "Hello"


async def test_who_waits_for_a_place_is_served_and_sees_life(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"max_concurrent": 1}, server={"patience_seconds": 0.02})
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    async with proxy.post(STREAMED) as response:
        await response.content.readuntil(b"response.in_progress")
        assert len(backend.received) == 1
        busy.ends.set()
        assert b"event: response.completed" in await response.read()
    assert await under_way == "Hello"


async def test_r5_who_leaves_while_waiting_never_reaches_the_backend(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(
        backend={"max_concurrent": 1, "max_waiting": 1}, server={"patience_seconds": 0.02}
    )
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    for _ in range(2):  # the first one's place in the queue is free again
        async with proxy.post(STREAMED) as response:
            await response.content.readuntil(b"response.in_progress")
        await proxy.log.wait_for("request")
        proxy.log.stream.seek(0)
        proxy.log.stream.truncate()
    busy.ends.set()
    assert await under_way == "Hello"
    assert len(backend.received) == 1


async def test_a_full_backend_is_replaced_at_once(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both(backend={"max_concurrent": 1, "max_waiting": 0})
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    assert await said(proxy) == "There"
    busy.ends.set()
    assert await under_way == "Hello"


async def test_f74_who_waits_for_a_place_is_told_when_the_proxy_stops(backend: ScriptedBackend) -> None:
    settings = Settings.model_validate(
        {
            "server": {"port": 0, "grace_seconds": 0, "patience_seconds": 0.02},
            "backend": {"url": backend.url, "profile": "default", "max_concurrent": 1},
        }
    )
    log = LogLines()
    busy = Busy(backend)
    async with aiohttp.ClientSession() as session:
        async with app.running(settings, make_log("info", "json", stream=log.stream)) as url:
            proxy = Proxy(url, log, session)
            first = await proxy.post(STREAMED)
            await busy.begun.acquire()
            waiting = await proxy.post(STREAMED)
            await waiting.content.readuntil(b"response.in_progress")
        for response in (first, waiting):
            assert b"server_shutting_down" in await response.read()
    assert len(backend.received) == 1


async def test_f08_who_finds_the_backend_on_trial_does_not_queue_for_it(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """One place is taken by a reply from better times, the other by the probe: nobody knows for how long."""
    proxy = await start_proxy(
        backend={"max_concurrent": 2}, breaker={"consecutive_failures": 1, "open_seconds": 1e-9}
    )
    taken = asyncio.Semaphore(0)

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        taken.release()
        await line.closed()

    async def fails(line: Line) -> None:
        await line.request()
        line.send(answer(500, b"oops"))

    async def hangs(line: Line) -> None:
        await line.request()
        taken.release()
        await line.closed()

    backend.plays(begins, fails, hangs)
    loop = asyncio.get_running_loop()
    under_way = [loop.create_task(status_of(proxy))]
    await taken.acquire()
    assert await status_of(proxy) == 502
    under_way.append(loop.create_task(status_of(proxy)))
    await taken.acquire()
    async with asyncio.timeout(PROMPTLY):
        assert await status_of(proxy) == 503
    for task in under_way:
        task.cancel()
