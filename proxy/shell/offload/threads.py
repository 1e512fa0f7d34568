"""Does large work beside the event loop: in a few threads of the proxy's own, under a deadline that really ends it.

Python lets the loop run in between, so other requests are served while a large one is understood. `core.work` counts
what a request costs, and ends work that is too expensive. The deadline is for a price that is wrong: it raises an
exception inside the thread, wherever that is, which costs the request and not the process.

The threads are not asyncio's own, which resolve names: six large bodies would keep every connection waiting. Owners
take turns, so an owner with a hundred large bodies waits alone.
"""

import asyncio
import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Loan
from proxy.core.surfaces.openapi.known_paths import known_path
from proxy.core.weight import Parse, read
from proxy.core.work import TakesLong
from proxy.shell.offload.fair_slots import FairSlots
from proxy.shell.ops.logs import Log

LARGE_BYTES = 1 << 18
"""A body of this size takes 5 ms to understand, or 15 ms if it is hostile, and several may come at once."""

THREADS = 2
"""More threads would only take Python's lock from each other, and from the event loop."""

DEADLINE_SECONDS = 20.0
"""The time for one step of one request. The most expensive step that is allowed takes a few seconds."""

AGAIN_SECONDS = 0.5
"""The exception is raised again after this time, because Python swallows it in a finalizer."""

Returned = TypeVar("Returned")


class _GivenUp(BaseException):
    """Raised in a thread from outside. It is no `Exception`, so that no handler on its way catches it."""


class _Job:
    """The work of one thread, which can be ended from outside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._left = False

    def run(self, job: Callable[[], Returned]) -> Returned:
        with self._lock:
            if self._left:
                raise _GivenUp
            self._thread = threading.get_ident()
        try:
            return job()
        finally:
            self._detach()

    def _detach(self) -> None:
        """From here on nobody ends this job. If somebody has, the exception arrives here at the latest, as it would
        end whatever the thread does next. To take it back is not enough: Python would go on looking for it, with each
        call of each thread, and a traced thread (a profiler, coverage) would never do anything else."""
        while self._thread is not None:
            with suppress(_GivenUp), self._lock:
                self._thread = None
        if self._left:
            with suppress(_GivenUp):
                _raise_in(threading.get_ident(), _GivenUp)
                while True:
                    pass

    def leave(self) -> bool:
        """Ends the job. Returns whether it was still under way."""
        with self._lock:
            self._left = True
            if self._thread is None:
                return False
            _raise_in(self._thread, _GivenUp)
            return True


def _raise_in(thread: int, exception: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))


class WorkThreads:
    def __init__(self, log: Log, deadline: float = DEADLINE_SECONDS) -> None:
        self._log = log
        self._deadline = deadline
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="work")
        self._slots = FairSlots(THREADS)
        self._jobs: set[_Job] = set()

    async def run(self, job: Callable[[], Returned], ledger: Ledger) -> Returned:
        """Runs a short job at once. A job that turns out to be long begins again in a thread, and what it noted is
        dropped."""
        if not ledger.work.takes_long:
            entries = ledger.entries()
            try:
                return ledger.work.briefly(job)
            except TakesLong:
                ledger.back_to(entries)
        return await self._apart(job, ledger)

    async def read(self, data: bytes, parse: Parse[Returned], ledger: Ledger, loan: Loan) -> Returned:
        """Parses the body of a request, and takes the memory that what was read needs besides the bytes. Their number
        decides where all further work on the request is done."""
        if len(data) > LARGE_BYTES:
            ledger.work.takes_long = True
            body, found = await self._apart(partial(read, data, parse), ledger)
        else:
            body, found = read(data, parse)
        ledger.work.measured = body, found.levels
        loan.take(found.weight - len(data))
        return body

    async def work_on(self, size: int, job: Callable[[], Returned], owner: str) -> Returned:
        """Does a job that goes over so many bytes of what is kept."""
        ledger = Ledger()
        ledger.work.owner = owner
        ledger.work.takes_long = size > LARGE_BYTES
        return await self.run(job, ledger)

    async def _apart(self, job: Callable[[], Returned], ledger: Ledger) -> Returned:
        async with self._slots.slot(ledger.work.owner):
            return await self._in_thread(job, ledger)

    async def _in_thread(self, job: Callable[[], Returned], ledger: Ledger) -> Returned:
        loop = asyncio.get_running_loop()
        stoppable = _Job()
        self._jobs.add(stoppable)
        timer: list[asyncio.TimerHandle] = []

        def begin() -> None:
            timer.append(loop.call_later(self._deadline, end))

        def end() -> None:
            if stoppable.leave():
                timer.append(loop.call_later(AGAIN_SECONDS, end))

        def run() -> Returned:
            loop.call_soon_threadsafe(begin)  # whoever waits for a thread is not late yet
            return stoppable.run(job)

        try:
            return await loop.run_in_executor(self._threads, run)
        except _GivenUp:
            self._log.error("work_abandoned", seconds=self._deadline, field=known_path(ledger.work.on or ""))
            raise ledger.work.too_much() from None
        finally:
            self._jobs.discard(stoppable)
            for each in timer:
                each.cancel()
            end()  # if its client has left, nobody needs it

    def close(self) -> None:
        for job in self._jobs:
            job.leave()
        self._threads.shutdown(wait=False, cancel_futures=True)
