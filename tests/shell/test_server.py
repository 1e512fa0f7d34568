"""The front door: paths, methods, what is no HTTP, and the way it closes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import orjson
import pytest

from proxy import app
from proxy.core.backends import listing
from proxy.core.tenants import digest
from proxy.settings import Settings
from proxy.shell.ops.logs import make_log
from tests.support.proxies import LogLines, Proxy, StartProxy, events, names
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, answer, finish, reply, text

ASK = {"model": "m", "input": "Hi", "stream": True}


async def refused(proxy: Proxy, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    async with proxy.session.request(method, proxy.url + path, headers=headers) as response:
        return response.status, (await response.json())["error"], response.headers.get("Allow", "")


# ── paths and methods ──


@pytest.mark.parametrize("path", ["/v1/responses", "/responses", "/v1/responses/"])
async def test_responses_are_made_with_and_without_a_version(proxy: Proxy, path: str) -> None:
    async with proxy.session.post(proxy.url + path, json={"model": "m", "input": "Hi"}) as response:
        assert response.status == 200


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/chat", "/v2/responses", "/v1/responsesx", "/debug"])
async def test_elsewhere_there_is_nothing(proxy: Proxy, path: str) -> None:
    """S30: no debugging door either."""
    status, error, _ = await refused(proxy, "GET", path)
    assert (status, error["type"], error["code"]) == (404, "invalid_request_error", "not_found")
    assert proxy.log.named("refusal")[0]["path"] == path


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/responses", "POST"),
        ("PUT", "/v1/responses", "POST"),
        ("POST", "/v1/models", "GET, HEAD"),
        ("DELETE", "/v1/models/m", "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_told_the_right_one(
    proxy: Proxy, method: str, path: str, allowed: str
) -> None:
    status, error, allow = await refused(proxy, method, path)
    assert (status, error["code"], allow) == (405, "method_not_allowed", allowed)
    assert proxy.log.named("refusal")[0]["method"] == method


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/responses/resp_1"),
        ("DELETE", "/v1/responses/resp_1"),
        ("POST", "/v1/responses/resp_1/cancel"),
        ("GET", "/v1/responses/resp_1/input_items"),
    ],
)
async def test_no_response_is_stored_and_that_is_said(proxy: Proxy, method: str, path: str) -> None:
    status, error, _ = await refused(proxy, method, path)
    assert (status, error["code"]) == (404, "response_not_found")
    assert error["message"].startswith("There is no response 'resp_1': ")


async def test_a_count_of_tokens_is_no_response(proxy: Proxy) -> None:
    status, error, _ = await refused(proxy, "POST", "/v1/responses/input_tokens")
    assert (status, error["code"]) == (404, "not_found")


async def test_a_conversation_is_summed_up_and_goes_on_from_there(
    proxy: Proxy, backend: ScriptedBackend
) -> None:
    backend.answers(reply(text("We met.")), reply(text("Again.")))
    asked = {"model": "m", "input": [{"role": "user", "content": "Hi"}], "prompt_cache_key": "k"}
    async with proxy.session.post(f"{proxy.url}/v1/responses/compact", json=asked) as response:
        assert response.status == 200
        compacted = await response.json()
    assert compacted["object"] == "response.compaction"
    assert isinstance(compacted["usage"]["total_tokens"], int)
    await proxy.stream(input=[*compacted["output"], {"role": "user", "content": "Go on."}])
    first, second = (received.json["messages"] for received in backend.received)
    assert "summary" in first[-1]["content"]
    assert "We met." in second[0]["content"]


@pytest.mark.parametrize(
    ("body", "param"), [({"input": "Hi"}, "model"), ([], None), ({"model": "m"}, "input")]
)
async def test_a_compaction_of_nothing_is_refused(proxy: Proxy, body: object, param: str | None) -> None:
    async with proxy.session.post(f"{proxy.url}/v1/responses/compact", json=body) as response:
        assert (response.status, (await response.json())["error"]["param"]) == (400, param)


@pytest.mark.parametrize("order", ["sequential", "message_first"])
async def test_codex_gets_a_compaction_as_the_one_item_of_a_stream(
    start_proxy: StartProxy, order: str
) -> None:
    proxy = await start_proxy(clients={"item_order": order})
    items = [{"role": "user", "content": "Hi"}, {"type": "compaction_trigger"}]
    found = await proxy.stream(input=items)
    assert found[-2].name == "response.completed"
    assert [item["type"] for item in found[-2].data["response"]["output"]] == ["compaction"]


async def test_half_a_summary_is_a_failure(proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(answer(200, HEAD + text("We") + finish("length") + DONE))
    asked = {"model": "m", "input": "Hi"}
    async with proxy.session.post(f"{proxy.url}/v1/responses/compact", json=asked) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (502, "upstream_incomplete")


async def test_a_websocket_is_declined_in_the_one_way_that_codex_understands(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server={"websocket": False})
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    status, error, _ = await refused(proxy, "GET", "/v1/responses", **headers)
    assert (status, error["code"]) == (426, "upgrade_required")
    with pytest.raises(aiohttp.WSServerHandshakeError) as declined:
        await proxy.session.ws_connect(f"{proxy.url}/v1/responses")
    assert declined.value.status == 426


# ── models and health ──


async def test_attack_25_v10_models(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    backend.answers(answer(200, {"data": [{"id": "org/qwen", "created": 7, "owned_by": "org"}]}))
    proxy = await start_proxy(backend={"models": {"gpt-5": "org/qwen"}})
    async with proxy.session.get(f"{proxy.url}/v1/models") as response:
        listed = await response.json()
    one = {"object": "model", "created": 7, "owned_by": "org"}
    assert listed == {"object": "list", "data": [{"id": "gpt-5"} | one, {"id": "org/qwen"} | one]}
    async with proxy.session.get(f"{proxy.url}/v1/models/org/qwen") as response:
        assert await response.json() == {"id": "org/qwen"} | one
    for codex in ({"originator": "codex_cli_rs"}, {"x-codex-window-id": "1"}):
        async with proxy.session.get(f"{proxy.url}/v1/models", headers=codex) as response:
            told = await response.json()
        assert [model["slug"] for model in told.pop("models")] == ["gpt-5", "org/qwen"]
        assert told == listed
    status, error, _ = await refused(proxy, "GET", "/v1/models/gpt-4")
    assert (status, error["code"]) == (404, "model_not_found")


async def test_what_is_configured_of_models_stands_in_the_catalog(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Codex asks with its version."""
    backend.answers(answer(200, {"data": [{"id": "qwen"}]}))
    proxy = await start_proxy(
        models={"context_windows": {"*": 32768}, "reasoning_efforts": {"qwen": ["high"]}}
    )
    async with proxy.session.get(f"{proxy.url}/v1/models?client_version=0.169.0") as response:
        (model,) = (await response.json())["models"]
    assert model["context_window"] == 32768
    assert [level["effort"] for level in model["supported_reasoning_levels"]] == ["high"]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v1/models", "/v1/models/m", "/openapi.json"])
