"""Several workers on one port, as processes: one is killed, all are stopped, the supervisor vanishes."""

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from proxy import supervisor
from proxy.settings.root import Settings
from proxy.shell.ops.logs import make_log
from proxy.supervisor import next_pause
from tests.support.proxies import LogLines
from tests.support.samples import Samples, samples
from tests.support.sockets import END, HEAD, Line, answer, finish, scripted, text

ROOT = Path(__file__).parents[1]
PROMPTLY = 20.0
URL = re.compile(r"Listening on (http://[\w.:\[\]]+)/v1")
REQUEST = {"model": "m", "input": "Hi", "stream": True}


class Running:
    """The supervisor, what it and its workers log, and a client for whom each request is a new connection."""

    def __init__(self, process: asyncio.subprocess.Process, session: aiohttp.ClientSession) -> None:
        self.process = process
        self.url = ""
        self.lines: list[dict[str, Any]] = []
        self._session = session

    async def listens(self) -> None:
        assert self.process.stdout is not None
        async with asyncio.timeout(PROMPTLY):
            while not (found := URL.search((await self.process.stdout.readline()).decode())):
                assert not self.process.stdout.at_eof(), "it ended"
        self.url = found[1]

    async def logged(self, event: str, times: int = 1) -> list[dict[str, Any]]:
        """The first so many lines of this kind, once they are there."""
        assert self.process.stderr is not None
        async with asyncio.timeout(PROMPTLY):
            while len(found := [line for line in self.lines if line["event"] == event]) < times:
                line = await self.process.stderr.readline()
                assert line, "it ended"
                self.lines.append(orjson.loads(line))
        return found

    async def pids(self) -> list[int]:
        """By the worker's slot."""
        lines = await self.logged("worker_started", 2)
        return [line["pid"] for line in sorted(lines, key=lambda line: int(line["worker"]))]

    async def metrics(self) -> Samples:
        async with self._session.get(f"{self.url}/metrics") as response:
            return samples(await response.read())

    async def post(self) -> aiohttp.ClientResponse:
        return await self._session.post(f"{self.url}/v1/responses", json=REQUEST)

    async def drains(self) -> bool:
        response = await self.post()
        response.close()
        return response.status == 503

    async def stream(self) -> "Stream":
        return Stream(await self.post())

    async def end(self) -> tuple[int, str]:
        """The exit code, and what was said on stderr since it was looked at last."""
        async with asyncio.timeout(PROMPTLY):
            _, errors = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


class Stream:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content
        self.received = b""
        self.clean = False
        """Did it come to a clean end?"""

    async def begun(self) -> None:
        async with asyncio.timeout(PROMPTLY):
            while b"output_text.delta" not in self.received:
                self.received += await self._content.readany()

    async def ended(self) -> None:
        try:
            async with asyncio.timeout(PROMPTLY):
                while piece := await self._content.readany():
                    self.received += piece
            self.clean = True
        except aiohttp.ClientPayloadError:
            pass


@asynccontextmanager
async def supervised(*options: str, grace: float = 20) -> AsyncIterator[Running]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROXY_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proxy", "serve", "--port", "0", "--workers", "2", *options,
        cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    connector = aiohttp.TCPConnector(force_close=True)
    try:
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Running(process, session)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


