"""Requests on kept connections, over real sockets (F05, F06, F09, F22, S08-S10, S12)."""

import asyncio
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import aiohttp
import pytest
import trustme
from aiohttp import connector

from proxy.shell.http import client as module
from proxy.shell.http.answer_body import FULL_BYTES
from proxy.shell.http.client import Answer, HttpClient
from proxy.shell.http.deadlines import Deadlines
from proxy.shell.http.pace import PIECE_BYTES
from tests.support.sockets import END, HEAD, PROMPTLY, Line, ScriptedBackend, answer, http_chunk, reply, text


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    client = HttpClient("a proxy", Deadlines())
    yield client
    await client.close()


async def ask(client: HttpClient, backend: ScriptedBackend, body: bytes = b"{}", **headers: str) -> Answer:
    until = asyncio.get_running_loop().time() + PROMPTLY
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.ask("POST", f"{backend.url}/chat", told, body, connect=PROMPTLY, until=until)


SOCKET_BYTES = 64 * 1024
"""What the socket of a backend holds that takes nothing."""


@pytest.fixture(params=["http", "https"])
async def either(
    request: pytest.FixtureRequest, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ScriptedBackend]:
    """The backend, with and without TLS."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BYTES)
    port = listening.getsockname()[1]
    backend.root = f"{request.param}://127.0.0.1:{port}"
    context = None
    if request.param == "https":
        somebody, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        somebody.issue_cert("127.0.0.1").configure_cert(context)
        trusting = ssl.create_default_context()
        somebody.configure_trust(trusting)
        monkeypatch.setattr(connector, "_SSL_CONTEXT_VERIFIED", trusting)
    async with await asyncio.start_server(backend._connected, sock=listening, ssl=context):
        yield backend


async def read(answer: Answer) -> bytes:
    whole = b""
    async with asyncio.timeout(PROMPTLY):
        while data := await answer.body.read(PIECE_BYTES):
            whole += data
    return whole


# ── what is sent ──


async def test_nothing_is_sent_that_was_not_decided_here(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """S12: and no compression is asked for, which would delay a stream."""
    with closing(await ask(client, backend, b'{"a":1}', Content_Type="application/json")):
        (sent,) = backend.received
    assert (sent.method, sent.path, sent.json) == ("POST", "/v1/chat", {"a": 1})
    assert sent.headers == {
        "host": backend.root.removeprefix("http://"),
        "accept": "*/*",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": "7",
        "user-agent": "a proxy",
    }


async def test_a_question_has_no_body(client: HttpClient, backend: ScriptedBackend) -> None:
    until = asyncio.get_running_loop().time() + PROMPTLY
    with closing(await client.ask("GET", f"{backend.url}/models?a=b c", {}, connect=PROMPTLY, until=until)):
        (sent,) = backend.received
    assert (sent.method, sent.path) == ("GET", "/v1/models?a=b+c")
    assert "content-length" not in sent.headers


async def test_what_is_told_replaces_what_is_usual(client: HttpClient, backend: ScriptedBackend) -> None:
    with closing(await ask(client, backend, User_Agent="mine", Host="elsewhere", Accept="a/b")):
        (sent,) = backend.received
    assert sent.headers == {
        "host": "elsewhere",
        "accept": "a/b",
        "accept-encoding": "identity",
        "content-length": "2",
        "user-agent": "mine",
    }


async def test_neither_proxies_nor_passwords_are_taken_from_the_environment(
    client: HttpClient, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10: a variable that somebody set for a browser must not see the key."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with closing(await ask(client, backend)) as answered:
        assert answered.status == 200


async def test_a_cookie_is_not_kept(client: HttpClient, backend: ScriptedBackend) -> None:
    """S09: what a backend says of one client must not be told for another."""
    backend.answers(answer(200, b"{}", Set_Cookie="session=1"))
    backend.root = backend.root.replace("127.0.0.1", "localhost")  # cookies are for names
    for _ in range(2):
        with closing(await ask(client, backend)) as answered:
            await read(answered)
    assert all("cookie" not in sent.headers for sent in backend.received)


async def test_a_redirect_is_an_answer_and_not_followed(client: HttpClient, backend: ScriptedBackend) -> None:
    """F09, S08: the key would go along."""
    backend.answers(answer(307, Location=f"{backend.root}/elsewhere"))
    with closing(await ask(client, backend)) as answered:
        assert answered.status == 307
    assert len(backend.received) == 1


LARGE = b"x" * (8 << 20)
"""More than the buffers of two sockets hold."""


async def test_a_large_request_arrives_whole(client: HttpClient, either: ScriptedBackend) -> None:
    for _ in range(2):
        with closing(await ask(client, either, LARGE)) as answered:
            await read(answered)
    assert [sent.body == LARGE for sent in either.received] == [True, True]
    assert either.connections == 1


async def test_a_large_request_that_has_left_is_not_held(client: HttpClient, either: ScriptedBackend) -> None:
    """F67: hundreds of connections may be kept."""
    body = LARGE + b"x"
    held_before = sys.getrefcount(body)
    with closing(await ask(client, either, body)) as answered:
        await read(answered)
    assert sys.getrefcount(body) == held_before


async def test_of_a_large_request_as_much_is_sent_as_is_taken(
    client: HttpClient, either: ScriptedBackend
) -> None:
    """F79: all of it at once would have to be copied, and encrypted, while everybody waits."""
    over = asyncio.Event()

    async def takes_nothing(line: Line) -> None:
        line.send(HEAD)
        await over.wait()

    either.plays(takes_nothing)
    with closing(await ask(client, either, LARGE)) as answered:
        assert answered.connection is not None
        assert answered.connection.transport is not None
        assert answered.connection.transport.get_write_buffer_size() < len(LARGE) / 8
    over.set()


# ── what comes ──


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
    ],
    ids=["with a length", "until it closes", "after an interim answer"],
)
async def test_every_form_of_body_is_read(client: HttpClient, backend: ScriptedBackend, head: bytes) -> None:
    """F22."""

    async def plays(line: Line) -> None:
        await line.request()
        line.send(head, b"body")

    backend.plays(plays)
    with closing(await ask(client, backend)) as answered:
        assert await read(answered) == b"body"


async def test_a_switch_of_protocols_is_an_answer_like_any_other(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    backend.answers(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
    with closing(await ask(client, backend)) as answered:
        assert answered.status == 101


async def test_what_does_not_fit_is_taken_when_there_is_room(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """F67: the backend waits for whoever reads."""
    backend.answers(b"".join((HEAD, *[http_chunk(LARGE[:100_000])] * 80, END)))
    with closing(await ask(client, backend)) as answered:
        await answered.body.read(PIECE_BYTES)
        assert answered.connection is not None
        assert answered.body.total_bytes < 2 * FULL_BYTES
        assert len(await read(answered)) > 7_000_000


# ── connections ──


async def test_a_connection_is_used_again(client: HttpClient, backend: ScriptedBackend) -> None:
    for _ in range(3):
        answered = await ask(client, backend)
        await read(answered)
        assert answered.connection is None
    assert backend.connections == 1


async def test_a_connection_whose_body_was_not_read_to_its_end_is_closed(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """E4: what is still to come would be taken for the next answer."""
    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hello"))
        await line.closed()
        gone.set()

    backend.plays(plays)
    with closing(await ask(client, backend)) as answered:
        await answered.body.read(PIECE_BYTES)
    async with asyncio.timeout(PROMPTLY):
        await gone.wait()


async def test_an_answer_that_did_not_wait_for_the_request_ends_its_connection(
    client: HttpClient, either: ScriptedBackend
) -> None:
    """What was not taken of this request would be taken for the next."""
    over = asyncio.Event()

    async def refuses(line: Line) -> None:
        line.send(answer(413, b"too much"))
        await over.wait()

    async def answers(line: Line) -> None:
        await line.request()
        line.send(answer(200))

    either.plays(refuses, answers)
    with closing(await ask(client, either, LARGE)) as answered:
        assert (answered.status, await read(answered)) == (413, b"too much")
    with closing(await ask(client, either)) as answered:
        assert answered.status == 200
    over.set()


async def test_a_request_that_nobody_takes_is_given_up_with_its_bytes(
    client: HttpClient, either: ScriptedBackend
) -> None:
    """A socket that closed politely would wait for them to leave."""
    over, cut = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def takes_nothing(line: Line) -> None:
        await over.wait()
        try:
            await line.request()
        except asyncio.IncompleteReadError as failure:
            cut.set_result(len(failure.partial))
            raise
        except ConnectionError:
            cut.set_result(0)
            raise

    either.plays(takes_nothing)
    loop = asyncio.get_running_loop()
    with pytest.raises(TimeoutError):
        await client.ask("POST", either.url, {}, LARGE, connect=PROMPTLY, until=loop.time() + 0.05)
    over.set()
    async with asyncio.timeout(PROMPTLY):
        assert await cut < len(LARGE)


async def test_what_came_unasked_is_not_taken_for_the_next_answer(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """E4: some servers tell even an idle connection why they are about to close it."""
    begun, over = asyncio.Event(), asyncio.Event()

    async def complains(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        await begun.wait()
        line.send(http_chunk(b"first"), END, answer(408, b"too slow"))
        await over.wait()

    async def answers(line: Line) -> None:
        await line.request()
        line.send(answer(200, b"second"))

    backend.plays(complains, answers)
    with closing(await ask(client, backend)) as answered:
        begun.set()
        assert await read(answered) == b"first"
    with closing(await ask(client, backend)) as answered:
        assert await read(answered) == b"second"
    over.set()


async def test_to_connect_takes_no_longer_than_the_beginning_of_the_answer_may(client: HttpClient) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        with socket.create_connection(address):  # there is room for one
            loop = asyncio.get_running_loop()
            asked = client.ask(
                "GET", f"http://127.0.0.1:{address[1]}", {}, connect=PROMPTLY, until=loop.time() + 0.05
            )
            with pytest.raises(aiohttp.ConnectionTimeoutError):
                async with asyncio.timeout(PROMPTLY / 2):
                    await asked


async def test_a_connection_is_cut_without_a_farewell(client: HttpClient, either: ScriptedBackend) -> None:
    """A backend that takes nothing would not answer it, and hold the connection for half a minute."""
    over = asyncio.Event()

    async def listens_no_more(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hello"))
        line._writer.transport.pause_reading()
        await over.wait()
        line.reset()

    either.plays(listens_no_more)
    answered = await ask(client, either)
    assert answered.connection is not None
    assert answered.connection.protocol is not None
    lost = answered.connection.protocol.closed
    assert lost is not None
    answered.close()
    async with asyncio.timeout(PROMPTLY):
        await lost
    over.set()


async def tires(line: Line) -> None:
    """Of a connection, in the moment it is used again."""
    await line.request()
    line.send(reply(text("first")))
    await line.request()
    line.close()


async def test_a_kept_connection_that_was_just_closed_is_replaced_once(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """F06."""

    async def fresh(line: Line) -> None:
        await line.request()
        line.send(reply(text("second")))

    backend.plays(tires, fresh)
    for expected in (b"first", b"second"):
        assert expected in await read(await ask(client, backend))
    assert len(backend.received) == 3


async def test_a_kept_connection_that_is_closed_later_is_not_replaced(
    client: HttpClient, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F05, F06: the backend has been at work since, and would be paid twice."""
    monkeypatch.setattr(module, "RACE_SECONDS", 0.0)
    backend.plays(tires)
    assert b"first" in await read(await ask(client, backend))
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await ask(client, backend)
    assert len(backend.received) == 2


async def test_a_kept_connection_that_had_begun_to_answer_is_not_replaced(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """F06: so the backend has had the request."""

    async def begins(line: Line) -> None:
        await line.request()
        line.send(reply(text("first")))
        await line.request()
        line.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        line.close()

    backend.plays(begins)
    assert b"first" in await read(await ask(client, backend))
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await ask(client, backend)
    assert len(backend.received) == 2


async def test_a_fresh_connection_that_is_closed_is_not_tried_again(
    client: HttpClient, backend: ScriptedBackend
) -> None:
    """F05, F06: it may have begun to work on the request."""

    async def closes(line: Line) -> None:
        await line.request()
        line.close()

    backend.plays(closes)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await ask(client, backend)
    assert len(backend.received) == 1


async def test_a_connection_that_is_lost_before_it_was_used_is_told(
    client: HttpClient, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the handshake and the request others have their turn."""
    connect = aiohttp.TCPConnector.connect

    async def and_lose(*args: Any) -> Any:
        connection = await connect(*args)
        assert connection.transport is not None
        connection.transport.abort()
        return connection

    monkeypatch.setattr(aiohttp.TCPConnector, "connect", and_lose)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await ask(client, backend)