async def test_what_can_be_looked_at_has_a_head_too(start_proxy: StartProxy, method: str, path: str) -> None:
    proxy = await start_proxy(backend={"models": {"m": "b"}})
    async with proxy.session.request(method, proxy.url + path) as response:
        assert response.status == 200
        assert int(response.headers["Content-Length"]) > 0
        assert bool(await response.read()) is (method == "GET")


# ── what is no request ──


async def spoken(proxy: Proxy, data: bytes) -> bytes:
    """The answer to raw bytes, until the connection is closed."""
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    async with asyncio.timeout(5):
        said = await reader.read()
    writer.close()
    return said


@pytest.mark.parametrize(
    ("garbage", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nBad canary: x\r\n\r\n", 400),
        (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
        ),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: canary" + b"x" * 10_000 + b"\r\n\r\n", 431),
        (b"GET /?canary" + b"x" * 10_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: canary\r\n" * 200 + b"\r\n", 431),
        (b"GET /v1/models\r\n\r\n", 400),
        (b"GET /healthz HTTP/0.9\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n", 400),
    ],
    ids=[
        *("words", "TLS", "a bad header", "two lengths", "a long header", "a long target", "many headers"),
        *("no version", "an old version", "a new version"),
    ],
)
async def test_what_is_no_http_is_refused_like_anything_else(
    proxy: Proxy, garbage: bytes, status: int
) -> None:
    """S12, S34, attack-30: the same envelope, the same Server header, and the connection is closed. The log knows it by
    the id that the client was told, and quotes nothing, for keys stand in heads (S06)."""
    head, _, body = (await spoken(proxy, garbage)).partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 %d " % status, b"HTTP/1.0 %d " % status))
    assert b"Server: responses-proxy" in head
    assert b"aiohttp" not in head
    assert orjson.loads(body)["error"]["type"] == "invalid_request_error"
    (line,) = proxy.log.named("refusal")
    assert line["status"] == status
    assert f"X-Request-Id: {line['request_id']}".encode() in head
    assert "canary" not in proxy.log.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models", 401),
        ("GET", "/v1/responses/resp_1", 404),
        ("GET", "/v1/models/none", 404),
        ("GET", "/metrics", 403),
        ("OPTIONS", "/v1/responses", 405),
    ],
)
async def test_every_refusal_has_one_line(
    method: str, path: str, status: int, start_proxy: StartProxy
) -> None:
    """A client that asks why can be answered: by the id that it was told."""
    proxy = await start_proxy(tenants={"a": {"keys": [digest("key-of-a")]}})
    key = {} if status == 401 else {"Authorization": "Bearer key-of-a"}
    async with proxy.session.request(method, proxy.url + path, headers=key) as response:
        assert response.status == status
        (line,) = proxy.log.named("refusal")
    assert line["request_id"] == response.headers["X-Request-Id"]
    assert (line["method"], line["path"], line["status"]) == (method, path, status)
    assert not proxy.log.named("request")


