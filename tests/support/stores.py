"""Engines of the store under one clock, which the test moves; and what to keep in them."""

import asyncio
import atexit
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any, ClassVar, Self

from proxy.core import jsontext
from proxy.core.ids import Mint
from proxy.core.stored.conversation import Conversation
from proxy.core.stored.record import Record, Status
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.postgres.address import Address
from proxy.shell.stores.postgres.connections import ConnectionPool, Limits
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.postgres.records import PostgresRecords
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.sealing.aes import AesKey
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sqlite.live import SqliteLive
from proxy.shell.stores.sqlite.records import SqliteRecords
from proxy.shell.stores.terms import Clock, Keeping

ROOT = Path(__file__).parent.parent.parent
LENGTH_BYTES = 4
LIMITS = Limits(seconds=30)

SHORT_LOG = 10_000
"""Bytes of a log, in the tests."""


@dataclass
class Terms:
    """What an engine goes by, and the test changes."""

    date: float = 1_700_000_000.0
    steady: float = 5_000.0
    patient: bool = False
    """Nobody is buried yet."""
    keeping: Keeping = field(default_factory=Keeping)

    @property
    def clock(self) -> Clock:
        return Clock(date=lambda: self.date, steady=lambda: self.steady)

    def may_bury(self) -> bool:
        return not self.patient


@dataclass
class Settings:
    """The keeping of an engine, read anew each time: what a restart with other settings does."""

    terms: Terms

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terms.keeping, name)


# ── what is kept ──

_numbers = count(1)
MINT = Mint(lambda size: f"{next(_numbers) * 0x9E3779B97F4A7C15 % (1 << 8 * size):0{2 * size}x}")


def item(id: str, text: str = "text") -> dict[str, Any]:
    return {"type": "message", "id": id, "role": "user", "content": [{"type": "input_text", "text": text}]}


def record(
    status: Status = Status.COMPLETED,
    parent: Record | None = None,
    conversation: Conversation | None = None,
    inputs: int = 1,
    outputs: int = 1,
    foreign: tuple[str, ...] = (),
    text: str = "text",
    **members: Any,
) -> Record:
    """A response with items; `foreign`: ids of further ones in its input, as a client made them up."""
    id = MINT.response(None if parent is None else parent.id[-16:])
    ids = MINT.items_of(id)
    return Record(
        id=id,
        status=status,
        created=1_700_000_000,
        model="m",
        parent=None if parent is None else parent.id,
        conversation=None if conversation is None else conversation.id,
        answer=jsontext.dumps({"id": id, "object": "response", "status": status, "output": []}),
        input=jsontext.dumps(
            [item(ids.input("msg", n), f"{text} in {n}") for n in range(inputs)]
            + [item(id, f"{text} {id}") for id in foreign]
        ),
        output=jsontext.dumps([item(ids.output("msg", n), f"{text} out {n}") for n in range(outputs)]),
        **members,
    )


def run(**members: Any) -> Record:
    return record(Status.QUEUED, outputs=0, background=True, **members)


def talk() -> Conversation:
    return Conversation(MINT.conversation(), 1_700_000_000)


def ids_in(items: bytes) -> list[str]:
    return [item["id"] for item in jsontext.loads(items)]


def ids_of(record: Record) -> list[str]:
    return ids_in(record.input) + ids_in(record.output)


# ── an engine in a process of its own ──


class Host:
    """A process for engines. It takes longer to start than most tests take, so it serves one after another."""

    idle: ClassVar[list[Self]] = []

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.support.store_process"]
            self.process = subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs)

    def end(self) -> None:
        self.socket.close()
        self.process.wait()


@atexit.register
def _end_hosts() -> None:
    for host in Host.idle:
        host.end()