class Pausing:
    """A backend that says a word, and waits until it may go on."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()

    async def __call__(self, line: Line) -> None:
        while True:
            if (await line.request()).method == "GET":
                line.send(answer(404))
                continue
            line.send(HEAD, text("Hel"))
            await self.goes_on.wait()
            line.send(text("lo"), finish(), END)


Poll = Callable[[], Awaitable[bool]]


async def eventually(holds: Poll) -> None:
    """What another process does is not told to us: it is asked until it is so."""
    async with asyncio.timeout(PROMPTLY):
        while not await holds():
            pass


async def streams_on_both(running: Running) -> list[Stream]:
    """So many open streams that each worker has one; it is the kernel who decides."""
    streams: list[Stream] = []
    while True:
        streams.append(await running.stream())
        await streams[-1].begun()
        told = await running.metrics()
        if all(told.get(("streams_open", f"surface=responses worker={slot}")) for slot in (0, 1)):
            return streams


async def test_a_killed_worker_takes_only_its_own_streams_along() -> None:
    """F75: their clients see a cut, never an ending, and the place is taken by another."""
    pausing = Pausing()
    async with scripted(pausing) as backend, supervised("--backend", backend.url) as running:
        await running.listens()
        pids = await running.pids()
        streams = await streams_on_both(running)
        lost = (await running.metrics())["streams_open", "surface=responses worker=0"]
        os.kill(pids[0], signal.SIGKILL)
        (died,) = await running.logged("worker_died")
        assert (died["pid"], died["code"]) == (pids[0], -signal.SIGKILL)
        *_, successor = await running.logged("worker_started", 3)
        assert (successor["worker"], successor["pid"] == pids[0]) == (0, False)
        pausing.goes_on.set()
        for stream in streams:
            await stream.ended()
        assert sum(not stream.clean for stream in streams) == lost
        for stream in streams:
            assert (b"response.completed" in stream.received) is stream.clean
            assert stream.received.endswith(b"data: [DONE]\n\n") is stream.clean
            assert b"response.failed" not in stream.received

        async def successor_serves() -> bool:
            await (await running.stream()).ended()
            told = await running.metrics()
            labels = "backend=backend ending=completed status=2xx surface=responses worker=0"
            return told.get(("requests_total", labels), 0) > 0

        await eventually(successor_serves)
        assert (await running.metrics())["worker_up", "worker=0"] == 1
        running.process.terminate()
        assert (await running.end())[0] == 0


@pytest.fixture
def impatient(tmp_path: Path) -> tuple[str, str]:
    """Options for a supervisor that gives up soon whoever stands still."""
    config = tmp_path / "proxy.toml"
    config.write_text("[server]\nstuck_seconds = 2\n", encoding="utf-8")
    return "--config", str(config)


@contextmanager
def standing_still(*pids: int) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


async def test_f79_a_worker_that_stands_still_is_replaced(impatient: tuple[str, str]) -> None:
    """The kernel would go on to lead clients to it, and they would wait for ever."""
    async with supervised(*impatient) as running:
        await running.listens()
        pids = await running.pids()
        with standing_still(pids[0]):
            (stuck,) = await running.logged("worker_stalled")
            assert (stuck["worker"], stuck["pid"], stuck["seconds"]) == (0, pids[0], 2)
            (died,) = await running.logged("worker_died")
        assert (died["pid"], died["code"]) == (pids[0], -signal.SIGKILL)
        *_, successor = await running.logged("worker_started", 3)
        assert (successor["worker"], successor["pid"] == pids[0]) == (0, False)
        assert (await running.metrics())["worker_up", "worker=0"] == 1
        running.process.terminate()
        code, said = await running.end()
    assert code == 0
    assert "worker_stalled" not in said, "the other one has always been at work"


async def test_f79_when_everything_stood_still_nobody_is_late(impatient: tuple[str, str]) -> None:
    """A machine that is paused, or a terminal's Ctrl+Z."""
    async with supervised(*impatient) as running:
        await running.listens()
        pids = await running.pids()
        await (await running.stream()).ended()
        with standing_still(running.process.pid, *pids):
            await asyncio.sleep(3)  # it is this silence that must not be misunderstood
        for _ in range(8):
            stream = await running.stream()
            await stream.ended()
            assert stream.clean
        running.process.terminate()
        code, said = await running.end()
    assert (code, "died" in said) == (0, False)


async def test_f79_a_worker_that_hangs_before_it_listens_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It has no beat yet that could stop. The first ones tell whoever started them; a later one gets a successor."""
    sane = tmp_path / "sane"
    program = f"""
