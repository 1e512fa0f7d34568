"""Several workers on one port: started, started again when they die, and stopped together (F74, F75).

The kernel spreads connections over all workers that listen, also to a worker whose event loop hangs. The supervisor
kills such a worker, because connections to it would never be answered (F79). It holds the address without listening, so
that no other program takes it while a worker is away. It serves no request, so what kills a worker does not kill it.
"""

import asyncio
import signal
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path

from proxy.process import CannotListen, Stop, WorkersFailed, cannot_listen
from proxy.settings.root import Settings
from proxy.shell.ops.logs import Log
from proxy.shell.ops.tasks import Tasks
from proxy.shell.ops.worker_questions import WorkerSlot
from proxy.shell.under_way import CLOSING_SECONDS
from proxy.signing import signed
from proxy.worker import BEATS, COMMAND, DONE, Orders

SETTLED_SECONDS = 10.0
"""A worker that has lived this long did not die of how it was started: its successor starts without delay."""

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between a worker's death and its successor, for those that die at once: each is twice the one before."""

STARTING_SECONDS = 60.0
"""The time that a worker has to say where it listens; a second is usual. Before that it sends no beat."""

MARGIN_SECONDS = 11.0
"""The time that workers have to end, beyond that of their streams. After it they are killed. Without an answer of the
store they take nine, and with the streams' end it is less than the 15 that the files in `scripts/deploy` allow."""

POLITE_ENDS = (DONE, -signal.SIGTERM)
"""The second is the end of a worker that was just starting."""


def next_pause(pause: float, lived: float) -> float:
    """Returns the pause before a worker that has died is started again. `pause` is the one before its last start."""
    return 0.0 if lived >= SETTLED_SECONDS else min(max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE)


@asynccontextmanager
async def running(settings: Settings, log: Log, stop: Stop | None = None) -> AsyncIterator[str]:
    """Runs all workers, and yields the URL on which they listen. On leaving, they come to their end."""
    settings = signed(settings)
    server = settings.server
    with closing(_held(server.host, server.port)) as address, _meeting_place() as folder:
        port = address.getsockname()[1]
        settings = settings.model_copy(update={"server": server.model_copy(update={"port": port})})
        slots = (WorkerSlot(number, server.workers, Path(folder)) for number in range(server.workers))
        workers = [_Worker(Orders(settings, slot), log.bind(worker=slot.number)) for slot in slots]
        tasks = Tasks(log)
        if stop is not None:
            stop.hurry = partial(_ask, workers)
        try:
            urls = await asyncio.gather(*(worker.start() for worker in workers))
            if not all(urls):
                raise WorkersFailed("A worker ended before it listened: see above for why.")
            for worker in workers:
                tasks.start(worker.keep_running(), "worker")
            yield urls[0]
        finally:
            await tasks.close()  # from here on nobody is started again
            clean = await _stop(workers, server.grace_seconds + CLOSING_SECONDS + MARGIN_SECONDS)
    if not clean:
        raise WorkersFailed("A worker did not end as it should.")


def _meeting_place() -> tempfile.TemporaryDirectory[str]:
    """A folder with the sockets of the workers, which only this user can open."""
    return tempfile.TemporaryDirectory(prefix="responses-proxy-")


def _held(host: str, port: int) -> socket.socket:
    """Binds the address, for these workers and no other program."""
    if not hasattr(socket, "SO_REUSEPORT"):
        raise CannotListen("On this system processes cannot share a port. Set server.workers = 1.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as alone:  # one that shares would not notice others
            alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            alone.bind(address)
        held = socket.socket(family, kind, protocol)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(address)
    except OSError as error:
        raise cannot_listen(host, port, error) from error
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
        """Returns where the worker listens, or nothing if it ended before, or was killed."""
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

    async def keep_running(self) -> None:
        """Starts the worker again whenever it has died."""
        pause = 0.0
        while True:
            assert self.process is not None
            code = await self._end(self.process)
            pause = next_pause(pause, self._clock() - self._started)
            self._log.error("worker_died", pid=self.process.pid, code=code, seconds_to_restart=pause)
            await asyncio.sleep(pause)
            await self.start()

    async def _end(self, process: asyncio.subprocess.Process) -> int:
        """Waits for the end of the worker, and kills it if its beats stop. It counts missed beats and reads no clock,
        because the whole machine may have stood still, and then no worker is late."""
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


def _ask(workers: list[_Worker]) -> list[asyncio.subprocess.Process]:
    """Asks those that run to end: each in its time, or at once if they were asked before."""
    processes = [worker.process for worker in workers if worker.process is not None]
    running = [process for process in processes if process.returncode is None]
    for process in running:
        process.terminate()
    return running


async def _stop(workers: list[_Worker], seconds: float) -> bool:
    """Did all workers end in time, and as they should?"""
    running = _ask(workers)
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
