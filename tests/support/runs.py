"""The runs of a process on engines in memory, which fail when they are told to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from proxy.core import jsontext
from proxy.core.policy.shares import Loan, Shares
from proxy.core.stored import endings
from proxy.core.stored.record import Record, Status
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.runs.run import Run
from proxy.shell.runs.runs import Runs
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.protocol import Key, RecordUnreadable, StoreDown
from proxy.shell.turn_store import Owning
from tests.support.proxies import LogLines
from tests.support.stores import MINT, Terms

TENANT, WORKER = "ann", "w"


def event(number: int, kind: str = "response.queued", **members: Any) -> bytes:
    return jsontext.dumps({"type": kind, "sequence_number": number, **members})


def queued(*, streamed: bool = True, **members: Any) -> Record:
    id = MINT.response()
    answer = jsontext.dumps({"id": id, "status": "queued", "output": [], "error": None})
    return Record(id, Status.QUEUED, 1, "m", background=True, streamed=streamed, answer=answer, **members)


def completed(record: Record) -> Record:
    response = jsontext.loads(record.answer) | {"status": "completed"}
    return endings.answered(record, response)


def as_it_is(record: Record) -> Record:
    """It continues nothing that could be gone."""
    return record


class Failing:
    """An engine that is down for what is named in `down`, so many times, or cannot read it (`unreadable`)."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.down: dict[str, float] = {}
        self.unreadable: dict[str, float] = {}
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def ask(*args: Any, **named: Any) -> Any:
            self.asked.append(name)
            if self.down.get(name, 0) > 0:
                self.down[name] -= 1
                raise StoreDown("away")
            if self.unreadable.get(name, 0) > 0:
                self.unreadable[name] -= 1
                raise RecordUnreadable("damaged")
            return await getattr(self._engine, name)(*args, **named)

        return ask


@dataclass
class World:
    runs: Runs
    records: Failing
    live: Failing
    terms: Terms
    log: LogLines
    metrics: Metrics
    shares: Shares
    slept: list[float] = field(default_factory=list)

    async def begin(self, record: Record, owning: Owning = as_it_is, tenant: str = TENANT) -> Run:
        loan = Loan(self.shares, tenant)
        loan.take(10)
        run = await self.runs.begin(tenant, record, owning, loan)
        loan.end()
        return run

    def counted(self, family: str) -> dict[tuple[str, ...], float]:
        return dict(self.metrics.counts()[family])

    async def events(self, record: Record) -> list[Any]:
        found = await self.runs.said(TENANT, record)
        return [jsontext.loads(each) for each in found]

    async def kept(self, record: Record) -> Record:
        found = await self.records.get(TENANT, record.id)
        assert found is not None
        return found  # type: ignore[no-any-return]


@asynccontextmanager
async def world(places: int = 5, *, started: bool = True) -> AsyncIterator[World]:
    terms, log, metrics = Terms(), LogLines(), Metrics({}, ())
    records = Failing(MemoryRecords(terms.clock, terms.keeping))
    live = Failing(MemoryLive(terms.clock))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    runs = Runs(
        records=records,  # type: ignore[arg-type]
        live=live,  # type: ignore[arg-type]
        worker=WORKER,
        places=places,
        record_bytes=1 << 20,
        metrics=metrics,
        log=make_log("info", "json", stream=log.stream),
        sleep=sleep,
    )
    if started:
        runs.start()
    try:
        yield World(runs, records, live, terms, log, metrics, Shares(1000), slept)
    finally:
        await runs.close()


def key_of(record: Record) -> Key:
    return Key(TENANT, record.id)