import os, sys, time
if not os.path.exists({str(sane)!r}): time.sleep(60)
print("http://h", flush=True)
while True: print(flush=True); time.sleep(0.01)
"""
    monkeypatch.setattr(supervisor, "COMMAND", (sys.executable, "-c", program))
    monkeypatch.setattr(supervisor, "STARTING_SECONDS", 1.0)
    settings = Settings.model_validate({"server": {"port": 0, "workers": 1}})
    log = LogLines()
    logger = make_log(stream=log.stream)
    with pytest.raises(supervisor.WorkersFailed):
        async with supervisor.running(settings, logger):
            pass
    assert [line["event"] for line in log.lines] == ["worker_stalled"]

    sane.touch()
    async with supervisor.running(settings, logger):
        sane.unlink()
        os.kill((await log.wait_for("worker_started"))["pid"], signal.SIGKILL)
        await log.wait_for("worker_stalled", times=2)
        sane.touch()
        await log.wait_for("worker_started", times=2)


async def test_all_streams_come_to_their_end_before_it_stops() -> None:
    """F74."""
    pausing = Pausing()
    async with scripted(pausing) as backend, supervised("--backend", backend.url) as running:
        await running.listens()
        streams = await streams_on_both(running)
        running.process.terminate()

        await eventually(running.drains)
        pausing.goes_on.set()
        for stream in streams:
            await stream.ended()
            assert stream.clean
            assert b"response.completed" in stream.received
        code, _ = await running.end()
    assert code == 0


async def test_streams_that_take_too_long_are_told_why_they_end(tmp_path: Path) -> None:
    """F74."""
    config = tmp_path / "proxy.toml"
    config.write_text("[server]\ngrace_seconds = 0\n", encoding="utf-8")
    async with (
        scripted(Pausing()) as backend,
        supervised("--backend", backend.url, "--config", str(config)) as running,
    ):
        await running.listens()
        streams = await streams_on_both(running)
        running.process.send_signal(signal.SIGINT)
        for stream in streams:
            await stream.ended()
            assert stream.clean
            assert b"response.failed" in stream.received
            assert b"server_shutting_down" in stream.received
        code, _ = await running.end()
    assert code == 0


async def test_a_worker_that_ends_otherwise_is_told_by_the_exit_code() -> None:
    pausing = Pausing()
    async with scripted(pausing) as backend, supervised("--backend", backend.url) as running:
        await running.listens()
        pids = await running.pids()
        await streams_on_both(running)
        running.process.terminate()
        await eventually(running.drains)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        code, said = await running.end()
    assert code == 1
    assert said.endswith("A worker did not end as it should.\n")


async def test_workers_end_when_their_supervisor_has_gone() -> None:
    async with supervised() as running:
        await running.listens()
        running.process.kill()
        await running.process.wait()

        async def gone() -> bool:
            try:
                await running.metrics()
            except aiohttp.ClientConnectionError:
                return True
            return False

        await eventually(gone)


async def test_they_share_one_demo_model() -> None:
    async with supervised() as running:
        await running.listens()
        for _ in range(4):
            stream = await running.stream()
            await stream.ended()
            assert stream.clean
            assert b"response.completed" in stream.received
        running.process.terminate()
        code, said = await running.end()
    assert code == 0
    assert "rror" not in said


async def test_an_address_in_use_is_one_line_and_exit_code_1() -> None:
    """Even one that others would share."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with supervised("--port", str(port), "--backend", "http://127.0.0.1:9") as running:
            code, said = await running.end()
    assert (code, said) == (
        1,
        f"Cannot listen on 127.0.0.1:{port}: Address already in use. Choose another port: --port, server.port.\n",
    )


@pytest.mark.parametrize(
    ("pause", "lived", "seconds"),
    [
        (0.0, 1.0, 0.5),
        (0.5, 1.0, 1.0),
        (16.0, 9.9, 30.0),
        (30.0, 0.0, 30.0),
        (30.0, 10.0, 0.0),
        (0.0, 3600.0, 0.0),
    ],
)
def test_whoever_dies_at_once_waits_longer_each_time(pause: float, lived: float, seconds: float) -> None:
    """F75."""
    assert next_pause(pause, lived) == seconds
