"""From the first packet to the backend until its first byte (F01-F15)."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import trustme

from tests.support.outcomes import ASK, Row, black_hole, told
from tests.support.processes import no_more_files
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    END,
    HEAD,
    Line,
    ScriptedBackend,
    answer,
    delta,
    finish,
    reply,
    scripted,
    text,
)


def refused(status: int, message: str, **error: str) -> bytes:
    return answer(status, {"error": {"message": message, **error}})


ROWS = [
    Row("F09", "a redirect", answer(307, Location="http://elsewhere.invalid/"), "502 upstream_redirect"),
    Row("F10", "it wants a key, and nobody has one",
        refused(401, "bad key sk-canary-01234567"), "502 upstream_auth"),
    Row("F11", "a limit",
        answer(429, {"error": {"message": "Slow down."}}, Retry_After="7"), "429 rate_limit_exceeded"),
    Row("F12", "a crash", answer(500, b"oops"), "502 upstream_error"),
    Row("F12", "a bad gateway", answer(502, b"<html>"), "502 upstream_error"),
    Row("F12", "overload", answer(503, b""), "503 server_is_overloaded"),
    Row("F12", "overload, as Anthropic says it", answer(529, b""), "503 server_is_overloaded"),
    Row("F12", "a timeout of its own", answer(504, b""), "504 upstream_timeout"),
    Row("F13", "an outgrown window, OpenAI",
        refused(400, "x", code="context_length_exceeded"), "400 context_length_exceeded"),
    Row("F13", "an outgrown window, vLLM",
        refused(400, "This model's maximum context length is 8192 tokens."), "400 context_length_exceeded"),
    Row("F13", "an outgrown window, llama.cpp",
        refused(400, "the request exceeds the available context size", type="exceed_context_size_error"),
        "400 context_length_exceeded"),
    Row("F14", "a mistake, in no JSON", answer(422, b"no such thing"), "422 None"),
    Row("F15", "no such model", refused(404, "The model `m` does not exist."), "404 model_not_found"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_row(row: Row, backend: ScriptedBackend, proxy: Proxy) -> None:
    await row.check(backend, proxy)


@pytest.mark.parametrize(("status", "asked"), [(429, 3), (500, 3), (502, 3), (503, 6), (504, 3)])
async def test_f12_only_who_did_no_work_is_asked_again(
    status: int, asked: int, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Overload says so by itself; of others a model might be paid for twice. And no more than once, within a budget."""
    backend.answers(answer(status, b""))
    for _ in range(3):
        await told(proxy)
    assert len(backend.received) <= asked


# ── no connection ──


