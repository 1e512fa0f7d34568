"""E6: another backend takes the place of one that fails, unless the client or the operator must act."""

from collections.abc import Awaitable, Callable

import pytest

from proxy.shell.attempts import BACKEND_HEADER
from tests.scripted import anthropic
from tests.scripted.say import Say
from tests.support.proxies import Proxy, StartProxy
from tests.support.replies import read_stream
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    Line,
    ScriptedBackend,
    answer,
    event,
    finish,
    http_chunk,
    reply,
    text,
)
from tests.support.two_backends import ASKED, BUSY, STREAMED, StartBoth, said, status_of

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
