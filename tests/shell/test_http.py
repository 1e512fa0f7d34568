"""Answers over HTTP: the envelope, the request's id, and the channel that is never silent and never stuck."""

import asyncio
from dataclasses import replace

import aiohttp
import orjson
import pytest
from aiohttp import web

from proxy.core.errors import ClientFault, Fault, ProxyFault, RateLimited, Timeout, Unreachable
from proxy.core.ids import Mint
from proxy.core.inbound import clients
from proxy.shell import connection
from proxy.shell.http import Channel, Tempo, refuse, request_id
from proxy.shell.logs import make_log
from proxy.shell.tasks import Tasks
from tests.shell.backend import DONE, END, HEAD, Line, ScriptedBackend, finish, reply, text
from tests.shell.conftest import Event, LogLines, Proxy, StartProxy, events, names

MINT = Mint(lambda size: "0" * 2 * size)
SOON = 0.05
ASK = {"model": "m", "input": "Hi", "stream": True}


# ── the request's id ──


@pytest.mark.parametrize("name", ["x-request-id", "x-client-request-id"])
def test_a_clients_own_id_is_kept(name: str) -> None:
    assert request_id({name: "Turn-1.2_3"}, MINT) == "Turn-1.2_3"


@pytest.mark.parametrize(
    "given", ["", "a b", "a\r\nSet-Cookie: x", "ü", "x" * 129, "sk-proj-0123456789abcdef"]
)
def test_an_id_that_could_do_harm_is_replaced(given: str) -> None:
    """S13, S06."""
    assert request_id({"x-request-id": given}, MINT) == "req_" + "0" * 32


async def test_every_answer_carries_its_id(proxy: Proxy) -> None:
    for path in ("/v1/responses", "/v1/models", "/nowhere", "/healthz"):
        async with proxy.session.get(proxy.url + path, headers={"X-Request-Id": "abc"}) as response:
            assert response.headers["X-Request-Id"] == "abc"
    async with proxy.post(ASK) as response:
        assert response.headers["X-Request-Id"].startswith("req_")
        assert response.headers["X-Request-Id"] == proxy.log.named("request")[-1]["request_id"]


# ── refusals ──


def headers_of(fault: Fault) -> dict[str, str]:
    return dict(refuse(fault, "req_1").headers)


def test_the_envelope() -> None:
    response = refuse(ClientFault("No.", param="input[0]", code="invalid_value"), "req_1")
    assert response.status == 400
    assert response.body is not None
    assert orjson.loads(response.body) == {
        "error": {
            "message": "No.",
            "type": "invalid_request_error",
            "param": "input[0]",
            "code": "invalid_value",
        }
    }


@pytest.mark.parametrize(
    ("seconds", "whole", "milliseconds"),
    [(0, "1", "1"), (0.2, "1", "200"), (1.5, "2", "1500"), (30, "30", "30000")],
)
def test_the_time_to_come_back_is_told_in_whole_seconds(
    seconds: float, whole: str, milliseconds: str
) -> None:
    """F11."""
    told = headers_of(RateLimited("Slow down.", retry_after=seconds))
    assert (told["Retry-After"], told["Retry-After-Ms"]) == (whole, milliseconds)


def test_no_time_is_made_up() -> None:
    assert "Retry-After" not in headers_of(RateLimited("Slow down."))


def test_a_retry_that_cannot_help_is_advised_against() -> None:
    """The OpenAI SDKs would otherwise repeat every 5xx twice."""
    assert headers_of(Unreachable("No TLS.", retryable=False))["X-Should-Retry"] == "false"
    assert headers_of(ClientFault("No."))["X-Should-Retry"] == "false"
    assert "X-Should-Retry" not in headers_of(Timeout("Late."))
    assert "X-Should-Retry" not in headers_of(ProxyFault("Ours.", retryable=True))


# ── the channel ──


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


async def test_a_heartbeat_that_finds_nobody_is_the_last(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats = []
    beaten = asyncio.Event()

    async def closing(*_: object) -> None:
        beats.append(1)
        beaten.set()
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    monkeypatch.setattr(web.StreamResponse, "write", closing)
    proxy = await start_proxy(server={"patience_seconds": SOON / 10, "heartbeat_seconds": SOON / 10})
    gate = Gate(backend)
    async with proxy.session.post(f"{proxy.url}/v1/responses", json=ASK) as response:
        await beaten.wait()
        loop = asyncio.get_running_loop()
        later = loop.create_future()
        loop.call_later(SOON, later.set_result, None)
        await later
        await gate.send(text("Hello"), finish(), DONE, END)
        await response.read()
    assert len(beats) == 1
    assert proxy.log.named("background task failed") == []


@pytest.mark.parametrize("streams", [True, False])
async def test_a_heartbeat_that_comes_too_late_does_not_write_after_the_end(
    monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    """Patience ends in the same moment as the request: one of the two answers, not both."""
    log = LogLines()
    tasks = Tasks(make_log(stream=log.stream))

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        channel = Channel(request, "req_1", Tempo(patience=60, heartbeat=60), tasks)
        channel.watch()
        channel._beat()
        if not streams:
            channel.stop()
            return refuse(ClientFault("No."), "req_1")
        channel.emit(b"data: all\n\n")
        await channel.finish()
        channel.stop()
        assert channel.response is not None
        return channel.response

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    reader, writer = await asyncio.open_connection(*runner.addresses[0])
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    said = await reader.read()
    assert said.count(b"HTTP/1.1 ") == 2
    assert said.count(b"data: all" if streams else b'"No."') == 2
    assert said.endswith(b"0\r\n\r\n" if streams else b"}}")
    assert log.text == ""
    writer.close()
    await runner.cleanup()
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
    backend.answers(reply(*[text("x" * 1_000_000)] * 20))
    body = orjson.dumps({"model": "m", "input": "Hi"})
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(b"POST /v1/responses HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert (await proxy.log.wait_for("request"))["status"] == 499
    writer.close()
