"""The way to the backend, against real sockets that behave as badly as sockets do (F01-F05, F07, F19, F65, S28)."""

import asyncio
import gzip
import socket
from dataclasses import replace

import pytest

from proxy.core.backends.post import Post
from proxy.core.errors import (
    Garbled,
    Timeout,
    Truncated,
    Unreachable,
)
from proxy.shell.http import upstream as module
from proxy.shell.http.upstream import Upstream
from tests.support.sending import PATIENT, SOON, post
from tests.support.sockets import HEAD, Line, ScriptedBackend, answer, silent_after_hello, text

# ── how many ──


async def test_a_body_that_does_not_end_after_its_last_event_is_not_waited_for(
    upstream: Upstream, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINGER_SECONDS", SOON)
    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hello"))
        await line.closed()
        gone.set()

    backend.plays(plays)
    exchange = await upstream.send(post(backend), PATIENT)
    await exchange.read()
    exchange.release()
    exchange.close()
    async with asyncio.timeout(5):
        await gone.wait()


# ── failures before an answer ──


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


async def test_nobody_listens(upstream: Upstream) -> None:
    """F01."""
    with pytest.raises(Unreachable, match="cannot be connected to") as fault:
        await upstream.send(Post(f"http://127.0.0.1:{closed_port()}/", {}, b""), PATIENT)
    assert fault.value.retryable
    assert "127.0.0.1" not in fault.value.message


async def test_the_name_is_unknown(upstream: Upstream) -> None:
    """F02."""
    with pytest.raises(Unreachable, match="name cannot be resolved"):
        await upstream.send(Post("http://backend.invalid/", {}, b""), PATIENT)


@pytest.mark.parametrize("says", [b"HTTP/1.1 400 This is not TLS\r\n\r\n", b""], ids=["words", "nothing"])
async def test_no_secure_connection(says: bytes, upstream: Upstream, backend: ScriptedBackend) -> None:
    """F03: it is not tried again, and never without encryption."""

    async def no_tls(line: Line) -> None:
        line.send(says)
        line.close()

    backend.plays(no_tls)
    with pytest.raises(Unreachable, match="secure") as fault:
        await upstream.send(Post(backend.url.replace("http:", "https:"), {}, b""), PATIENT)
    assert not fault.value.retryable


async def test_a_connection_that_does_not_come_about(upstream: Upstream) -> None:
    """F04: the queue of a listening socket is full, so that the handshake gets no answer."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/"
        with pytest.raises(Timeout, match="connected to in time"):
            await upstream.send(Post(url, {}, b""), replace(PATIENT, connect=SOON))
        for sock in waiting:
            sock.close()


async def test_a_backend_that_takes_the_request_and_says_nothing(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """F05."""

    async def silent(line: Line) -> None:
        await line.request()
        await line.closed()

    backend.plays(silent)
    with pytest.raises(Timeout, match="begin to answer"):
        await upstream.send(post(backend), replace(PATIENT, first_byte=SOON))


async def test_a_reset_instead_of_an_answer(upstream: Upstream, backend: ScriptedBackend) -> None:
    async def resets(line: Line) -> None:
        await line.request()
        line.reset()

    backend.plays(resets)
    with pytest.raises(Truncated) as fault:
        await upstream.send(post(backend), PATIENT)
    assert fault.value.code == "upstream_empty_reply"


@pytest.mark.parametrize(
    "nonsense",
    [b"220 mail.example ESMTP\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10_000 + b"\r\n\r\n"],
    ids=["another protocol", "an endless header"],
)
async def test_what_answers_is_no_http(upstream: Upstream, backend: ScriptedBackend, nonsense: bytes) -> None:
    """S28."""

    async def plays(line: Line) -> None:
        await line.request()
        line.send(nonsense)
        await line.closed()

    backend.plays(plays)
    with pytest.raises(Garbled, match="HTTP"):
        await upstream.send(post(backend), PATIENT)


async def test_a_request_that_is_cancelled_leaves_nothing_behind(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """E5, F65."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def silent(line: Line) -> None:
        await line.request()
        asked.set()
        await line.closed()
        gone.set()

    backend.plays(silent)
    sending = asyncio.get_running_loop().create_task(upstream.send(post(backend), PATIENT))
    async with asyncio.timeout(5):
        await asked.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await gone.wait()


# ── small questions ──


async def test_a_page_is_read_whole(upstream: Upstream, backend: ScriptedBackend) -> None:
    backend.answers(answer(200, {"data": []}, Server="llama.cpp"))
    page = await upstream.fetch(f"{backend.url}/models", {"Authorization": "Bearer k"}, 5)
    assert (page.status, page.body, page.headers["server"]) == (200, b'{"data":[]}', "llama.cpp")
    assert backend.received[0].headers["authorization"] == "Bearer k"


@pytest.mark.parametrize("size", [10, 1 << 20])
async def test_f21_a_packed_page(
    upstream: Upstream, backend: ScriptedBackend, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PAGE_BYTES", 10)
    backend.answers(answer(200, gzip.compress(b"x" * size), Content_Encoding="gzip"))
    asking = upstream.fetch(backend.url, {}, 5)
    if size > 10:
        with pytest.raises(Garbled, match="does not end"):
            await asking
    else:
        assert (await asking).body == b"x" * size


async def test_a_page_that_does_not_end_is_given_up(
    upstream: Upstream, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PAGE_BYTES", 10)
    backend.answers(answer(200, b"x" * 11))
    with pytest.raises(Garbled):
        await upstream.fetch(backend.url, {}, 5)


async def test_a_question_is_not_asked_for_long(upstream: Upstream, backend: ScriptedBackend) -> None:
    backend.plays(silent_after_hello)
    with pytest.raises(Timeout):
        await upstream.fetch(backend.url, {}, SOON)


async def test_a_question_to_nobody(upstream: Upstream) -> None:
    with pytest.raises(Unreachable):
        await upstream.fetch(f"http://127.0.0.1:{closed_port()}/", {}, 5)
