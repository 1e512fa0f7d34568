"""The way to the backend, against real sockets that behave as badly as sockets do (F01-F06, F19, F42, F43, F60-F63)."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace

import pytest

from proxy.core.errors import (
    BackendFault,
    Empty,
    Garbled,
    ProxyFault,
    Timeout,
    Truncated,
    Unreachable,
)
from proxy.core.outbound.dialects import Call
from proxy.shell import upstream as module
from proxy.shell.upstream import Exchange, Limits, Upstream
from tests.shell.backend import END, HEAD, Line, ScriptedBackend, answer, http_chunk, reply, text

PATIENT = Limits(connect=5, first_byte=5, idle=5, total=5)
SOON = 0.05


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    upstream = Upstream("0")
    yield upstream
    await upstream.close()


def call(backend: ScriptedBackend, body: bytes = b"{}") -> Call:
    return Call(f"{backend.url}/chat/completions", {"Content-Type": "application/json"}, body)


async def read_all(exchange: Exchange) -> bytes:
    received = b""
    while data := await exchange.read():
        received += data
    return received


# ── what is sent ──


async def test_nothing_is_sent_that_was_not_decided_here(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """S12: no header that aiohttp would like to add, and no compression that would delay a stream."""
    with closing(await upstream.send(call(backend, b'{"a":1}'), PATIENT)):
        (sent,) = backend.received
    assert (sent.method, sent.path, sent.json) == ("POST", "/v1/chat/completions", {"a": 1})
    assert sent.headers.keys() == {
        "host", "accept", "accept-encoding", "content-type", "content-length", "user-agent",
    }  # fmt: skip
    assert sent.headers["accept-encoding"] == "identity"


async def test_neither_proxies_nor_passwords_are_taken_from_the_environment(
    upstream: Upstream,
    backend: ScriptedBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S10: a variable that somebody set for a browser must not see the key."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert exchange.status == 200


async def test_a_cookie_is_not_kept(upstream: Upstream, backend: ScriptedBackend) -> None:
    """S09: what a backend says of one client must not be told for another."""
    backend.answers(answer(200, b"{}", Set_Cookie="session=1"))
    by_name = backend.url.replace("127.0.0.1", "localhost")  # cookies are for names
    for _ in range(2):
        with closing(await upstream.send(Call(by_name, {}, b"{}"), PATIENT)) as exchange:
            await read_all(exchange)
    assert all("cookie" not in sent.headers for sent in backend.received)


async def test_a_redirect_is_an_answer_and_not_followed(upstream: Upstream, backend: ScriptedBackend) -> None:
    """F09, S08: the key would go along."""
    backend.answers(answer(307, Location=f"{backend.root}/elsewhere"))
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert exchange.status == 307
    assert len(backend.received) == 1


async def test_a_large_request_arrives_whole(upstream: Upstream, backend: ScriptedBackend) -> None:
    body = b'"' + b"x" * (module.LARGE_BODY_BYTES + 1) + b'"'
    with closing(await upstream.send(call(backend, body), PATIENT)):
        assert backend.received[0].body == body


# ── what comes back ──


async def test_the_body_comes_as_it_was_sent(upstream: Upstream, backend: ScriptedBackend) -> None:
    backend.answers(b"".join((HEAD, http_chunk(b"one "), http_chunk(b"two"), END)))
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert exchange.headers["content-type"] == "text/event-stream"
        assert await read_all(exchange) == b"one two"


async def test_the_first_word_does_not_wait_for_all_that_came_with_it(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """A burst of a whole buffer takes longer to translate than all else before the first event."""
    whole = bytes(range(256)) * 64
    backend.answers(b"".join((HEAD, http_chunk(whole), END)))
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        first = await exchange.read()
        exchange.begun()
        rest = await exchange.read()
        assert len(first) <= module.FIRST_BYTES < len(rest)
        assert first + rest + await read_all(exchange) == whole


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
    ],
    ids=["with a length", "until it closes", "after an interim answer"],
)
async def test_every_form_of_body_is_read(upstream: Upstream, backend: ScriptedBackend, head: bytes) -> None:
    """F22."""

    async def plays(line: Line) -> None:
        await line.request()
        line.send(head, b"body")

    backend.plays(plays)
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert await read_all(exchange) == b"body"


async def test_the_beginning_of_a_refusal_is_enough(upstream: Upstream, backend: ScriptedBackend) -> None:
    backend.answers(answer(400, b"x" * 100))
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert await exchange.read_at_most(10) == b"x" * 10


async def test_a_refusal_that_breaks_off_is_read_as_far_as_it_came(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    async def plays(line: Line) -> None:
        await line.request()
        line.send(b"HTTP/1.1 400 No\r\nContent-Length: 100\r\n\r\nbecause")
        line.close()

    backend.plays(plays)
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert await exchange.read_at_most(100) == b"because"


# ── connections ──


async def test_a_connection_is_used_again(upstream: Upstream, backend: ScriptedBackend) -> None:
    for _ in range(3):
        exchange = await upstream.send(call(backend), PATIENT)
        await read_all(exchange)
        exchange.release()
    assert backend.connections == 1


async def test_a_connection_whose_body_was_not_read_to_its_end_is_closed(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """R4: what is still to come would be taken for the next answer."""
    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hello"))
        await line.closed()
        gone.set()

    backend.plays(plays)
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        await exchange.read()
    async with asyncio.timeout(5):
        await gone.wait()


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
    exchange = await upstream.send(call(backend), PATIENT)
    await exchange.read()
    exchange.release()
    exchange.close()
    async with asyncio.timeout(5):
        await gone.wait()


async def test_a_kept_connection_that_was_just_closed_is_replaced_once(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """F06: the backend tired of the connection in the moment it was taken from the pool."""

    async def tires(line: Line) -> None:
        await line.request()
        line.send(reply(text("first")))
        await line.request()
        line.close()

    async def fresh(line: Line) -> None:
        await line.request()
        line.send(reply(text("second")))

    backend.plays(tires, fresh)
    for expected in (b"first", b"second"):
        exchange = await upstream.send(call(backend), PATIENT)
        assert expected in await read_all(exchange)
        exchange.release()
    assert len(backend.received) == 3


async def test_a_kept_connection_that_is_closed_later_is_not_replaced(
    upstream: Upstream, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F05, F06: the backend has been at work since, and would be paid twice."""
    monkeypatch.setattr(module, "RACE_SECONDS", 0.0)

    async def dies_at_work(line: Line) -> None:
        await line.request()
        line.send(reply(text("first")))
        await line.request()
        line.close()

    backend.plays(dies_at_work)
    exchange = await upstream.send(call(backend), PATIENT)
    assert b"first" in await read_all(exchange)
    exchange.release()
    with pytest.raises(Empty):
        await upstream.send(call(backend), PATIENT)
    assert len(backend.received) == 2


