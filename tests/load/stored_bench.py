"""What it costs to be remembered: `scripts/bench --state`, or `--state postgresql` with a server of its own.

The same requests are asked of one proxy in turn, once to be stored and once not, and only their ratio means anything.
Then what reads from the store: a stream that is resumed, a turn behind a long chain and, where several nodes share one,
what is left of a limit.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import uvloop

from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.protocol import Want
from tests.load import targets
from tests.load.bench import BACKEND_CORE, TARGET_CORE, WARM_UP, WORKLOADS, Figures, Target, run
from tests.load.calls import Calls
from tests.load.process import Server, cpu_seconds
from tests.load.script import Script
from tests.support.postgres import Server as PostgresServer


@dataclass(frozen=True)
class Engine:
    name: str
    most: Mapping[str, float]
    """By workload, the highest ratio that is meant."""
    turns: int = 500


ENGINES = {
    "sqlite": Engine("sqlite", {"short": 1.25, "single": 1.05, "burst": 1.10}),
    "postgresql": Engine("postgresql", {"short": 1.60, "single": 1.08}),
}
RESUMED = Script(1980, burst=20)
PLACES = (0, 500, 1000, 1500, 1980)
RESUME_MS = 20.0
CHAINED = Script(4)
CHAIN_MS = 30.0
LIMITED = (Want("requests", 10**6), Want("calls", 10**6))
LIMIT_MS = 1.0
TIMES = 7
LIMIT_TIMES = 500
MS = 1000.0
COLUMNS = ("not stored", "stored", "ratio", "at most", "failed")
LINE = "  {:<46}{:>12}{:>10}{:>8}{:>10}{:>8}"


@dataclass
class Row:
    about: str
    most: float
    plain: Figures = field(default_factory=Figures)
    stored: Figures = field(default_factory=Figures)

    @property
    def ratio(self) -> float:
        """Of the rounds that were side by side: whatever else runs disturbs both."""
        return statistics.median(
            stored / plain for plain, stored in zip(self.plain.cpu, self.stored.cpu, strict=True)
        )

    def line(self) -> str:
        faults = len(self.plain.faults) + len(self.stored.faults)
        cells = (
            f"{self.plain.least_cpu:.2f}",
            f"{self.stored.least_cpu:.2f}",
            f"{self.ratio:.3f}",
            f"{self.most:.2f}",
        )
        return LINE.format(self.about, *cells, faults)


@dataclass
class Reading:
    """How long clients waited, and what it cost the proxy, in milliseconds."""

    about: str
    most: float
    waited: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def line(self) -> str:
        return (
            f"  {self.about:<36}{statistics.median(self.waited):.1f} ms, at best {min(self.waited):.1f}; "
            f"processor {statistics.median(self.cpu):.1f} ms; at most {self.most:g} ms"
        )


async def compare(
    server: Server, most: Mapping[str, float], rounds: int, tell: Callable[[str], None]
) -> list[Row]:
    plain, stored = (
        Target(name, server, "responses", stores=name == "stored") for name in ("not stored", "stored")
    )
    for target in (plain, stored):
        await run(WARM_UP, target, Figures())
    rows = []
    for name, ratio in most.items():
        workload = WORKLOADS[name]
        row = Row(f"{workload.about}; µs per {workload.per}", ratio)
        for number in range(rounds):
            tell(f"{name}, round {number + 1} of {rounds}")
            await run(workload, plain, row.plain)
            await run(workload, stored, row.stored)
        rows.append(row)
    return rows


class Timed:
    """Calls one after another, each on a connection of its own."""

    def __init__(self, calls: Calls, pid: int) -> None:
        self._calls = calls
        self._pid = pid

    async def measure(self, reading: Reading, asked: Callable[[Calls], Any], less: float = 0.0) -> Any:
        began, spent = time.perf_counter(), cpu_seconds(self._pid)
        found = await asked(self._calls)
        reading.waited.append((time.perf_counter() - began) * MS - less)
        reading.cpu.append((cpu_seconds(self._pid) - spent) * MS)
        return found


async def resuming(calls: Calls, pid: int, tell: Callable[[str], None]) -> list[Reading]:
    tell("a stream to be resumed")
    body = {"model": RESUMED.model, "input": "Hi", "background": True, "stream": True}
    events = await calls.raw("POST", "/responses", body)
    id = events.partition(b'"id":"')[2].partition(b'"')[0].decode()
    whole = events.count(b"event: ")
    readings = []
    for place in PLACES:
        reading = Reading(f"resumed behind {place} of {whole} events", RESUME_MS)
        for _ in range(TIMES):
            path = f"/responses/{id}?stream=true&starting_after={place}"
            told = await Timed(calls, pid).measure(reading, lambda calls, path=path: calls.raw("GET", path))
            assert events.endswith(told[told.index(b"\n\n") :]), "not the same events"
        readings.append(reading)
    return readings


async def chaining(calls: Calls, pid: int, turns: int, tell: Callable[[str], None]) -> Reading:
    """Less what the same answer takes without a history, which is mostly the backend."""
    body: dict[str, Any] = {"model": CHAINED.model, "input": "Go on."}
    parent: dict[str, Any] = {}
    for number in range(turns):
        tell(f"turn {number + 1} of {turns}")
        status, answer = await calls.ask("POST", "/responses", body | parent)
        assert status == 200, answer
        parent = {"previous_response_id": answer["id"]}
    alone = Reading("alone", 0)
    reading = Reading(f"a turn behind {turns} others", CHAIN_MS)
    for _ in range(TIMES):
        await Timed(calls, pid).measure(alone, lambda calls: calls.ask("POST", "/responses", body))
    for _ in range(TIMES):
        less = statistics.median(alone.waited)
        await Timed(calls, pid).measure(
            reading, lambda calls: calls.ask("POST", "/responses", body | parent), less
        )
    return reading


async def limiting(url: str, tell: Callable[[str], None]) -> Reading:
    """What a worker asks before it admits a request. Its processor's time is this process's here."""
    tell("what is left of a limit")
    live = PostgresLive(ConnectionPool(Address(url), Limits()), ServerClock(time.monotonic))
    await live.open()
    reading = Reading("what is left of a limit", LIMIT_MS)
    try:
        for _ in range(LIMIT_TIMES):
            began, spent = time.perf_counter(), time.process_time()
            await live.take("tenant", LIMITED)
            reading.waited.append((time.perf_counter() - began) * MS)
            reading.cpu.append((time.process_time() - spent) * MS)
    finally:
        await live.close()
    return reading


async def _all(server: Server, engine: Engine, store: str, rounds: int, tell: Callable[[str], None]) -> str:
    rows = await compare(server, engine.most, rounds, tell)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
        calls = Calls(session, server.url)
        readings = await resuming(calls, server.pid, tell)
        readings.append(await chaining(calls, server.pid, engine.turns, tell))
    if engine.name == "postgresql":
        readings.append(await limiting(store, tell))
    tell("")
    faults = sorted({fault for row in rows for fault in (*row.plain.faults, *row.stored.faults)})
    return "\n".join(
        [
            LINE.format("processor time of the proxy", *COLUMNS),
            *(row.line() for row in rows),
            *(f"      {fault}" for fault in faults[:3]),
            "what clients wait for",
            *(reading.line() for reading in readings),
        ]
    )


@contextmanager
def _store(name: str) -> Iterator[str]:
    if name == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:{folder}/state"
        return
    server = PostgresServer(options=())
    try:
        server.make()
        server.start()
        asyncio.run(server.ready())
        yield server.url()
    finally:
        server.remove()


def measured(engine: Engine, rounds: int, tell: Callable[[str], None]) -> str:
    cores = sorted(os.sched_getaffinity(0))
    here, there = (cores[BACKEND_CORE], cores[TARGET_CORE]) if len(cores) > 1 else (None, None)
    with ExitStack() as stack:
        if here is not None:
            os.sched_setaffinity(0, {here})
            stack.callback(os.sched_setaffinity, 0, cores)
        store = stack.enter_context(_store(engine.name))
        backend = stack.enter_context(targets.backend(here)).url
        proxy = stack.enter_context(targets.proxy(backend, there, store=store))
        return uvloop.run(_all(proxy, engine, store, rounds, tell))
