"""Several workers on one port: started, started again when they die, and stopped together (F74, F75).

The kernel spreads connections over all that listen, also to a worker whose loop stands still: that one is killed, for
whoever is led to it would wait for ever (F79). The supervisor listens to nobody: it holds the address, so that it stays
the workers' while one of them is away. It serves no request, so whatever kills a worker leaves it alone.
"""

import asyncio
import signal
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

from proxy import app
from proxy.settings import Settings
from proxy.shell.engine import CLOSING_SECONDS
from proxy.shell.ops.logs import Log
from proxy.shell.ops.tasks import Tasks
from proxy.shell.ops.worker_metrics import WorkerSlot
from proxy.signing import signed
from proxy.worker import BEATS, COMMAND, DONE, Orders

SETTLED_SECONDS = 10.0
"""Whoever has lived so long did not die of how it was started, and its successor starts without delay."""

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between a worker's death and its successor, for those that die at once: each is twice the one before."""

STARTING_SECONDS = 60.0
"""For a worker to say where it listens; a second is usual. One that hangs before it has no beat yet that could stop."""

MARGIN_SECONDS = 10.0
"""For workers to end, beyond the time that their streams have. After it they are killed."""

POLITE_ENDS = (DONE, -signal.SIGTERM)
"""The second is that of a worker which was only just starting."""


class WorkersFailed(Exception):
    """They did not start, or did not end as they should."""


def next_pause(pause: float, lived: float) -> float:
    """Before a worker that died after so long is started again; `pause` is the one before it was started."""
    return 0.0 if lived >= SETTLED_SECONDS else min(max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE)


@asynccontextmanager
async def running(settings: Settings, log: Log) -> AsyncIterator[str]:
    """All workers at work, as the URL that they listen on. On leaving, they come to their end."""
    settings = signed(settings)
    server = settings.server
    with closing(_held(server.host, server.port)) as address, _meeting_place() as folder:
        port = address.getsockname()[1]
        settings = settings.model_copy(update={"server": server.model_copy(update={"port": port})})
        slots = (WorkerSlot(number, server.workers, Path(folder)) for number in range(server.workers))
        workers = [_Worker(Orders(settings, slot), log.bind(worker=slot.number)) for slot in slots]
        tasks = Tasks(log)
        try:
            urls = await asyncio.gather(*(worker.start() for worker in workers))
            if not all(urls):
                raise WorkersFailed("A worker ended before it listened.")
            for worker in workers:
                tasks.start(worker.keep(), "worker")
            yield urls[0]
        finally:
            await tasks.close()  # from here on nobody is started again
            clean = await _stop(workers, server.grace_seconds + CLOSING_SECONDS + MARGIN_SECONDS)
    if not clean:
        raise WorkersFailed("A worker did not end as it should.")


def _meeting_place() -> tempfile.TemporaryDirectory[str]:
    """Whose doors nobody but this user can open."""
    return tempfile.TemporaryDirectory(prefix="responses-proxy-")


def _held(host: str, port: int) -> socket.socket:
    """The address, for these workers and nobody else."""
    if not hasattr(socket, "SO_REUSEPORT"):
        raise app.CannotListen("On this system processes cannot share a port. Set server.workers = 1.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as alone:  # who shares would not notice that others listen
            alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            alone.bind(address)
        held = socket.socket(family, kind, protocol)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(address)
    except OSError as error:
        raise app.cannot_listen(host, port, error) from error
    return held


class _Worker:
    def __init__(self, orders: Orders, log: Log) -> None:
        self._orders = orders.packed()
        self._beat = orders.settings.server.stuck_seconds / BEATS
        self._log = log
        self._clock = asyncio.get_running_loop().time
        self._started = 0.0
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> str:
        """Where it listens; nothing if it ended before, or was ended."""
        self._started = self._clock()
        self.process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl+C is for the supervisor, who passes it on
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(self._orders)
        try:
            async with asyncio.timeout(STARTING_SECONDS):
                url = (await self.process.stdout.readline()).decode().strip()
        except TimeoutError:
            self._give_up(self.process, STARTING_SECONDS)
            return ""
        if url:
            self._log.info("worker_started", pid=self.process.pid)
        return url

    def _give_up(self, process: asyncio.subprocess.Process, seconds: float) -> None:
        self._log.error("worker_stalled", pid=process.pid, seconds=seconds)
        with suppress(ProcessLookupError):
            process.kill()

    async def keep(self) -> None:
        """Starts it again whenever it has died."""
        pause = 0.0
        while True:
            assert self.process is not None
            code = await self._end(self.process)
            pause = next_pause(pause, self._clock() - self._started)
            self._log.error("worker_died", pid=self.process.pid, code=code, seconds_to_restart=pause)
            await asyncio.sleep(pause)
            await self.start()

    async def _end(self, process: asyncio.subprocess.Process) -> int:
        """Waits for it, and hastens it if no beat comes any more. They are missed one by one, not by the clock: when
        all of us stood still together, nobody is late."""
        assert process.stdout is not None
        missed = 0
        while missed < BEATS:
            try:
                async with asyncio.timeout(self._beat):
                    if not await process.stdout.read(BEATS):
                        break
                missed = 0
            except TimeoutError:
                missed += 1
        else:
            self._give_up(process, missed * self._beat)
        return await process.wait()


async def _stop(workers: list[_Worker], seconds: float) -> bool:
    """Did all of them end in time, and as they should?"""
    processes = [worker.process for worker in workers if worker.process is not None]
    running = [process for process in processes if process.returncode is None]
    for process in running:
        process.terminate()
    try:
        async with asyncio.timeout(seconds):
            codes = await asyncio.gather(*(process.wait() for process in running))
    except TimeoutError:
        return False
    finally:
        for process in running:
            if process.returncode is None:
                process.kill()
                await process.wait()
    return all(code in POLITE_ENDS for code in codes)
