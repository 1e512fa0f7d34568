"""E6: a backend has so many places; who finds none waits, is told, or goes to another backend."""

import asyncio

import aiohttp

from proxy import app
from proxy.settings.root import Settings
from proxy.shell.ops.logs import make_log
from tests.support.proxies import LogLines, Proxy, StartProxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    finish,
    text,
)
from tests.support.two_backends import ASKED, NO_BREAKER, STREAMED, StartBoth, said, status_of

# ── a backend's places ──


class Busy:
    """A backend that begins each reply at once and ends it when told to."""

    def __init__(self, backend: ScriptedBackend) -> None:
        self.begun = asyncio.Semaphore(0)
        self.ends = asyncio.Event()
        backend.plays(self._plays)

    async def _plays(self, line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        self.begun.release()
        await self.ends.wait()
        line.send(text("lo"), finish(), DONE, END)


async def test_f07_when_all_places_are_taken_the_answer_comes_at_once(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """And what is under way goes on."""
    proxy = await start_proxy(
        backend={"max_concurrent": 1, "max_waiting": 0}, retries={"attempts": 5}, breaker=NO_BREAKER
    )
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    for stream in (False, True):
        async with proxy.post(ASKED | {"stream": stream}) as response:
            assert (response.status, response.headers["Retry-After"]) == (503, "1")
            assert (await response.json())["error"]["code"] == "server_is_overloaded"
    busy.ends.set()
    assert await under_way == "Hello"
    assert await said(proxy) == "Hello"


async def test_who_waits_for_a_place_is_served_and_sees_life(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"max_concurrent": 1}, server={"patience_seconds": 0.02})
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    async with proxy.post(STREAMED) as response:
        await response.content.readuntil(b"response.in_progress")
        assert len(backend.received) == 1
        busy.ends.set()
        assert b"event: response.completed" in await response.read()
    assert await under_way == "Hello"


async def test_r5_who_leaves_while_waiting_never_reaches_the_backend(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(
        backend={"max_concurrent": 1, "max_waiting": 1}, server={"patience_seconds": 0.02}
    )
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    for _ in range(2):  # the first one's place in the queue is free again
        async with proxy.post(STREAMED) as response:
            await response.content.readuntil(b"response.in_progress")
        await proxy.log.wait_for("request")
        proxy.log.stream.seek(0)
        proxy.log.stream.truncate()
    busy.ends.set()
    assert await under_way == "Hello"
    assert len(backend.received) == 1


async def test_a_full_backend_is_replaced_at_once(
    backend: ScriptedBackend, other: ScriptedBackend, start_both: StartBoth
) -> None:
    proxy = await start_both(backend={"max_concurrent": 1, "max_waiting": 0})
    busy = Busy(backend)
    under_way = asyncio.get_running_loop().create_task(said(proxy))
    await busy.begun.acquire()
    assert await said(proxy) == "There"
    busy.ends.set()
    assert await under_way == "Hello"


async def test_f74_who_waits_for_a_place_is_told_when_the_proxy_stops(backend: ScriptedBackend) -> None:
    settings = Settings.model_validate(
        {
            "server": {"port": 0, "grace_seconds": 0, "patience_seconds": 0.02},
            "backend": {"url": backend.url, "profile": "default", "max_concurrent": 1},
        }
    )
    log = LogLines()
    busy = Busy(backend)
    async with aiohttp.ClientSession() as session:
        async with app.running(settings, make_log("info", "json", stream=log.stream)) as url:
            proxy = Proxy(url, log, session)
            first = await proxy.post(STREAMED)
            await busy.begun.acquire()
            waiting = await proxy.post(STREAMED)
            await waiting.content.readuntil(b"response.in_progress")
        for response in (first, waiting):
            assert b"server_shutting_down" in await response.read()
    assert len(backend.received) == 1


async def test_f08_who_finds_the_backend_on_trial_does_not_queue_for_it(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """One place is taken by a reply from better times, the other by the probe: nobody knows for how long."""
    proxy = await start_proxy(
        backend={"max_concurrent": 2}, breaker={"consecutive_failures": 1, "open_seconds": 1e-9}
    )
    taken = asyncio.Semaphore(0)

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        taken.release()
        await line.closed()

    async def fails(line: Line) -> None:
        await line.request()
        line.send(answer(500, b"oops"))

    async def hangs(line: Line) -> None:
        await line.request()
        taken.release()
        await line.closed()

    backend.plays(begins, fails, hangs)
    loop = asyncio.get_running_loop()
    under_way = [loop.create_task(status_of(proxy))]
    await taken.acquire()
    assert await status_of(proxy) == 502
    under_way.append(loop.create_task(status_of(proxy)))
    await taken.acquire()
    async with asyncio.timeout(PROMPTLY):
        assert await status_of(proxy) == 503
    for task in under_way:
        task.cancel()
