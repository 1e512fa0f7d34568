"""An answer as it comes over real sockets that behave as badly as sockets do (F21, F30, F42, F43, F60-F63)."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from proxy.core.errors import BackendFault, Timeout, Truncated
from proxy.shell.http import exchange as module
from proxy.shell.http.exchange import HttpExchange
from proxy.shell.http.transport import Timeouts
from proxy.shell.http.upstream import Upstream
from tests.support.sending import PATIENT, SOON, post, read_all
from tests.support.sockets import END, HEAD, Line, ScriptedBackend, answer, http_chunk, silent_after_hello

# ── what comes ──


async def test_the_body_comes_as_it_was_sent(upstream: Upstream, backend: ScriptedBackend) -> None:
    backend.answers(b"".join((HEAD, http_chunk(b"one "), http_chunk(b"two"), END)))
    with closing(await upstream.send(post(backend), PATIENT)) as exchange:
        assert exchange.headers["content-type"] == "text/event-stream"
        assert await read_all(exchange) == b"one two"


async def test_the_first_word_does_not_wait_for_all_that_came_with_it(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """A burst of a whole buffer takes longer to translate than all else before the first event."""
    whole = bytes(range(256)) * 64
    backend.answers(b"".join((HEAD, http_chunk(whole), END)))
    with closing(await upstream.send(post(backend), PATIENT)) as exchange:
        first = await exchange.read()
        exchange.begun()
        rest = await exchange.read()
        assert len(first) <= module.FIRST_BYTES < len(rest)
        assert first + rest + await read_all(exchange) == whole


async def test_the_beginning_of_a_refusal_is_enough(upstream: Upstream, backend: ScriptedBackend) -> None:
    backend.answers(answer(400, b"x" * 100))
    with closing(await upstream.send(post(backend), PATIENT)) as exchange:
        assert await exchange.read_at_most(10) == b"x" * 10


async def test_a_refusal_that_breaks_off_is_read_as_far_as_it_came(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    async def plays(line: Line) -> None:
        await line.request()
        line.send(b"HTTP/1.1 400 No\r\nContent-Length: 100\r\n\r\nbecause")
        line.close()

    backend.plays(plays)
    with closing(await upstream.send(post(backend), PATIENT)) as exchange:
        assert await exchange.read_at_most(100) == b"because"


async def test_a_compression_that_was_not_asked_for_and_cannot_be_undone(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    """F21."""
    backend.answers(answer(200, b"not gzip at all", Content_Encoding="gzip"))
    with pytest.raises(BackendFault), closing(await upstream.send(post(backend), PATIENT)) as exchange:
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
    upstream: Upstream, backend: ScriptedBackend, break_off: Callable[[Line], None]
) -> None:
    """F60, F61, F42: the failure must not overtake the bytes before it."""
    broken = asyncio.Event()

    async def breaks(line: Line) -> None:
        await line.request()
        line.send(HEAD, http_chunk(b"Hello"))
        await line.drained()
        await broken.wait()
        break_off(line)

    backend.plays(breaks)
    with closing(await upstream.send(post(backend), PATIENT)) as exchange:
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
    with closing(await upstream.send(post(backend), PATIENT)) as exchange:
        answered.set()
        await lost(exchange)
        assert await exchange.read() == b"Hello"
        with pytest.raises(Truncated):
            await exchange.read()


async def lost(exchange: HttpExchange) -> None:
    """Until its connection is gone, without reading from it."""
    async with asyncio.timeout(5):
        await exchange._answer.connection.protocol.closed


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
    upstream: Upstream, backend: ScriptedBackend, limits: Timeouts, complaint: str
) -> None:
    backend.plays(silent_after_hello)
    with closing(await upstream.send(post(backend), limits)) as exchange:
        await exchange.read()
        with pytest.raises(Timeout, match=complaint):
            await exchange.read()


async def test_a_reply_that_has_begun_is_not_late_any_more(
    upstream: Upstream, backend: ScriptedBackend
) -> None:
    backend.plays(silent_after_hello)
    limits = replace(PATIENT, first_byte=SOON, idle=2 * SOON)
    with closing(await upstream.send(post(backend), limits)) as exchange:
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
    with closing(await upstream.send(post(backend), replace(PATIENT, idle=SOON))) as exchange:
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
    with closing(await upstream.send(post(backend), PATIENT)) as exchange:
        await exchange.read()
        exchange.finishing(True)
        exchange.finishing(False)
        exchange.finishing(True)
        assert await exchange.read() == b""