async def test_f01_nobody_listens(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        proxy = await start_proxy(backend={"url": f"http://127.0.0.1:{free.getsockname()[1]}/v1"})
        async with proxy.post(ASK) as response:
            assert (response.status, "X-Should-Retry" in response.headers) == (502, False)
            error = (await response.json())["error"]
    assert error["code"] == "upstream_unreachable"
    assert "127.0.0.1" not in error["message"]
    assert "127.0.0.1" in proxy.log.request["cause"]


async def test_f02_a_name_that_was_unknown_is_asked_for_again(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[str] = []
    resolve = socket.getaddrinfo

    def look_up(host: str, *rest: Any, **more: Any) -> Any:
        if host != "backend.test":
            return resolve(host, *rest, **more)
        if not known:
            raise socket.gaierror(socket.EAI_NONAME, "not known")
        return resolve(known[0], *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    proxy = await start_proxy(backend={"url": backend.url.replace("127.0.0.1", "backend.test")})
    assert await told(proxy) == "502 upstream_unreachable"
    known.append("127.0.0.1")
    assert await told(proxy) == "completed | Hello"


@asynccontextmanager
async def encrypted(backend: ScriptedBackend) -> AsyncIterator[tuple[str, list[None]]]:
    """The backend behind TLS, and how often somebody began to speak it; what comes through is what it gets."""
    begun: list[None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)  # nobody vouches for it
    context.sni_callback = lambda *_: begun.append(None)
    server = await asyncio.start_server(backend._connected, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", begun


@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_f03_a_certificate_that_nobody_vouches_for(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """No request, no second try, and no word about it but in the log."""
    async with encrypted(backend) as (url, begun):
        proxy = await start_proxy(backend={"url": url, "key": "canary-key-0123"})
        async with proxy.post(ASK) as response:
            assert (response.status, response.headers["X-Should-Retry"]) == (502, "false")
            error = (await response.json())["error"]
    assert error["code"] == "upstream_unreachable"
    assert "certificate" not in error["message"].lower()
    assert "certificate" in proxy.log.request["cause"].lower()
    assert (len(begun), backend.received) == (1, [])


def breaks_off(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def hangs_up(writer: asyncio.StreamWriter) -> None:
    writer.close()


def speaks_plainly(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    writer.close()


@pytest.mark.parametrize("answers", [speaks_plainly, hangs_up, breaks_off])
async def test_f03_no_tls_at_all_and_no_way_around_it(
    answers: Callable[[asyncio.StreamWriter], None], start_proxy: StartProxy
) -> None:
    """Nor is a backend asked twice that breaks the handshake off."""
    heard: list[bytes] = []

    async def listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(65536))
        answers(writer)

    async with await asyncio.start_server(listens, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        proxy = await start_proxy(backend={"url": f"https://127.0.0.1:{port}/v1", "key": "canary-key-0123"})
        assert await told(proxy) == "502 upstream_unreachable"
    assert len(heard) == 1
    assert b"canary" not in heard[0]


async def test_f04_a_connection_that_does_not_come_about(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    with black_hole() as url:
        proxy = await start_proxy(backend={"url": url, "connect_seconds": 0.1})
        async with asyncio.timeout(2):
            assert await told(proxy) == "504 upstream_timeout"


async def test_f05_a_backend_that_takes_the_request_and_says_nothing(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Its connection is closed, and it is not asked again: it may be at work."""
    gone = asyncio.Event()

    async def silent(line: Line) -> None:
        await line.request()
        await line.closed()
        gone.set()

    backend.plays(silent)
    proxy = await start_proxy(backend={"first_byte_seconds": 0.1})
    assert await told(proxy) == "504 upstream_timeout"
    async with asyncio.timeout(1):
        await gone.wait()
    assert len(backend.received) == 1


@pytest.mark.parametrize("stream", [True, False])
async def test_f06_a_kept_connection_that_was_just_closed_is_replaced(
    stream: bool, backend: ScriptedBackend, proxy: Proxy
) -> None:
    async def tires(line: Line) -> None:
        await line.request()
        line.send(reply(text("Hello")))
        await line.request()
        line.close()

    async def fresh(line: Line) -> None:
        await line.request()
        line.send(reply(text("Hello")))

    backend.plays(tires, fresh)
    for _ in range(2):
        assert await told(proxy, stream=stream) == "completed | Hello"
    assert backend.connections == 2


async def test_f06_half_an_answer_is_not_asked_for_again(backend: ScriptedBackend, proxy: Proxy) -> None:
    """One byte is enough: the backend has begun to work."""

    async def tires(line: Line) -> None:
        await line.request()
        line.send(reply(text("Hello")))
        await line.request()
        line.send(b"H")
        line.close()

    backend.plays(tires)
    await told(proxy)
    assert (await told(proxy)).startswith("502 ")
    assert len(backend.received) == 2


# ── no room ──


async def test_f07_no_more_files_is_told_at_once_and_harms_nobody(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    goes_on = asyncio.Event()

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await goes_on.wait()
        line.send(text("lo"), finish(), b"0\r\n\r\n")

    async def once(line: Line) -> None:
        await line.request()
        line.send(answer(400, {"error": {"message": "no"}}, Connection="close"))
        line.close()

    backend.plays(begins, once)
    async with proxy.post(ASK) as stream:
        await stream.content.readuntil(b"output_text.delta")
        await told(proxy)  # so that the client has a connection to ask on
        with no_more_files():
            async with proxy.post(ASK) as response:
                assert (response.status, response.headers["Retry-After"]) == (503, "1")
                assert (await response.json())["error"]["code"] == "server_is_overloaded"
        goes_on.set()
        assert b"response.completed" in await stream.read()
    backend.answers(reply(text("Hello")))
    assert await told(proxy) == "completed | Hello"


async def test_f07_too_many_at_once_are_told_at_once(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.concurrency.MAX_EXCHANGES", 2)  # of which one alone may have half
    proxy = await start_proxy()
    goes_on = asyncio.Event()

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await goes_on.wait()
        line.send(text("lo"), finish(), b"0\r\n\r\n")

    backend.plays(begins)
    async with proxy.post(ASK) as stream:
        await stream.content.readuntil(b"output_text.delta")
        assert await told(proxy) == "503 server_is_overloaded"
        goes_on.set()
        assert b"response.completed" in await stream.read()


async def test_f08_a_backend_that_keeps_failing_is_left_alone(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker={"consecutive_failures": 3, "open_seconds": 30})
    backend.answers(answer(502, b"oops"))
    for _ in range(3):
        assert await told(proxy) == "502 upstream_error"
    async with proxy.post(ASK) as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
    assert len(backend.received) == 3


@asynccontextmanager
async def begun(proxy: Proxy) -> AsyncIterator[None]:
    """Somebody's stream, whose end is far away."""
    async with proxy.post(ASK | {"model": "long"}) as stream:
        await stream.content.readuntil(b"output_text.delta")
        yield


async def long_or_broken(line: Line) -> None:
    """A backend that goes on telling whoever asks for much, and fails all others."""
    while (await line.request()).json["model"] != "long":
        line.send(answer(502, b"oops"))
    line.send(HEAD, text("Hel"))
    await line.closed()


async def test_f08_streams_that_go_well_speak_for_a_backend_long_before_they_end(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Else five quick failures would close it to everybody, though most are served well."""
    proxy = await start_proxy(breaker={"consecutive_failures": 2, "open_seconds": 30})
    backend.plays(long_or_broken)
    async with AsyncExitStack() as streams:
        for _ in range(4):
            assert await told(proxy) == "502 upstream_error"
            await streams.enter_async_context(begun(proxy))
        assert [await told(proxy) for _ in range(3)] == ["502 upstream_error"] * 2 + [
            "503 server_is_overloaded"
        ]


async def test_f08_replies_that_all_break_off_open_it_too(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """F60: they began well, but their ends count."""
    proxy = await start_proxy(breaker={"consecutive_failures": 3, "open_seconds": 30})
    backend.answers(HEAD + text("Hel") + END)
    for _ in range(3):
        assert await told(proxy) == "failed upstream_stream_truncated | Hel…"
    assert await told(proxy) == "503 server_is_overloaded"


async def test_f08_neither_mistakes_nor_limits_count(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker={"consecutive_failures": 1, "open_seconds": 30})
    backend.answers(answer(400, b"no"), answer(404, b"no"), answer(429, b"no"), reply(text("Hello")))
    said = [await told(proxy) for _ in range(4)]
    assert said[-1] == "completed | Hello"


# ── what a refusal says ──


async def test_f09_the_key_does_not_go_where_a_redirect_points(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """S08: though it points to this very backend."""
    backend.answers(answer(308, Location=f"{backend.root}/elsewhere"))
    proxy = await start_proxy(backend={"key": "canary-key-0123"})
    assert await told(proxy) == "502 upstream_redirect"
    assert [asked.path for asked in backend.received] == ["/v1/chat/completions"]


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("settings", "headers", "right"),
    [
        ({"key": "canary-key-0123"}, {}, "502 upstream_auth"),
        ({"forward_key": True}, {"Authorization": "Bearer canary-own-0123"}, "401 invalid_api_key"),
    ],
    ids=["the proxy's", "the client's"],
)
async def test_f10_whose_key_it_was(
    status: int,
    settings: dict[str, Any],
    headers: dict[str, str],
    right: str,
    backend: ScriptedBackend,
    start_proxy: StartProxy,
) -> None:
    backend.answers(refused(status, "Incorrect API key: canary-key-0123 canary-own-0123"))
    proxy = await start_proxy(backend=settings)
    assert await told(proxy, headers) == right
    async with proxy.post(ASK, **headers) as response:
        assert b"canary" not in await response.read()


async def test_f11_a_limit_keeps_its_time_in_every_form(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Headers for SDKs, words for Codex."""
    backend.answers(answer(429, {"error": {"message": "Slow down."}}, Retry_After="7"))
    async with proxy.post(ASK) as response:
        assert (response.headers["Retry-After"], response.headers["Retry-After-Ms"]) == ("7", "7000")
    async with proxy.post(ASK, originator="codex_exec") as response:
        assert b"try again in 7s" in await response.read()


async def test_f14_the_parameter_has_the_name_that_the_client_gave_it(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(refused(400, "too small", param="max_tokens"))
    async with proxy.post(ASK) as response:
        error = (await response.json())["error"]
    assert (response.status, error["type"], error["param"]) == (
        400,
        "invalid_request_error",
        "max_output_tokens",
    )


async def test_f13_and_is_not_asked_again(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(refused(400, "This model's maximum context length is 8192 tokens."))
    async with proxy.post(ASK) as response:
        assert response.headers["X-Should-Retry"] == "false"
    assert len(backend.received) == 1


async def test_f30_comments_do_not_count_as_a_beginning(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """F05: a gateway that only says it is still there has not begun to answer."""

    async def chatters(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        while True:
            line.send(b"8\r\n: wait\n\n\r\n")
            await line.drained()
            await asyncio.sleep(0)

    backend.plays(chatters)
    proxy = await start_proxy(backend={"first_byte_seconds": 0.2})
    assert await told(proxy) == "504 upstream_timeout"


async def test_f01_there_is_no_other_way_to_be_sure_of(start_proxy: StartProxy) -> None:
    """Two backends: one that is down takes nothing from the other."""
    async with scripted() as other:
        other.answers(reply(delta(content="Hello")))
        proxy = await start_proxy(
            backend={"url": "http://127.0.0.1:9/v1"},
            backends={"other": {"url": other.url, "profile": "default"}},
            routing={"models": {"well": "other"}},
        )
        assert await told(proxy) == "502 upstream_unreachable"
        assert await told(proxy, model="well") == "completed | Hello"
