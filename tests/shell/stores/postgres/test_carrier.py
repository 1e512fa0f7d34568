"""What a carrier asks of PostgreSQL itself. What it carries is shown by `tests/stores`."""

import time
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest

from proxy.core.stored.record import Record
from proxy.shell.stores.postgres import carrier
from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.attempt import StepAttempt
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.live import FIND_ALL, PostgresLive
from proxy.shell.stores.postgres.records import CHAIN, HELD, HELD_IF_FREE, NAMED, PostgresRecords
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.postgres.wording import translated
from proxy.shell.stores.protocol import Began, Granted, RecordUnreadable, Want
from proxy.shell.stores.sql import limit_statements, log_statements, statements
from proxy.shell.stores.terms import Keeping
from tests.support.postgres import execute, fresh_url
from tests.support.stores import ids_of, postgres_at, record, run, talk

WHOLE = {"LIVING", "FULL_METERS", "CENSUS_OF_KEYS", "CENSUS_OF_KEYS_OF_TALKS"}
"""Of the processes that live, and of the tenants that are limited: few. And what people are shown."""


async def test_each_question_is_answered_by_an_index() -> None:
    """There is one for each, but for what is small."""
    url = await fresh_url()
    connections = ConnectionPool(Address(url), Limits())
    clock = ServerClock(time.monotonic)
    engines = PostgresRecords(connections, clock, Keeping()), PostgresLive(connections, clock)
    for engine in engines:
        await engine.open()
    connection = await asyncpg.connect(url)
    await connection.execute("set enable_seqscan = off; set plan_cache_mode = force_generic_plan")
    asked = {
        "CHAIN": CHAIN,
        "FIND_ALL": FIND_ALL,
        "HELD": HELD,
        "HELD_IF_FREE": HELD_IF_FREE,
        "NAMED": NAMED,
    }
    for module in (limit_statements, log_statements, statements):  # `LIVING` of the first is only a part
        asked |= {
            name: each for name, each in vars(module).items() if name.isupper() and isinstance(each, str)
        }
    whole = set()
    for name, statement in asked.items():
        if "?" in statement and statement.startswith(("select", "insert", "update", "delete", "with")):
            await connection.execute(f"prepare ask_{name} as {translated(statement)}")
            plan = await connection.fetch(
                f"explain execute ask_{name}({', '.join(['null'] * statement.count('?'))})"
            )
            whole |= {name for (line,) in plan if "Seq Scan" in line}
    await connection.close()
    for engine in engines:
        await engine.close()
    assert whole == WHOLE


async def test_a_history_takes_as_many_questions_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a way to the server and back: of a chain, of items that are named, and of a conversation that is read, or
    locked for a turn."""
    asked: list[Any] = []
    ask = StepAttempt._ask

    async def counted(self: StepAttempt, question: Any) -> Any:
        asked.append(question)
        return await ask(self, question)

    monkeypatch.setattr(StepAttempt, "_ask", counted)
    engine = postgres_at(await fresh_url())
    await engine.open()
    counts, conversation, last, named = [], talk(), None, list[str]()
    await engine.create("t", conversation)
    for _ in range(2):
        for _ in range(10):
            last = record(parent=last)
            named += ids_of(last)
            await engine.save("t", last)
            await engine.add("t", conversation.id, record())
        asked.clear()
        assert last is not None
        chain = await engine.chain("t", last.id, 100)
        counts.append(len(asked))
        assert chain is not None
        items = await engine.items("t", named)
        counts.append(len(asked))
        assert len(items) == len(named) >= 10
        entries = await engine.entries("t", conversation.id)
        counts.append(len(asked))
        begun = await engine.lock("t", conversation.id, "w", last.id)
        counts.append(len(asked))
        await engine.unlock("t", conversation.id, last.id)
        assert isinstance(begun, Began)
        assert len(chain) * 2 == len(entries or ()) == len(begun.entries)
    await engine.close()
    assert counts[:4] == counts[4:]
    assert counts[1] - counts[0] == 1


async def test_the_bytes_of_very_many_responses_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was deleted counts no more, though the server's files are as large as before."""
    url = await fresh_url()
    engine = postgres_at(url)
    await engine.open()
    kept = [record(text="x" * 1000) for _ in range(200)]
    for each in kept:
        await engine.save("t", each)
    exact = (await engine.size()).bytes
    await execute(url, "analyze turns")
    monkeypatch.setattr(carrier, "COUNTED_BYTES", 0)
    monkeypatch.setattr(carrier, "SAMPLE_PERCENT", 100)
    assert (await engine.size()).bytes == pytest.approx(exact, rel=0.1)
    await engine.close()


@pytest.mark.parametrize(
    "by_hand",
    ["update turns set parent = '{third}' where id = '{second}'", "delete from turns where id = '{second}'"],
)
async def test_a_chain_with_a_hole_or_a_loop_is_refused(by_hand: str) -> None:
    """U49, T88: it must have been made by hand."""
    url = await fresh_url()
    engine = postgres_at(url)
    await engine.open()
    made: list[Record] = []
    for _ in range(3):
        made.append(record(parent=made[-1] if made else None))
        await engine.save("t", made[-1])
    _, second, third = made
    await execute(url, by_hand.format(second=second.id, third=third.id))
    with pytest.raises(RecordUnreadable):
        await engine.chain("t", third.id, 1000)
    await engine.close()


def nodes_at(url: str) -> Iterator[tuple[PostgresRecords, PostgresLive]]:
    """Their clocks differ by five minutes."""
    for ahead in (0, 300, -300):
        clock = ServerClock(lambda ahead=ahead: time.monotonic() + ahead)  # type: ignore[misc]
        connections = ConnectionPool(Address(url), Limits(1))
        yield PostgresRecords(connections, clock, Keeping(100)), PostgresLive(connections, clock)


async def test_nodes_whose_clocks_differ_have_one_limit_and_one_expiry() -> None:
    """U54: nobody waits for longer than a minute."""
    nodes = [*nodes_at(await fresh_url())]
    for records, live in nodes:
        await records.open()
        await live.open()
    want = Want("requests", 10)
    answers = [await live.take("t", [want]) for _ in range(12) for _, live in nodes]
    assert sum(isinstance(answer, Granted) for answer in answers) == 10
    assert all(0 <= answer.full_in[0] <= 60 for answer in answers)
    for records, _ in nodes:
        await records.save("t", kept := record())
        assert [await other.get("t", kept.id) for other, _ in nodes] == [kept] * 3
    for records, live in nodes:
        await records.close()
        await live.close()


async def test_nodes_whose_clocks_differ_bury_nobody() -> None:
    """U54: leases go by the server's time, whatever a machine believes."""
    url = await fresh_url()
    engines = []
    for records, _ in nodes_at(url):
        engines.append(records)
        await records.open()
    for number, engine in enumerate(engines):
        await engine.begin("t", run(), f"worker {number}")
    assert [await engine.beat("another") for engine in engines] == [4, 4, 4]
    assert [await engine.settle(50) for engine in engines] == [[], [], []]
    await execute(url, "update workers set until = until - 60 where id = 'worker 1'")
    assert len(await engines[2].settle(50)) == 1
    for engine in engines:
        await engine.close()
