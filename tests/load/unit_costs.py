"""What one command costs PostgreSQL, and Redis: `python -m tests.load.unit_costs`, on servers of its own.

Processor time of all processes of a server, which does not flush here: only work is counted, no disk.
"""

import asyncio
import random  # noqa: TID251 - text that cannot be packed, from a fixed seed
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from time import clock_gettime

from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.protocol import Key, Live, LogRow, Want
from tests.support.postgres import Server
from tests.support.redis_live import patient
from tests.support.redis_server import RedisProcess
from tests.support.stores import Terms, Told, postgres_at, record

MS = 1000
TURN_TEXT = random.Random(1).randbytes(4_750).hex()
"""In its input and in its output: 20 kB in all, with what is around it."""
ROW = b'{"type":"response.output_text.delta","sequence_number":%d,"delta":"%s"}'
AT_ONCE = 20
ANCESTORS = 10
LOGS = 50
TENANTS = 100


def spent_seconds(server: Server) -> float:
    """By the server, with all that work for it. Its processes' own clocks: /proc counts in hundredths of a second."""
    assert server.process is not None
    total = 0.0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = (folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
                if server.process.pid in (int(folder.name), int(parent)):
                    total += clock_gettime(_clock_of(int(folder.name)))
            except OSError:  # it has ended meanwhile
                continue
    return total


def _clock_of(pid: int) -> int:
    """As clock_getcpuclockid(3) makes it."""
    return ~pid << 3 | 2


async def cost(
    spent: Callable[[], float], times: int, command: Callable[[], Awaitable[object]], at_once: int = AT_ONCE
) -> float:
    """Milliseconds for one of so many."""
    left = count()

    async def client() -> None:
        while next(left) < times:
            await command()

    await command()
    before = spent()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(client())
    return (spent() - before) / times * MS


async def of_records(server: Server, scale: int = 1) -> dict[str, float]:
    """`scale`: so many times as often."""
    spent = partial(spent_seconds, server)
    records = postgres_at(server.url())
    await records.open()
    newest = record(text=TURN_TEXT)
    for _ in range(ANCESTORS - 1):
        await records.save("t", newest)
        newest = record(parent=newest, text=TURN_TEXT)
    await records.save("t", newest)

    async def save() -> None:
        await records.save("t", record(text=TURN_TEXT))

    async def chain() -> None:
        assert await records.chain("t", newest.id, 1000)

    async def beat() -> None:
        await records.beat("w")

    try:
        return {
            "save": await cost(spent, 500 * scale, save),
            "chain": await cost(spent, 200 * scale, chain),
            "beat": await cost(spent, 500 * scale, beat),
        }
    finally:
        await records.close()


async def of_live(live: Live, spent: Callable[[], float], scale: int = 1) -> dict[str, float]:
    await live.open()
    numbers, flushes = count(), count()

    async def take() -> None:
        await live.take(f"tenant {next(numbers) % TENANTS}", [Want("requests", 10**6), Want("calls", 10**6)])

    async def append() -> None:
        first = 2 * next(flushes)
        events = [ROW % (first, b"word "), ROW % (first + 1, b"another ")]
        await live.append([LogRow(Key("t", f"log {log}"), first, events) for log in range(LOGS)])

    try:
        return {
            "take": await cost(spent, 1000 * scale, take),
            "log_row": await cost(spent, 50 * scale, append, at_once=1) / LOGS,
        }
    finally:
        await live.close()


async def of_postgres(scale: int = 1) -> dict[str, float]:
    server = Server()
    server.make()
    server.start()
    try:
        await server.ready()
        live = PostgresLive(ConnectionPool(Address(server.url()), Limits()), Told(Terms()))
        found = await of_live(live, partial(spent_seconds, server), scale)
        return found | await of_records(server, scale)
    finally:
        server.remove()


async def of_redis(scale: int = 1) -> dict[str, float]:
    server = RedisProcess()

    def spent() -> float:
        with server.client() as client:
            told = client.info("cpu")
        return float(told["used_cpu_sys"]) + float(told["used_cpu_user"])

    try:
        return await of_live(patient(server.url, "costs"), spent, scale)
    finally:
        server.close()


async def main() -> None:
    for server, found in (("PostgreSQL", await of_postgres(4)), ("Redis", await of_redis(4))):
        for name, milliseconds in found.items():
            sys.stdout.write(f"{server:11}{name:8}{milliseconds:.3f} ms\n")


if __name__ == "__main__":
    asyncio.run(main())
