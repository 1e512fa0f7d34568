"""The front door closes: what is under way may end, in time, and everybody is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import orjson
import pytest

from proxy import app
from proxy.settings.root import Settings
from proxy.shell.ops.logs import make_log
from tests.support.proxies import LogLines, events, names
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, answer, finish, reply, text

ASK = {"model": "m", "input": "Hi", "stream": True}


# ── closing ──


class Stopping:
    """A proxy that a test stops by itself, with a stream under way."""

    def __init__(self, backend: ScriptedBackend, grace: float, said: bytes = HEAD + text("Hel")) -> None:
        self.asked = asyncio.Event()
        self.line: Line
        self._said = said
        self.log = LogLines()
        self._stack = AsyncExitStack()
        self._settings = Settings.model_validate(
            {
                "server": {"port": 0, "grace_seconds": grace},
                "backend": {"url": backend.url, "profile": "llamacpp"},
            }
        )
        backend.plays(self._play)

    async def _play(self, line: Line) -> None:
        await line.request()
        self.line = line
        line.send(self._said)
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
    monkeypatch.setattr("proxy.shell.under_way.CLOSING_SECONDS", 0.05)
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
    backend.answers(reply(*[text("😀" * 1_000_000)] * 6))
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


@pytest.mark.parametrize(("grace", "status"), [(5, 200), (0, 503)])
async def test_a_count_of_tokens_comes_to_its_end_or_says_why_not(
    backend: ScriptedBackend, grace: float, status: int
) -> None:
    stopping = Stopping(backend, grace, said=b"")
    url = await stopping.start()

    async def count(session: aiohttp.ClientSession) -> int:
        asked = {"model": "m", "input": "Hi"}
        async with session.post(f"{url}/v1/responses/input_tokens", json=asked) as response:
            await response.read()
            return response.status

    async with aiohttp.ClientSession() as session:
        counting = asyncio.get_running_loop().create_task(count(session))
        await stopping.asked.wait()
        stop = stopping.stop()
        if status == 200:
            stopping.line.send(answer(200, {"input_tokens": 7}))
        assert await counting == status
        await stop
    assert stopping.log.request["status"] == status