async def test_a_fresh_connection_that_is_closed_is_not_tried_again(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """F05, F06: it may have begun to work on the request."""

    async def closes(line: Line) -> None:
        await line.request()
        line.close()

    backend.plays(closes)
    with pytest.raises(Empty):
        await upstream.send(call(backend), PATIENT)
    assert len(backend.received) == 1


async def test_there_is_a_limit_to_what_is_under_way(
    upstream: Upstream, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F07: beyond it a request fails at once, and can come back as soon as another has ended."""
    monkeypatch.setattr(module, "MAX_EXCHANGES", 1)
    with closing(await upstream.send(call(backend), PATIENT)):
        with pytest.raises(ProxyFault) as refusal:
            await upstream.send(call(backend), PATIENT)
        assert (refusal.value.status, refusal.value.retry_after) == (503, 1)
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert exchange.status == 200


async def test_a_request_that_failed_is_no_longer_under_way(
    upstream: Upstream, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_EXCHANGES", 1)
    nowhere = Call(f"http://127.0.0.1:{closed_port()}/", {}, b"")
    for _ in range(2):
        with pytest.raises(Unreachable):
            await upstream.send(nowhere, PATIENT)


# ── failures before an answer ──


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


async def test_nobody_listens(upstream: Upstream) -> None:
    """F01."""
    with pytest.raises(Unreachable, match="cannot be connected to") as fault:
        await upstream.send(Call(f"http://127.0.0.1:{closed_port()}/", {}, b""), PATIENT)
    assert fault.value.retryable
    assert "127.0.0.1" not in fault.value.message


async def test_the_name_is_unknown(upstream: Upstream) -> None:
    """F02."""
    with pytest.raises(Unreachable, match="name cannot be resolved"):
        await upstream.send(Call("http://backend.invalid/", {}, b""), PATIENT)


async def test_no_secure_connection(upstream: Upstream, backend: ScriptedBackend) -> None:
    """F03: it is not tried again, and never without encryption."""

    async def no_tls(line: Line) -> None:
        line.send(b"HTTP/1.1 400 This is not TLS\r\n\r\n")
        line.close()

    backend.plays(no_tls)
    with pytest.raises(Unreachable, match="secure") as fault:
        await upstream.send(Call(backend.url.replace("http:", "https:"), {}, b""), PATIENT)
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
            await upstream.send(Call(url, {}, b""), replace(PATIENT, connect=SOON))
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
        await upstream.send(call(backend), replace(PATIENT, first_byte=SOON))


async def test_a_reset_instead_of_an_answer(upstream: Upstream, backend: ScriptedBackend) -> None:
    async def resets(line: Line) -> None:
        await line.request()
        line.reset()

    backend.plays(resets)
    with pytest.raises(Empty):
        await upstream.send(call(backend), PATIENT)


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
        await upstream.send(call(backend), PATIENT)


async def test_a_compression_that_was_not_asked_for_and_cannot_be_undone(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """F21."""
    backend.answers(answer(200, b"not gzip at all", Content_Encoding="gzip"))
    with pytest.raises(BackendFault), closing(await upstream.send(call(backend), PATIENT)) as exchange:
        await read_all(exchange)


# ── failures while the answer comes ──


def broken_framing(line: Line) -> None:
    line.send(b"no chunk\r\n")


@pytest.mark.parametrize(
    "break_off",
    [Line.reset, Line.close, broken_framing],
    ids=["reset", "closed inside a body", "broken framing"],
)
async def test_an_answer_that_breaks_off_is_told_after_what_had_come(
    upstream: Upstream,
    backend: ScriptedBackend,
    monkeypatch: pytest.MonkeyPatch,
    break_off: Callable[[Line], None],
) -> None:
    """F60, F61, F42: the failure must not overtake the bytes before it."""
    monkeypatch.setattr(module, "CHECK_SECONDS", SOON)
    broken = asyncio.Event()

    async def breaks(line: Line) -> None:
        await line.request()
        line.send(HEAD, http_chunk(b"Hello"))
        await line.drained()
        await broken.wait()
        break_off(line)

    backend.plays(breaks)
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        assert await exchange.read() == b"Hello"
        broken.set()
        for _ in range(2):
            with pytest.raises(Truncated):
                await exchange.read()


@pytest.mark.parametrize("break_off", [Line.close, broken_framing], ids=["closed", "broken framing"])
async def test_what_came_before_the_break_is_read_although_nobody_was_reading(
    upstream: Upstream, backend: ScriptedBackend, break_off: Callable[[Line], None]
) -> None:
    """F42: all of it, up to the break, arrives while a slow client is being written to."""

    answered = asyncio.Event()

    async def breaks(line: Line) -> None:
        await line.request()
        line.send(HEAD, http_chunk(b"Hello"))
        await answered.wait()
        break_off(line)
        await line.closed()

    backend.plays(breaks)
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        answered.set()
        await lost(exchange)
        assert await exchange.read() == b"Hello"
        with pytest.raises(Truncated):
            await exchange.read()


async def lost(exchange: Exchange) -> None:
    """Until its connection is gone, without reading from it."""
    gone = asyncio.Event()
    exchange._response.connection.protocol.closed.add_done_callback(lambda _: gone.set())
    async with asyncio.timeout(5):
        await gone.wait()


async def silent_after_hello(line: Line) -> None:
    await line.request()
    line.send(HEAD, text("Hello"))
    await line.closed()


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        (replace(PATIENT, idle=SOON), "stopped answering"),
        (replace(PATIENT, total=SOON), "finish"),
        (replace(PATIENT, first_byte=SOON), "begin"),
    ],
    ids=["F62 silence", "F63 no end", "F30 nothing meaningful"],
)
async def test_waits_have_limits(
    upstream: Upstream, backend: ScriptedBackend, limits: Limits, complaint: str
) -> None:
    backend.plays(silent_after_hello)
    with closing(await upstream.send(call(backend), limits)) as exchange:
        await exchange.read()
        with pytest.raises(Timeout, match=complaint):
            await exchange.read()


async def test_a_reply_that_has_begun_is_not_late_any_more(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    backend.plays(silent_after_hello)
    limits = replace(PATIENT, first_byte=SOON, idle=2 * SOON)
    with closing(await upstream.send(call(backend), limits)) as exchange:
        exchange.begun()
        await exchange.read()
        with pytest.raises(Timeout, match="stopped answering"):
            await exchange.read()


async def test_a_slow_client_is_not_the_backends_silence(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """F67: while nobody reads, nobody waits for the backend."""
    goes_on = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, http_chunk(b"one"))
        await goes_on.wait()
        line.send(http_chunk(b"two"), END)

    backend.plays(plays)
    with closing(await upstream.send(call(backend), replace(PATIENT, idle=SOON))) as exchange:
        assert await exchange.read() == b"one"
        loop = asyncio.get_running_loop()
        later = loop.create_future()
        loop.call_later(3 * SOON, later.set_result, None)
        await later
        goes_on.set()
        assert await exchange.read() == b"two"


async def test_after_the_finish_the_end_is_not_waited_for_long(
    upstream: Upstream, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F43: usage that does not come is done without, and that is no fault."""
    monkeypatch.setattr(module, "FINISHING_SECONDS", SOON)
    backend.plays(silent_after_hello)
    with closing(await upstream.send(call(backend), PATIENT)) as exchange:
        await exchange.read()
        exchange.finishing(True)
        exchange.finishing(False)
        exchange.finishing(True)
        assert await exchange.read() == b""


async def test_a_request_that_is_cancelled_leaves_nothing_behind(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """R5, F65."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def silent(line: Line) -> None:
        await line.request()
        asked.set()
        await line.closed()
        gone.set()

    backend.plays(silent)
    sending = asyncio.get_running_loop().create_task(upstream.send(call(backend), PATIENT))
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