class Remote:
    """An engine in another process, on the same file or database. Calls go one by one, as bytes over a socket."""

    def __init__(self, kind: str, part: str, where: Any, terms: Terms) -> None:
        self._engine = kind, part, where
        self._terms = terms
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        self._host = Host.idle.pop() if Host.idle else Host()
        self.process = self._host.process
        self._reader, self._writer = await asyncio.open_connection(
            sock=self._host.socket.dup(), limit=1 << 26
        )
        await self.call("make", *self._engine)
        await self.call("open")

    async def close(self) -> None:
        try:
            await self.call("close")
        except (EOFError, ConnectionError):
            self._host.end()  # it was killed
        else:
            Host.idle.append(self._host)
        self._writer.close()

    async def call(self, name: str, *args: Any, **named: Any) -> Any:
        """Whoever is cancelled leaves no answer to the next."""
        failed, answer = await asyncio.shield(self._asked(name, args, named))
        if failed:
            raise answer
        return answer

    async def _asked(self, name: str, args: Any, named: Any) -> Any:
        terms = self._terms
        message = pickle.dumps((name, args, named, terms.date, terms.steady, terms.patient, terms.keeping))
        async with self._turn:
            self._writer.write(len(message).to_bytes(LENGTH_BYTES, "big") + message)
            size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
            return pickle.loads(await self._reader.readexactly(size))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **named: Any) -> Any:
            return await self.call(name, *args, **named)

        return call


HOLD = """
import fcntl, sys
lock = open(sys.argv[1])
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


async def hold_lock(path: Path) -> asyncio.subprocess.Process:
    """Starts a process that holds the lock of a file of SQLite and does nothing more, as a frozen one does."""
    pipe = asyncio.subprocess.PIPE
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, f"{path}.lock", stdin=pipe, stdout=pipe
    )
    assert await holder.stdout.readline() == b"held\n"
    return holder


class InTurn:
    """Several engines on one file: each call goes to the next of them."""

    def __init__(self, *engines: Any) -> None:
        self._engines = engines
        self._next = cycle(engines)

    async def open(self) -> None:
        for engine in self._engines:
            await engine.open()

    async def close(self) -> None:
        for engine in self._engines:
            await engine.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(next(self._next), name)


# ── the engines, by their names ──


TWO = " in two processes"
SEALED = "sealed "
SEALS = Seals([AesKey("a key of the tests, long enough")])
"""The same in all processes of the tests."""


def make_records(kind: str, terms: Terms, where: Any) -> Any:
    """`where`: a path, or the URL of a database."""
    if kind == "memory":
        return MemoryRecords(terms.clock, Settings(terms), terms.may_bury)  # type: ignore[arg-type]
    name = kind.removesuffix(TWO)
    seals = SEALS if name.startswith(SEALED) else NO_SEALS
    engine = (postgres_at if "postgresql" in name else sqlite_at)(where, terms, seals=seals)
    return engine if kind == name else InTurn(engine, Remote(name, "records", where, terms))


class Told(ServerClock):
    """Goes by the test's clock, whatever the server says."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(lambda: terms.steady)
        self._terms = terms

    @property
    def clock(self) -> Clock:
        return self._terms.clock

    def measured(self, time: float, begun: float) -> None: ...


def postgres_at(
    url: str, terms: Terms | None = None, limits: Limits = LIMITS, seals: Seals = NO_SEALS
) -> PostgresRecords:
    terms = terms or Terms()
    connections = ConnectionPool(Address(url), limits)
    keeping: Any = Settings(terms)
    return PostgresRecords(connections, Told(terms), keeping, terms.may_bury, seals)


def sqlite_at(path: Path, terms: Terms | None = None, seals: Seals = NO_SEALS) -> SqliteRecords:
    terms = terms or Terms()
    keeping: Any = Settings(terms)
    return SqliteRecords(path, terms.clock, keeping, terms.may_bury, seals)


def make_live(kind: str, terms: Terms, where: Any, seals: Seals = NO_SEALS) -> Any:
    if kind == "memory":
        return MemoryLive(terms.clock, SHORT_LOG)
    name = kind.removesuffix(TWO)
    seals = SEALS if name.startswith(SEALED) else seals
    engine: Any
    if name.endswith("redis"):
        from tests.support.redis_live import ClockedRedis  # which knows the clock above

        return ClockedRedis(terms, SHORT_LOG, seals)
    if name.endswith("sqlite"):
        engine = SqliteLive(where, terms.clock, SHORT_LOG, seals=seals)
    else:
        connections = ConnectionPool(Address(where), LIMITS)
        engine = PostgresLive(connections, Told(terms), SHORT_LOG, seals=seals)
    return engine if kind == name else InTurn(engine, Remote(name, "live", where, terms))
