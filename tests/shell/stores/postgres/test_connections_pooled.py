"""A pooler in transaction mode stands between, with fewer connections than those who ask: all works."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from proxy.core.stored.record import Status
from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.postgres.records import PostgresRecords
from proxy.shell.stores.protocol import (
    Began,
    Cursor,
    Granted,
    Key,
    LogExcerpt,
    LogRow,
    Outcome,
    StoreDown,
    Want,
)
from tests.support.pooler import Pooler, pooling
from tests.support.postgres import fresh_url
from tests.support.stores import Terms, Told, ids_of, postgres_at, record, run, talk

LIMITS = Limits(connections=4, seconds=30, prepared=False)
NUMBER = 3


@pytest.fixture
async def pooler() -> AsyncIterator[Pooler]:
    url = await fresh_url()
    port, _, rest = url.partition("127.0.0.1:")[2].partition("/")
    async with pooling(int(port), rest.partition("search_path=")[2]) as pooler:
        yield pooler


def url_of(pooler: Pooler) -> str:
    return f"postgresql://postgres@127.0.0.1:{pooler.port}/postgres"


async def work(records: PostgresRecords) -> None:
    """Something of everything."""
    for _ in range(5):
        kept, talked = record(foreign=("mine",)), talk()
        await records.save("t", kept)
        assert await records.get("t", kept.id) == kept
        child = record(parent=kept)
        await records.save("t", child)
        assert await records.chain("t", child.id, 9) == [kept, child]
        await records.create("t", talked)
        begun = run(conversation=talked)
        assert isinstance(await records.begin("t", begun, "w"), Began)
        done = replace(begun, status=Status.COMPLETED)
        assert await records.finish("t", done, "w", ids_of(done)) is Outcome.DONE
        assert len(await records.entries("t", talked.id) or ()) == 1
        assert "mine" in await records.items("t", ["mine"])
        assert await records.delete("t", child.id) is True


async def test_all_works_without_prepared_statements(pooler: Pooler) -> None:
    """U21."""
    async with AsyncExitStack() as stack:
        engines = []
        for _ in range(NUMBER):
            engines.append(postgres_at(url_of(pooler), limits=LIMITS))
            await engines[-1].open()
            stack.push_async_callback(engines[-1].close)
        live = PostgresLive(ConnectionPool(Address(url_of(pooler)), LIMITS), Told(Terms()))
        await live.open()
        stack.push_async_callback(live.close)
        await asyncio.gather(*(work(engine) for engine in engines for _ in range(3)))
        key = Key("t", "resp_1")
        await live.append([LogRow(key, 0, [b"{}"])])
        assert await live.read([cursor := Cursor(key, 0)], 9) == {cursor: LogExcerpt([b"{}"], ended=False)}
        assert isinstance(await live.take("t", [Want("requests", 9)]), Granted)
        assert (await engines[0].size()).responses == NUMBER * 3 * 5 * 2
    assert pooler.transactions > NUMBER * 3 * 5 * 10


async def test_with_them_it_is_told_what_helps(pooler: Pooler) -> None:
    engines = [postgres_at(url_of(pooler), limits=replace(LIMITS, prepared=True)) for _ in range(NUMBER)]
    told = []
    for engine in engines:
        try:
            await engine.open()
            await work(engine)
        except StoreDown as failure:
            told.append(str(failure))
        await engine.close()
    assert any(each.endswith("A pooler between? Set store.prepared = false") for each in told)
