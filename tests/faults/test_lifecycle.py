"""Streams that die, clients that are slow or gone, and the process around them (F60-F81)."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from itertools import count
from typing import Any

import orjson
import pytest

from proxy import app
from proxy.core.policy.retry import RESERVE
from proxy.core.stream.pipeline import Pipeline
from proxy.core.tenants import digest
from proxy.shell.http import body as body_module
from proxy.shell.http import connection, connections
from tests.support.loop_delay import post_aside, watching
from tests.support.outcomes import ASK, Row, final, in_short, raw, told
from tests.support.proxies import Proxy, StartProxy, events, names
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    delta,
    finish,
    reply,
    text,
    usage,
)

MIB = 1 << 20


# ── streams that die ──


def dies(break_off: Callable[[Line], None], *pieces: bytes) -> Callable[[Line], Any]:
    async def plays(line: Line) -> None:
        line.send(HEAD, *pieces)
        await line.drained()
        await asyncio.sleep(0)
        break_off(line)

    return plays


def half_a_chunk(line: Line) -> None:
    line.send(b"ff\r\ndata: {")
    line.close()


CALL = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "get_time", "arguments": '{"a":'}}])
ROWS = [
    Row("F60", "reset within the text", dies(Line.reset, text("Hel")), "failed upstream_stream_truncated | Hel…"),
    Row("F60", "reset within a call", dies(Line.reset, CALL), 'failed upstream_stream_truncated | get_time({"a":)…'),
    Row("F61", "closed within the body", dies(Line.close, text("Hel")), "failed upstream_stream_truncated | Hel…"),
    Row("F61", "closed within a chunk", dies(half_a_chunk, text("Hel")), "failed upstream_stream_truncated | Hel…"),
]  # fmt: skip


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_row(row: Row, stream: bool, backend: ScriptedBackend, proxy: Proxy) -> None:
    """And nothing is asked again. A reset may overtake the text before it, but never becomes a success."""

    async def plays(line: Line) -> None:
        await line.request()
        await row.said(line)  # type: ignore[operator]

    backend.plays(plays)
    said = await told(proxy, stream=stream)
    if row.id == "F61" and stream:
        assert said == row.right
    assert said.split(" |")[0] in (
        row.right.split(" |")[0],
        "502 upstream_stream_truncated",
        "502 upstream_empty_reply",
    )
    assert len(backend.received) == 1


LIVELY = {"patience_seconds": 0.05, "heartbeat_seconds": 0.05}


async def goes_silent(line: Line) -> None:
    await line.request()
    line.send(HEAD, text("Hel"))
    await line.closed()


async def test_f62_silence_is_filled_and_then_ended(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.plays(goes_silent)
    proxy = await start_proxy(server=LIVELY, backend={"idle_seconds": 0.4})
    async with proxy.post(ASK) as response:
        found = events(await response.read())
    assert names(found).count("comment") >= 3
    (failed,) = [event for event in found if event.name == "response.failed"]
    assert failed.data["response"]["error"]["code"] == "upstream_timeout"


async def test_f62_codex_is_sent_events_for_it(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """Its timer does not see comments."""
    backend.plays(goes_silent)
    proxy = await start_proxy(server=LIVELY, backend={"idle_seconds": 0.4})
    async with proxy.post(ASK, originator="codex_exec") as response:
        found = names(events(await response.read()))
    assert "comment" not in found
    assert found.count("response.in_progress") >= 3


async def test_f63_dripping_does_not_last_longer(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """Each drip ends a silence; what ends them all is the limit on the whole."""
    gone = asyncio.Event()

    async def drips(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        loop = asyncio.get_running_loop()
        try:
            while not line.is_closing:
                line.send(text("x"))
                drop = loop.create_future()
                loop.call_later(0.03, drop.set_result, None)
                await drop
        finally:
            gone.set()

    backend.plays(drips)
    proxy = await start_proxy(backend={"idle_seconds": 5, "total_seconds": 0.3})
    async with asyncio.timeout(PROMPTLY):
        assert (await told(proxy)).startswith("failed upstream_timeout | xx")
        await gone.wait()


@pytest.mark.parametrize(
    ("piece", "right"),
    [
        (text("x" * 10_000), "failed upstream_reply_too_large | xxx"),
        (delta(reasoning_content="x" * 10_000), "failed upstream_reply_too_large | (xxx"),
        (
            delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "get_time", "arguments": "x" * 10_000}}]),
            "failed upstream_reply_too_large | get_time",
        ),
        (delta(role="assistant"), "502 upstream_reply_too_large"),
    ],
    ids=["text", "reasoning", "arguments", "nothing"],
)  # fmt: skip
async def test_f64_a_reply_without_end_is_ended(
    piece: bytes, right: str, backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S27: and nothing of it is kept. The backend's connection is closed."""
    monkeypatch.setattr("proxy.core.stream.pipeline.MAX_REPLY_BYTES", MIB)
    gone = asyncio.Event()

    async def goes_on(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        try:
            while not line.is_closing:
                line.send(piece * 8)
                await line.drained()
                await asyncio.sleep(0)
        finally:
            gone.set()

    backend.plays(goes_on)
    assert (await told(proxy)).startswith(right)
    async with asyncio.timeout(1):
        await gone.wait()


# ── clients that leave, or do not keep up ──


class Talk:
    """A backend that never stops talking, and notices when it is left."""

    def __init__(self, piece: bytes = b"") -> None:
        self.begun, self.left = asyncio.Event(), asyncio.Event()
        self.sent = 0
        self._piece = piece

    async def play(self, line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        self.begun.set()
        try:
            if self._piece:
                while not line.is_closing:
                    line.send(self._piece)
                    await line.drained()
                    self.sent += len(self._piece)
                    await asyncio.sleep(0)
            else:
                await line.closed()
        finally:
            self.left.set()


def posted(body: Any = ASK, head: str = "") -> bytes:
    data = orjson.dumps(body)
    lines = f"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(data)}\r\n\r\n"
    return lines.encode() + data


@pytest.mark.parametrize(
    ("body", "piece", "reads"),
    [
        (ASK | {"stream": False}, b"", False),
        (ASK, b"", True),
        (ASK, text("x" * 50_000), False),
    ],
    ids=["without a stream", "mid-stream", "mid-write"],
)
async def test_f66_a_client_that_leaves_takes_the_backends_work_along(
    body: dict[str, Any], piece: bytes, reads: bool, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F65, E5: within a second, and it is no failure of the backend's."""
    talk = Talk(piece)
    backend.plays(talk.play)
    async with raw(proxy) as (reader, writer):
        writer.write(posted(body))
        await talk.begun.wait()
        if reads:
            await reader.readuntil(b"output_text.delta")
        if piece:
            await stuck(talk)
    async with asyncio.timeout(1):
        await talk.left.wait()
    assert (await proxy.log.wait_for("request"))["status"] == 499


async def stuck(talk: Talk) -> None:
    """Until nobody takes what it says."""
    sent = -1
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(2 * PROMPTLY):
        while talk.sent > sent or not sent:
            sent = talk.sent
            while_ = loop.create_future()
            loop.call_later(0.3, while_.set_result, None)
            await while_


async def test_f67_a_slow_reader_slows_the_backend_and_costs_little(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """S26, S27: what is not taken is not read either, so that only the system's buffers fill."""
    talk = Talk(text("x" * 50_000))
    backend.plays(talk.play)
    async with raw(proxy, read_limit=1024) as (_, writer):
        tracemalloc.start()
        try:
            writer.write(posted(ASK | {"tools": []}))
            await stuck(talk)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert 0 < talk.sent < 32 * MIB
        # The text is kept for the reply's last event; besides it stand one read and what waits to be sent.
        assert kept < talk.sent + 4 * MIB
    async with asyncio.timeout(1):
        await talk.left.wait()


async def test_f68_a_client_that_closes_its_half_is_taken_for_gone(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """The one choice that leaves nothing running for nobody."""
    talk = Talk()
    backend.plays(talk.play)
    async with raw(proxy) as (_, writer):
        writer.write(posted())
        await talk.begun.wait()
        writer.write_eof()
        async with asyncio.timeout(1):
            await talk.left.wait()
    assert (await proxy.log.wait_for("request"))["status"] == 499


async def test_f69_requests_in_one_go_are_asked_one_after_another(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """However many were sent, one is under way; the answers come in their order."""
    asked = asyncio.Event()
    goes_on = asyncio.Event()

    async def plays(line: Line) -> None:
        while True:
            request = await line.request()
            asked.set()
            await goes_on.wait()
            line.send(reply(text(request.json["model"])))

    backend.plays(plays)
    async with raw(proxy) as (reader, writer):
        whole = ASK | {"stream": False}
        for number in range(50):
            last = "Connection: close\r\n" if number == 49 else ""
            writer.write(posted(whole | {"model": f"<{number}>"}, last))
        await asked.wait()
        await told_by(proxy, "/healthz")
        assert len(backend.received) == 1
        goes_on.set()
        async with asyncio.timeout(PROMPTLY):
            said = await reader.read()
    places = [said.index(b'"text":"<%d>"' % number) for number in range(50)]
    assert places == sorted(places)


async def told_by(proxy: Proxy, path: str) -> int:
    async with proxy.session.get(proxy.url + path) as response:
        return response.status


# ── requests that are none ──


async def test_f70_a_body_that_drips_is_408(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """S26: each byte buys a millisecond, not a minute."""
    monkeypatch.setattr(body_module, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(connection, "LINGERING_SECONDS", 0.05)
    async with raw(proxy) as (reader, writer):
        writer.write(b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
        said = asyncio.get_running_loop().create_task(reader.readline())
        while not said.done():
            writer.write(b"{")
            await asyncio.wait([said], timeout=0.05)
        assert (await said).startswith(b"HTTP/1.1 408 ")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.05)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.05)


HEALTHY = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("before", [b"", HEALTHY], ids=["the first", "the second"])
async def test_f70_a_head_that_drips_is_not_waited_for(before: bytes, start_proxy: StartProxy) -> None:
    """S26, attack-18: a head that does not come to its end in time is 408, whatever comes of it meanwhile."""
    proxy = await start_proxy()
    async with raw(proxy) as (reader, writer):
        if before:
            writer.write(before)
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b'"ok"}')
        writer.write(b"GET /healthz HTTP/1.1\r\nX: ")
        said = asyncio.get_running_loop().create_task(reader.read())
        async with asyncio.timeout(PROMPTLY):
            while not said.done():
                writer.write(b"x")
                await asyncio.wait([said], timeout=0.01)
    head, _, body = (await said).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 408 ")
    assert orjson.loads(body)["error"]["code"] == "request_timeout"
    assert [line["status"] for line in proxy.log.named("refusal")] == [408]


@pytest.mark.usefixtures("hurried")
async def test_f70_nobody_is_waited_for_who_says_nothing(start_proxy: StartProxy) -> None:
    """attack-18: it is closed without a word, while connections that had a request are kept."""
    proxy = await start_proxy()
    async with raw(proxy) as (reader, writer), raw(proxy) as (silent, _):
        writer.write(HEALTHY)
        await reader.readuntil(b'"ok"}')
        async with asyncio.timeout(PROMPTLY):
            assert await silent.read() == b""
        writer.write(HEALTHY)
        await reader.readuntil(b'"ok"}')


@pytest.mark.parametrize("framing", ["Content-Length: 2097152\r\n", "Transfer-Encoding: chunked\r\n"])
async def test_f71_a_body_over_the_limit_is_413_and_the_end(framing: str, start_proxy: StartProxy) -> None:
    """S16: refused before it is parsed, and if its length is told, before it is read."""
    proxy = await start_proxy(server={"body_limit_mib": 1})
    async with raw(proxy) as (reader, writer):
        writer.write(f"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n".encode())
        if "chunked" in framing:
            writer.write(b"%x\r\n%b\r\n" % (MIB + 1, b"[" * (MIB + 1)))
        async with asyncio.timeout(PROMPTLY):
            head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"Connection: close" in head


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"{", None),
        (b"[]", None),
        (b'{"input": "Hi"}', "model"),
        (b'{"model": 7, "input": "Hi"}', "model"),
        (b'{"model": "m", "input": 7}', "input"),
        (b'{"model": "m", "input": [{"type": "message", "role": "user", "content": [{"type": "input_text"}]}]}',
         "input[0].content[0].text"),
        (b'{"model": "m", "input": "Hi", "tools": [{"type": "function"}]}', "tools[0].name"),
        (b'{"model": "m", "input": "Hi", "temperature": "hot"}', "temperature"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [True, False])
async def test_f72_what_is_wrong_is_400_and_named(
    body: bytes, param: str | None, stream: bool, backend: ScriptedBackend, proxy: Proxy
) -> None:
    data = body.replace(b"{", b'{"stream": true, ', 1) if stream and b":" in body else body
    headers = {"Content-Type": "application/json"}
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=data, headers=headers) as response:
        error = (await response.json())["error"]
    assert (response.status, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert backend.received == []


async def test_f72_unknown_fields_do_not_matter(proxy: Proxy) -> None:
    assert await told(proxy, frobnicate={"x": [1]}, prompt_cache_retention="24h") == "completed | Hello"


@pytest.mark.parametrize(
    ("coding", "pack", "status"),
    [
        ("gzip", gzip.compress, 200),
        ("deflate", zlib.compress, 200),
        ("zstd", bytes, 415),
        ("br", bytes, 415),
        ("gzip, gzip", bytes, 415),
    ],
)
async def test_f73_a_packed_body_is_read_or_refused(
    coding: str, pack: Callable[[bytes], bytes], status: int, proxy: Proxy
) -> None:
    """S17: one layer, of the codings that can be unpacked in bounded pieces."""
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    data = pack(orjson.dumps(ASK))
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=data, headers=headers) as response:
        assert response.status == status


# ── what is remembered ──


async def test_f76_without_a_store_nothing_depends_on_one(proxy: Proxy) -> None:
    """A client that asks for its answer to be stored gets it all the same."""
    for store in (True, False, None):
        async with proxy.post(ASK | {"store": store}) as response:
            assert in_short(final(await response.read())) == "completed | Hello"


@pytest.mark.parametrize("id", ["resp_0", "", "x" * 5000, "../etc", "resp_\x00"])
async def test_f77_what_is_not_known_is_said_to_be_unknown(
    id: str, backend: ScriptedBackend, proxy: Proxy
) -> None:
    async with proxy.post(ASK | {"previous_response_id": id}) as response:
        error = (await response.json())["error"]
    assert response.status in (400, 404)
    assert (error["code"], error["param"]) == ("previous_response_not_found", "previous_response_id")
    assert backend.received == []


# ── time, and time on the loop ──


@pytest.fixture
def _jumping_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the date finds it a day later."""
    days = count(1)
    monkeypatch.setattr(app.time, "time", lambda: 1_700_000_000.0 + 86_400 * next(days))


@pytest.mark.usefixtures("_jumping_clock")
async def test_f78_a_wall_clock_that_jumps_ends_no_stream(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """All waits go by the monotonic clock, and so do the log's durations."""
    limits = {"idle_seconds": 5, "first_byte_seconds": 5, "total_seconds": 5}
    proxy = await start_proxy(server={"heartbeat_seconds": 5}, backend=limits)
    backend.answers(reply(*[text("x")] * 100))
    assert await told(proxy) == f"completed | {'x' * 100}"
    assert 0 <= proxy.log.request["ms_total"] < 5000


@pytest.mark.usefixtures("_jumping_clock")
async def test_f78_nor_does_it_open_what_is_shut(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """The breaker's pause and a minute's quota last as long as they last."""
    proxy = await start_proxy(
        breaker={"consecutive_failures": 1, "open_seconds": 30}, limits={"requests_per_minute": 3}
    )
    backend.answers(answer(500, b"oops"))
    said = [await told(proxy) for _ in range(4)]
    assert said == ["502 upstream_error", *["503 server_is_overloaded"] * 2, "429 rate_limit_exceeded"]
    assert len(backend.received) == 1


async def test_f79_a_huge_body_does_not_hold_the_others_up(backend: ScriptedBackend, proxy: Proxy) -> None:
    """As large as pictures make it; whoever asks meanwhile does not notice."""
    picture = "data:image/png;base64," + "A" * (12 * MIB)
    content = [{"type": "input_text", "text": "Hi"}, {"type": "input_image", "image_url": picture}]
    body = orjson.dumps({"model": "m", "input": [{"role": "user", "content": content}]})
    backend.answers(reply(text("Hello")))
    async with watching() as watch:
        status, _ = await post_aside(f"{proxy.url}/v1/responses", body)
    assert status == 200
    assert watch.longest < 0.1


# ── bugs, and the outage ──


async def test_f80_a_bug_of_ours_harms_one_stream(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told without its traceback; the stream beside it ends as it should."""
    goes_on = asyncio.Event()

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await goes_on.wait()
        line.send(text("lo"), finish(), usage(), DONE, END)

    backend.plays(begins)
    async with proxy.post(ASK) as beside:
        await beside.content.readuntil(b"output_text.delta")
        with monkeypatch.context() as broken:
            broken.setattr(Pipeline, "__init__", lambda *_, **__: 1 / 0)
            async with proxy.post(ASK) as response:
                said = await response.text()
        assert response.status == 500
        assert "ZeroDivision" not in said
        assert "Traceback" not in said
        (line,) = proxy.log.named("unhandled_exception")
        assert line["request_id"] == response.headers["X-Request-Id"]
        goes_on.set()
        assert b"response.completed" in await beside.read()


@pytest.mark.parametrize("failures", [5, 1000], ids=["with the breaker", "without it"])
async def test_f81_an_outage_is_not_made_worse(
    failures: int, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """A hundred clients at once: the backend sees a fifth more than their requests, and the few that a quiet proxy may
    send besides; with the breaker open, next to none."""
    breaker = {"consecutive_failures": failures, "minimum_requests": 1000, "open_seconds": 30}
    proxy = await start_proxy(breaker=breaker)
    backend.answers(answer(503, b""))
    said = await asyncio.gather(*(told(proxy) for _ in range(20)))
    said += await asyncio.gather(*(told(proxy) for _ in range(80)))
    assert {*said} == {"503 server_is_overloaded"}
    assert len(backend.received) <= (100 if failures > 100 else 20) * 1.2 + RESERVE


async def test_s35_opening_and_leaving_is_not_for_nothing(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    """Who opens and cancels again and again spends the quota, and holds no place."""
    key = "sk-tenant-0123456789"
    tenant = {"keys": [digest(key)], "requests_per_minute": 5}
    proxy = await start_proxy(tenants={"a": tenant})
    talk = Talk()
    backend.plays(talk.play)
    for _ in range(5):
        async with proxy.post(ASK, Authorization=f"Bearer {key}") as response:
            await response.content.readuntil(b"output_text.delta")
    assert await told(proxy, {"Authorization": f"Bearer {key}"}) == "429 rate_limit_exceeded"
    assert len(backend.received) == 5
