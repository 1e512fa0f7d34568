"""The channel to a client is never silent and never stuck."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace

import orjson
import pytest
from aiohttp import web

from proxy.core.errors import ClientFault
from proxy.core.surfaces import clients
from proxy.core.surfaces.errors import error_body
from proxy.shell.http import connection
from proxy.shell.http.answers import error_response
from proxy.shell.http.heartbeat import StreamTiming
from proxy.shell.http.stream import HttpStream
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.tasks import Tasks
from tests.support.proxies import Event, LogLines, Proxy, StartProxy, events, names
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, finish, reply, text

SOON = 0.05
NO = ClientFault("No.")
ASK = {"model": "m", "input": "Hi", "stream": True}

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """A connection to whatever answers so."""
    async with AsyncExitStack() as stack:

        async def serve(handler: Handler) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            runner = web.ServerRunner(web.Server(handler))
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            return await asyncio.open_connection(*runner.addresses[0])

        yield serve


async def said_to(serve: Serve, request: bytes) -> bytes:
    """What a client of such words is answered by a channel that streams twice and ends."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        async with asyncio.timeout(5):
            await request.read()
        channel = HttpStream(request, "req_1", StreamTiming(patience=60, heartbeat=60), Tasks(make_log()))
        if request.path == "/whole":
            await channel.answer({"a": 1})
        else:
            for word in (b"one", b"two"):
                channel.emit(word)
                await channel.flush()
            channel.emit(b"three")
            await channel.finish()
        return channel.response

    reader, writer = await serve(handle)
    writer.write(request)
    async with asyncio.timeout(5):
        said = await reader.read()
    writer.close()
    return said


@pytest.mark.parametrize("asks_to_keep", ["", "Connection: keep-alive\r\n"])
async def test_an_older_client_is_streamed_to_until_the_connection_ends(
    serve: Serve, asks_to_keep: str
) -> None:
    """It knows no chunks, so nothing else can tell it where the stream ends."""
    said = await said_to(serve, f"GET /stream HTTP/1.0\r\n{asks_to_keep}\r\n".encode())
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 200 OK\r\n")
    assert body == b"onetwothree"
    assert b"Transfer-Encoding" not in head
    assert b"keep-alive" not in head


@pytest.mark.parametrize(
    ("version", "asked", "told", "kept"),
    [
        ("1.1", "", b"", True),
        ("1.1", "close", b"Connection: close\r\n", False),
        ("1.0", "keep-alive", b"Connection: keep-alive\r\n", True),
        ("1.0", "", b"", False),
    ],
)
async def test_the_connection_is_kept_if_the_client_wants_it_kept(
    serve: Serve, version: str, asked: str, told: bytes, kept: bool
) -> None:
    wish = f"Connection: {asked}\r\n" if asked else ""
    once = f"GET /whole HTTP/{version}\r\nHost: localhost\r\n{wish}\r\n"
    last = "GET /whole HTTP/1.0\r\n\r\n" if kept else ""
    said = await said_to(serve, (once + last).encode())
    assert said.count(b'{"a":1}') == 1 + kept
    head, _, _ = said.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/{version} 200 OK\r\n".encode())
    assert b"Content-Length: 7" in head
    connection = [line + b"\r\n" for line in head.split(b"\r\n") if line.startswith(b"Connection")]
    assert b"".join(connection) == told


async def test_one_json_body(proxy: Proxy) -> None:
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "application/json"
        body = await response.read()
    assert proxy.log.request["bytes_out"] == len(body)


async def test_a_stream_is_not_to_be_kept_or_collected_on_its_way(proxy: Proxy) -> None:
    async with proxy.post(ASK) as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-cache"
        assert response.headers["X-Accel-Buffering"] == "no"
        assert response.headers["Server"] == "responses-proxy"
        body = await response.read()
    assert proxy.log.request["bytes_out"] == len(body)