async def test_what_the_engine_tells_is_told_once(proxy: Proxy) -> None:
    assert (await proxy.refused(model=5))[0] == 400
    assert proxy.log.request["status"] == 400
    assert not proxy.log.named("refusal")


async def test_requests_in_one_go_are_answered_in_order(proxy: Proxy) -> None:
    """F69."""
    said = await spoken(
        proxy,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    assert said.index(b" 200 ") < said.index(b" 404 ")


async def test_a_client_that_closes_its_half_is_taken_for_gone(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F68: the one choice that leaves nothing running for nobody."""
    asked = asyncio.Event()

    async def silent(line: Line) -> None:
        await line.request()
        asked.set()
        await line.closed()

    backend.plays(silent)
    body = orjson.dumps(ASK)
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    await asked.wait()
    writer.write_eof()
    assert (await proxy.log.wait_for("request"))["status"] == 499
    writer.close()


async def test_a_bug_of_ours_is_500_and_its_traceback_stays_here(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F80."""
    monkeypatch.setattr(listing, "served", lambda *_: 1 / 0)
    proxy = await start_proxy(backend={"models": {"a": "b"}})
    async with proxy.session.get(f"{proxy.url}/v1/models") as response:
        assert response.status == 500
        error = (await response.json())["error"]
        assert error == {
            "message": "The proxy failed on this request.",
            "type": "server_error",
            "param": None,
            "code": "server_error",
        }
        (line,) = proxy.log.named("unhandled_exception")
        assert line["request_id"] == response.headers["X-Request-Id"]
        assert "ZeroDivisionError" in line["exception"]


# ── closing ──


class Stopping:
    """A proxy that a test stops by itself, with a stream under way."""

    def __init__(self, backend: ScriptedBackend, grace: float) -> None:
        self.asked = asyncio.Event()
        self.line: Line
        self.log = LogLines()
        self._stack = AsyncExitStack()
        self._settings = Settings.model_validate(
            {
                "server": {"port": 0, "grace_seconds": grace},
                "backend": {"url": backend.url, "profile": "default"},
            }
        )
        backend.plays(self._play)

    async def _play(self, line: Line) -> None:
        await line.request()
        self.line = line
        line.send(HEAD, text("Hel"))
        self.asked.set()
        await line.closed()

    async def start(self) -> str:
        logger = make_log("info", "json", stream=self.log.stream)
        return await self._stack.enter_async_context(app.running(self._settings, logger))

    def stop(self) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(self._stack.aclose())


async def test_while_it_drains_it_takes_no_more_work_and_says_so(backend: ScriptedBackend) -> None:
    """F74."""
    stopping = Stopping(backend, grace=5)
    url = await stopping.start()
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/responses", json=ASK) as stream:
        await stopping.asked.wait()
        stop = stopping.stop()
        await asyncio.sleep(0)
        async with session.get(f"{url}/readyz") as response:
            assert response.status == 503
        async with session.get(f"{url}/healthz") as response:
            assert response.status == 200
        async with session.post(f"{url}/v1/responses", json=ASK) as response:
            assert (response.status, response.headers["Retry-After"]) == (503, "1")
            assert (await response.json())["error"]["code"] == "server_shutting_down"
        stopping.line.send(text("lo"), finish(), DONE, END)
        assert names(events(await stream.read()))[-2:] == ["response.completed", "done"]
        await stop
    assert stopping.log.request["status"] == 200


async def test_a_stream_that_does_not_end_in_time_is_told_why_it_ends(backend: ScriptedBackend) -> None:
    """F74: a terminal event and a clean end, never a cut."""
    stopping = Stopping(backend, grace=0)
    url = await stopping.start()
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/responses", json=ASK) as stream:
        await stopping.asked.wait()
        stop = stopping.stop()
        found = events(await stream.read())
        await stop
    assert names(found)[-3:] == ["error", "response.failed", "done"]
    assert found[-2].data["response"]["error"]["code"] == "server_shutting_down"
    assert stopping.log.request["ending"] == "failed"


async def test_a_request_without_an_answer_yet_gets_a_status(backend: ScriptedBackend) -> None:
    stopping = Stopping(backend, grace=0)
    asked = asyncio.Event()

    async def silent(line: Line) -> None:
        await line.request()
        asked.set()
        await line.closed()

    backend.plays(silent)
    url = await stopping.start()
    async with aiohttp.ClientSession() as session:
        asking = asyncio.get_running_loop().create_task(session.post(f"{url}/v1/responses", json=ASK))
        await asked.wait()
        stop = stopping.stop()
        async with await asking as response:
            assert response.status == 503
            assert (await response.json())["error"]["code"] == "server_shutting_down"
        await stop


@asynccontextmanager
async def reluctant(url: str, **body: object) -> AsyncIterator[asyncio.StreamReader]:
    """What a client gets that takes next to nothing until it is read from."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    data = orjson.dumps(ASK | body)
    writer.write(b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
    try:
        yield reader
    finally:
        writer.close()


class Flood:
    """A backend that says more than a client takes."""

    def __init__(self) -> None:
        self.stuck, self.interrupted = asyncio.Event(), asyncio.Event()

    async def __call__(self, line: Line) -> None:
        await line.request()
        line.send(HEAD)
        try:
            while True:
                line.send(text("x" * 60_000))
                async with asyncio.timeout(0.2):
                    await line.drained()
        except TimeoutError:
            self.stuck.set()
        try:
            await line.closed()
        finally:
            self.interrupted.set()


async def test_a_client_that_takes_nothing_does_not_hold_up_the_end(
    backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F67, F74."""
    monkeypatch.setattr("proxy.shell.engine.CLOSING_SECONDS", 0.05)
    stopping, flood = Stopping(backend, grace=0), Flood()
    backend.plays(flood)
    url = await stopping.start()
    async with reluctant(url):
        await flood.stuck.wait()
        async with asyncio.timeout(1):
            await stopping.stop()
    assert stopping.log.request["status"] == 499


async def test_a_slow_client_is_told_too_after_all_that_it_has_not_taken_yet(
    backend: ScriptedBackend,
) -> None:
    """F67, F74."""
    stopping = Stopping(backend, grace=0)
    flood = Flood()
    backend.plays(flood)
    url = await stopping.start()
    async with reluctant(url) as reader:
        await flood.stuck.wait()
        stop = stopping.stop()
        await flood.interrupted.wait()
        told = await reader.read()
        await stop
    assert told.endswith(b"\ndata: [DONE]\n\n\r\n0\r\n\r\n")
    assert b"event: response.failed" in told
    assert (stopping.log.request["status"], stopping.log.request["code"]) == (200, "server_shutting_down")


@pytest.mark.parametrize(
    "body",
    [{}, {"generate": False, "instructions": "x" * 12_000_000}],
    ids=["a reply", "nothing but an echo"],
)
async def test_an_answer_that_is_on_its_way_is_not_interrupted(
    backend: ScriptedBackend, body: dict[str, object]
) -> None:
    """F74: nor does anything follow it that nobody asked for."""
    stopping = Stopping(backend, grace=0)
    backend.answers(reply(*[text("x" * 1_000_000)] * 20))
    url = await stopping.start()
    async with reluctant(url, stream=False, **body) as reader:
        head = await reader.readuntil(b"\r\n\r\n")
        stop = stopping.stop()
        for _ in range(10):
            await asyncio.sleep(0)
        told = await reader.read()
        await stop
    assert b"Content-Length: %d\r\n" % len(told) in head
    assert stopping.log.request["status"] == 200
