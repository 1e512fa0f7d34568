"""What one command costs PostgreSQL's processors: `python -m tests.load.unit_costs`, on a server of its own.

Processor time of all processes of the server, which does not flush here: only work is counted, no disk.
"""

import asyncio
import os
import random  # noqa: TID251 - text that cannot be packed, from a fixed seed
import sys
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.connections import Connections
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.protocol import Key, LogRow, Want
from tests.support.postgres import Server
from tests.support.stores import Terms, Told, postgres_at, record

TICKS = os.sysconf("SC_CLK_TCK")
MS = 1000
TURN_TEXT = random.Random(1).randbytes(4_750).hex()
"""In its input and in its output: 20 kB in all, with what is around it."""
ROW = b'{"type":"response.output_text.delta","sequence_number":%d,"delta":"%s"}'
AT_ONCE = 20
ANCESTORS = 10
LOGS = 50
TENANTS = 100


def spent_seconds(server: Server) -> float:
    """By the server, with all that work for it."""
    assert server.process is not None
    total = 0.0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if server.process.pid in (int(folder.name), int(words[1])):  # or one of its children
                total += sum(map(int, words[11:13])) / TICKS
    return total


async def cost(
    server: Server, times: int, command: Callable[[], Awaitable[object]], at_once: int = AT_ONCE
) -> float:
    """Milliseconds for one of so many."""
    left = count()

    async def client() -> None:
        while next(left) < times:
            await command()

    await command()
    before = spent_seconds(server)
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(client())
    return (spent_seconds(server) - before) / times * MS


async def measured(server: Server, scale: int = 1) -> dict[str, float]:
    """`scale`: so many times as often."""
    records = postgres_at(server.url())
    live = PostgresLive(Connections(Address(server.url()), Limits()), Told(Terms()))
    await records.open()
    await live.open()
    newest = record(text=TURN_TEXT)
    for _ in range(ANCESTORS - 1):
        await records.save("t", newest)
        newest = record(parent=newest, text=TURN_TEXT)
    await records.save("t", newest)
    numbers, flushes = count(), count()

    async def save() -> None:
        await records.save("t", record(text=TURN_TEXT))

    async def chain() -> None:
        assert await records.chain("t", newest.id, 1000)

    async def take() -> None:
        await live.take(f"tenant {next(numbers) % TENANTS}", [Want("requests", 10**6), Want("calls", 10**6)])

    async def append() -> None:
        first = 2 * next(flushes)
        events = [ROW % (first, b"word "), ROW % (first + 1, b"another ")]
        await live.append([LogRow(Key("t", f"log {log}"), first, events) for log in range(LOGS)])

    async def beat() -> None:
        await records.beat("w")

    try:
        return {
            "save": await cost(server, 500 * scale, save),
            "chain": await cost(server, 200 * scale, chain),
            "take": await cost(server, 1000 * scale, take),
            "log_row": await cost(server, 50 * scale, append, at_once=1) / LOGS,
            "beat": await cost(server, 500 * scale, beat),
        }
    finally:
        await records.close()
        await live.close()


async def main() -> None:
    server = Server()
    server.make()
    server.start()
    try:
        await server.ready()
        for name, milliseconds in (await measured(server, scale=4)).items():
            sys.stdout.write(f"{name:8} {milliseconds:.3f} ms\n")
    finally:
        server.remove()


if __name__ == "__main__":
    asyncio.run(main())