async def test_what_came_in_one_read_leaves_in_one_write(backend: ScriptedBackend, proxy: Proxy) -> None:
    """The largest part of the cost of a stream is the number of its writes."""
    backend.answers(reply(*(text(word) for word in ["a", "b", "c", "d", "e", "f", "g", "h"])))
    async with proxy.post(ASK) as response:
        pieces = [piece async for piece, _ in response.content.iter_chunks()]
    assert len(pieces) == 1
    assert len(events(pieces[0])) > 8


class Gate:
    """A backend that sends what it is told, when it is told."""

    def __init__(self, backend: ScriptedBackend, *, head: bool = True) -> None:
        self.asked = asyncio.Event()
        self._line: Line
        self._head = head
        backend.plays(self._play)

    async def _play(self, line: Line) -> None:
        await line.request()
        self._line = line
        if self._head:
            line.send(HEAD)
        self.asked.set()
        await line.closed()

    async def send(self, *data: bytes) -> None:
        await self.asked.wait()
        self._line.send(*data)


async def read_events(content: asyncio.StreamReader, until: str) -> list[Event]:
    found: list[Event] = []
    async with asyncio.timeout(5):
        while not found or found[-1].name != until:
            found += events(await content.readuntil(b"\n\n"))
    return found


async def test_a_stream_opens_when_patience_ends(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """The backend has not even answered, and clients see life."""
    proxy = await start_proxy(server={"patience_seconds": SOON})
    gate = Gate(backend, head=False)
    async with proxy.post(ASK) as response:
        assert response.status == 200
        assert names(await read_events(response.content, "response.in_progress")) == [
            "response.created",
            "response.in_progress",
        ]
        await gate.send(reply(text("Hello")))
        rest = names(events(await response.read()))
    assert rest[0] == "response.output_item.added"
    assert rest[-2:] == ["response.completed", "done"]


async def test_a_heartbeat_that_finds_nobody_is_the_last(serve: Serve) -> None:
    beats = []
    log = LogLines()
    tasks = Tasks(make_log(stream=log.stream))
    over = asyncio.Event()

    class Counted(HttpStream):
        async def flush(self) -> None:
            beats.append(self.opened)
            await super().flush()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        channel = Counted(request, "req_1", StreamTiming(patience=SOON / 10, heartbeat=SOON / 10), tasks)
        assert request.transport is not None
        request.transport.abort()
        channel.start_timers()
        loop = asyncio.get_running_loop()
        later = loop.create_future()
        loop.call_later(SOON, later.set_result, None)
        await later
        channel.stop()
        over.set()
        return error_response(NO, error_body(NO), "req_1")

    _, writer = await serve(handle)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    async with asyncio.timeout(5):
        await over.wait()
    writer.close()
    await tasks.close()
    assert (beats, log.text) == ([False], "")


@pytest.mark.parametrize("streams", [True, False])
async def test_a_heartbeat_that_comes_too_late_does_not_write_after_the_end(
    serve: Serve, streams: bool
) -> None:
    """Patience ends in the same moment as the request: one of the two answers, not both."""
    log = LogLines()
    tasks = Tasks(make_log(stream=log.stream))

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        channel = HttpStream(request, "req_1", StreamTiming(patience=60, heartbeat=60), tasks)
        channel.start_timers()
        channel._heartbeat.beat()
        if not streams:
            channel.stop()
            return error_response(NO, error_body(NO), "req_1")
        channel.emit(b"data: all\n\n")
        await channel.finish()
        channel.stop()
        return channel.response

    reader, writer = await serve(handle)
    writer.write(
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    said = await reader.read()
    assert said.count(b"HTTP/1.1 ") == 2
    assert said.count(b"data: all" if streams else b'"No."') == 2
    assert said.endswith(b"0\r\n\r\n" if streams else b"}}")
    assert log.text == ""
    writer.close()
    await tasks.close()


async def test_silence_is_filled(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """F62."""
    proxy = await start_proxy(server={"patience_seconds": SOON, "heartbeat_seconds": SOON})
    gate = Gate(backend)
    async with proxy.post(ASK) as response:
        found = await read_events(response.content, "comment")
        assert found[-1].data == "keep-alive"
        await gate.send(text("Hello"))
        found += await read_events(response.content, "response.output_text.delta")
        found += await read_events(response.content, "comment")
        await gate.send(finish(), DONE, END)
        found += events(await response.read())
    spoken = [event for event in found if event.name not in ("comment", "done")]
    assert [event.data["sequence_number"] for event in spoken] == list(range(len(spoken)))


CODEX = {"originator": "codex_exec"}


async def test_silence_is_filled_with_events_for_clients_that_wait_for_events(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """F62: Codex's idle timer does not see comments."""
    proxy = await start_proxy(server={"patience_seconds": SOON, "heartbeat_seconds": SOON})
    gate = Gate(backend)
    async with proxy.post(ASK, **CODEX) as response:
        found = [
            event for _ in range(2) for event in await read_events(response.content, "response.in_progress")
        ]
        await gate.send(text("Hello"))
        found += await read_events(response.content, "response.output_text.delta")
        found += await read_events(response.content, "response.in_progress")
        await gate.send(finish(), DONE, END)
        found += events(await response.read())
    assert "comment" not in names(found)
    assert names(found)[:3] == ["response.created", "response.in_progress", "response.in_progress"]
    assert names(found)[-2:] == ["response.completed", "done"]
    spoken = [event.data["sequence_number"] for event in found[:-1]]
    assert spoken == list(range(len(spoken)))


async def test_a_client_that_must_see_something_sooner_does(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever heartbeat suits the connection: the shorter of the two counts."""
    hasty = replace(clients.CODEX, event_heartbeat=SOON)
    monkeypatch.setattr(clients, "recognise", lambda headers: hasty)
    proxy = await start_proxy(server={"patience_seconds": SOON, "heartbeat_seconds": 60})
    gate = Gate(backend)
    async with proxy.post(ASK) as response:
        for _ in range(3):
            await read_events(response.content, "response.in_progress")
        await gate.send(reply(text("Hello")))
        await response.read()


async def test_a_stream_that_flows_is_not_interrupted_by_comments(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """What patience had waited for has come long before it ends."""
    proxy = await start_proxy(server={"patience_seconds": SOON, "heartbeat_seconds": 60})
    gate = Gate(backend)
    loop = asyncio.get_running_loop()
    patience_has_ended = loop.time() + 2 * SOON
    asking = loop.create_task(proxy.session.post(f"{proxy.url}/v1/responses", json=ASK))
    found: list[Event] = []
    await gate.send(text("word "))
    async with await asking as response:
        while loop.time() < patience_has_ended:
            await gate.send(text("word "))
            found += await read_events(response.content, "response.output_text.delta")
        await gate.send(finish(), DONE, END)
        found += events(await response.read())
    assert "comment" not in names(found)


async def test_a_client_that_takes_nothing_is_given_up(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S26, F67: and the backend with it."""
    monkeypatch.setattr(connection, "STALLED_SECONDS", SOON)
    proxy = await start_proxy(server={"patience_seconds": SOON, "heartbeat_seconds": SOON})
    given_up = asyncio.Event()

    async def floods(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        try:
            while True:
                line.send(text("x" * 60_000))
                await line.drained()
        except ConnectionError:
            given_up.set()

    backend.plays(floods)
    async with proxy.post(ASK) as response:
        assert response.status == 200
        async with asyncio.timeout(10):
            await given_up.wait()
    assert proxy.log.request["status"] == 499


async def test_a_whole_answer_that_nobody_takes_is_given_up_too(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "STALLED_SECONDS", SOON)
    proxy = await start_proxy(server={"heartbeat_seconds": SOON})
    backend.answers(reply(*[text("😀" * 1_000_000)] * 6))
    body = orjson.dumps({"model": "m", "input": "Hi"})
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert (await proxy.log.wait_for("request"))["status"] == 499
    writer.close()
