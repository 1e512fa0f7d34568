"""The server fails, and its standby takes over: first it only reads, then it writes."""

import asyncio
import signal
from collections.abc import AsyncIterator

import asyncpg
import pytest

from proxy.core.stored.record import Record
from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.protocol import Cursor, Key, LogRow, Outcome, StoreDown
from tests.support.postgres import Server
from tests.support.stores import Terms, Told, postgres_at, record, run
from tests.support.tcp_relay import relaying

LIMITS = Limits(connections=2, seconds=5)


@pytest.fixture
async def pair() -> AsyncIterator[tuple[Server, Server]]:
    """A primary, and a standby that has all that the primary has acknowledged."""
    primary, standby = Server(options=("fsync=off",)), Server(options=("fsync=off",))
    primary.make()
    primary.start()
    await primary.ready()
    await asyncio.to_thread(standby.make_standby, primary)
    standby.start()
    await standby.ready()
    await primary.execute("alter system set synchronous_standby_names = '*'")
    await primary.execute("select pg_reload_conf()")
    yield primary, standby
    primary.remove()
    standby.remove()


async def test_what_was_acknowledged_is_there_and_nothing_else(pair: tuple[Server, Server]) -> None:
    """U20: with one address for both, as a name or a virtual address is."""
    primary, standby = pair
    async with relaying(primary.port) as relay:
        url = primary.url(port=relay.port)
        engine = postgres_at(url, limits=LIMITS)
        live = PostgresLive(ConnectionPool(Address(url), LIMITS), Told(Terms()))
        await engine.open()
        await live.open()
        kept = [record() for _ in range(20)]
        await asyncio.gather(*(engine.save("t", each) for each in kept))
        await live.append([LogRow(key := Key("t", kept[0].id), 0, [b"{}"])])
        primary.stop(signal.SIGQUIT)
        relay.target = standby.port
        refused: list[Record] = []
        for each in (record(), record(), run()):
            with pytest.raises(StoreDown, match="read-only transaction"):
                await (engine.save("t", each) if each.is_final else engine.begin("t", each, "w"))
            refused.append(each)
        assert await asyncio.gather(*(engine.get("t", each.id) for each in kept)) == kept
        with pytest.raises(StoreDown):
            await live.read([Cursor(key, 0)], 9)
        connection = await asyncpg.connect(standby.url())
        assert await connection.fetchval("select pg_promote()")
        await connection.close()
        assert await engine.save("t", record()) is Outcome.DONE
        assert [await engine.get("t", each.id) for each in refused] == [None] * 3
        assert await engine.get("t", kept[-1].id) == kept[-1]
        assert await live.read([cursor := Cursor(key, 0)], 9) == {cursor: None}, "what may vanish has"
        await engine.close()
        await live.close()
