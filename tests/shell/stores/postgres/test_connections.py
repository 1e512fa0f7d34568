"""The connections of a process to a server that ends, stands still, or is another one than it was."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from proxy.core.stored.record import Record, Status
from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.postgres.records import PostgresRecords
from proxy.shell.stores.protocol import (
    Began,
    Locked,
    NotAsked,
    Outcome,
    StoreDown,
    StoreInDoubt,
    StoreReplaced,
    StoreUnreadable,
    Want,
)
from tests.support.postgres import Server, execute, fresh_url
from tests.support.processes import free_port
from tests.support.stores import Terms, Told, postgres_at, record, run, talk
from tests.support.tcp_relay import Relay, relaying

HASTY = Limits(connections=2, seconds=0.5)
PATIENT = Limits(connections=2, seconds=10)
PROMPTLY = 10.0


@asynccontextmanager
async def opened(url: str, limits: Limits = PATIENT) -> AsyncIterator[PostgresRecords]:
    engine = postgres_at(url, limits=limits)
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


async def many(call: Any, number: int = 5) -> list[Any]:
    return await asyncio.gather(*(call() for _ in range(number)), return_exceptions=True)


# ── it stands still ──


async def test_a_frozen_server_holds_up_nobody_for_long(server: Server) -> None:
    """U19, U22: every wait ends, nothing is left behind, and all goes on afterwards."""
    async with opened(server.url(), HASTY) as engine:
        kept = record()
        await engine.save("t", kept)
        tasks = len(asyncio.all_tasks())
        server.freeze()
        for _ in range(3):
            async with asyncio.timeout(10):
                failed = await many(lambda: engine.save("t", record())) + await many(
                    lambda: engine.get("t", kept.id)
                )
            assert {isinstance(each, StoreDown) for each in failed} == {True}
            assert len(asyncio.all_tasks()) == tasks
        server.thaw()
        assert await engine.get("t", kept.id) == kept
        assert await engine.save("t", record()) is Outcome.DONE
        assert len(asyncio.all_tasks()) == tasks


async def test_of_what_a_frozen_server_has_only_begun_nothing_is_done(server: Server) -> None:
    """U52: it is known not to have been charged."""
    live = PostgresLive(ConnectionPool(Address(server.url()), HASTY), Told(Terms()))
    await live.open()
    await live.take("t", [Want("requests", 60)])
    server.freeze()
    assert {type(each) for each in await many(lambda: live.take("t", [Want("requests", 60)]))} == {NotAsked}
    server.thaw()
    assert (await live.take("t", [Want("requests", 60, 0)])).full_in == [1]
    await live.close()


async def test_a_server_that_is_frozen_when_a_process_starts(server: Server) -> None:
    server.freeze()
    engine = postgres_at(server.url(), limits=HASTY)
    async with asyncio.timeout(10):
        with pytest.raises(StoreDown, match="does not answer"):
            await engine.open()
    with pytest.raises(StoreDown, match="does not answer"):  # which the log tells then
        await engine.size()
    server.thaw()
    await engine.open()
    assert (await engine.size()).responses == 0
    await engine.close()


async def test_a_network_that_carries_nothing_is_like_it() -> None:
    """U19: no end of the connection is heard."""
    url = await fresh_url()
    async with relaying(port_of(url)) as relay, opened(through(relay, url), HASTY) as engine:
        await engine.save("t", kept := record())
        relay.halt()
        assert {type(each) for each in await many(lambda: engine.save("t", record()))} <= {
            StoreInDoubt,
            StoreDown,
        }
        relay.go_on()
        assert await engine.get("t", kept.id) == kept


@pytest.mark.parametrize("sent", ["set locked_by", "resp_1"])
async def test_a_process_that_stands_still_with_a_lock_holds_up_others_for_a_limited_time(
    server: Server, sent: str
) -> None:
    """U66, U46: while it prepares a statement, or afterwards, the server ends what it has begun. The process hears of
    it when it goes on."""
    async with (
        relaying(server.port) as relay,
        opened(server.url(port=relay.port), replace(HASTY, seconds=1)) as frozen,
        opened(server.url()) as other,
    ):
        await other.create("t", made := talk())
        stands = asyncio.Event()

        def stand(data: bytes) -> None:
            if sent.encode() in data:
                relay.halt()
                stands.set()

        relay.cuts_at = stand
        late = asyncio.ensure_future(frozen.lock("t", made.id, "w", "resp_1"))  # noqa: TID251 - held here
        await stands.wait()
        began = await asyncio.gather(*(other.lock("t", made.id, "v", "resp_2") for _ in range(3)))
        assert {type(each) for each in began} == {Began}
        with pytest.raises(StoreDown):
            await late
        relay.cuts_at = None
        relay.go_on()
        assert await frozen.lock("t", made.id, "w", "resp_1") == Locked("resp_2")


def port_of(url: str) -> int:
    return int(url.partition("127.0.0.1:")[2].partition("/")[0])


def through(relay: Relay, url: str) -> str:
    return url.replace(f":{port_of(url)}/", f":{relay.port}/")


async def test_who_stood_still_itself_does_not_blame_the_server() -> None:
    """U27: what was under way is done when the process goes on."""
    url = await fresh_url()
    async with opened(url, replace(HASTY, seconds=0.1)) as engine:
        await engine.save("t", record())
        saving = asyncio.ensure_future(engine.save("t", kept := record()))  # noqa: TID251 - held here
        await asyncio.sleep(0)
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            pass
        assert await saving is Outcome.DONE
        assert await engine.get("t", kept.id) == kept


# ── it ends ──


async def test_a_restart_costs_nobody_anything(server: Server) -> None:
    """U18: what may be repeated is, once."""
    async with opened(server.url()) as engine:
        kept = [record() for _ in range(10)]
        await asyncio.gather(*(engine.save("t", each) for each in kept))
        await server.restart()
        found = await asyncio.gather(*(engine.get("t", each.id) for each in kept))
        assert found == kept
        work = run()
        await engine.begin("t", work, "w")
        await server.restart()
        assert await engine.finish("t", replace(work, status=Status.COMPLETED), "w") is Outcome.DONE


async def test_a_restart_under_load_loses_nothing_that_was_acknowledged(server: Server) -> None:
    """U18, U07."""
    kept: list[Record] = []
    failures = 0
    going = True
    done = asyncio.Semaphore(0)

    async def save_on() -> None:
        nonlocal failures
        while going:
            each = record()
            try:
                await engine.save("t", each)
                kept.append(each)
                done.release()
            except StoreDown:
                failures += 1
                await asyncio.sleep(0.01)

    async with opened(server.url()) as engine:
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(save_on())
            for _ in range(50):
                await done.acquire()
            await server.restart()
            done = asyncio.Semaphore(0)
            for _ in range(50):
                await done.acquire()
            going = False
        assert failures <= PATIENT.connections
        found = await asyncio.gather(*(engine.get("t", each.id) for each in kept))
        assert found == kept


async def test_a_server_that_is_away_is_told_in_time(server: Server) -> None:
    """U52: and that it was not asked at all, so that what was let in meanwhile is charged when it is back."""
    async with opened(server.url(), HASTY) as engine:
        await engine.save("t", kept := record())
        await asyncio.to_thread(server.stop)
        with pytest.raises(NotAsked, match=r"Connect call failed|refused"):
            await engine.get("t", kept.id)
        server.start()
        await server.ready()
        assert await engine.get("t", kept.id) == kept


# ── nobody hears what became of it ──


def sends(text: bytes) -> Any:
    return lambda data: text in data


async def test_a_write_of_which_nothing_is_heard_is_repeated_once() -> None:
    """U07, U18: done twice, it is there once."""
    url = await fresh_url()
    async with relaying(port_of(url)) as relay, opened(through(relay, url)) as engine:
        await engine.save("t", record())
        for ended in (b"insert into turns", b"commit"):
            kept = record() if ended.startswith(b"insert") else run()
            relay.cuts_at = sends(kept.id.encode() if ended.startswith(b"insert") else ended)
            if kept.is_final:
                assert await engine.save("t", kept) is Outcome.DONE
            else:
                await engine.begin("t", kept, "w")
            assert relay.cuts_at is None
            assert await engine.get("t", kept.id) == kept
        assert await engine.runs("w") == [("t", kept.id)]


async def test_what_would_answer_otherwise_is_not_repeated() -> None:
    url = await fresh_url()
    async with relaying(port_of(url)) as relay, opened(through(relay, url)) as engine:
        await engine.save("t", kept := record())
        relay.cuts_at = sends(b"commit")
        with pytest.raises(StoreInDoubt):
            await engine.delete("t", kept.id)
        async with asyncio.timeout(PROMPTLY):  # the server reads the commit whenever it comes to it
            while await engine.get("t", kept.id) is not None:
                pass
        await engine.save("t", kept := record())
        relay.cuts_at = sends(b"begin")
        assert await engine.delete("t", kept.id) is True, "it cannot have been done"


async def test_what_may_have_been_done_is_in_doubt_though_nobody_answers_afterwards() -> None:
    """Else it would stay where a client was told that it is not kept."""
    url = await fresh_url()
    async with relaying(port_of(url)) as relay, opened(through(relay, url), HASTY) as engine:
        await engine.save("t", record())

        def sent(data: bytes) -> bool:
            if found := kept.id.encode() in data:
                relay.target = free_port()
            return found

        kept = record()
        relay.cuts_at = sent
        with pytest.raises(StoreInDoubt):
            await engine.save("t", kept)
        with pytest.raises(NotAsked):
            await engine.save("t", record())


# ── it is another one ──


async def test_a_standby_is_left(server: Server) -> None:
    """U20: what it did not write is not called kept, and every connection is made anew."""
    async with opened(server.url()) as engine:
        await many(lambda: engine.save("t", record()))
        await server.execute("alter system set default_transaction_read_only = on")
        await server.execute("select pg_reload_conf()")
        while not isinstance(told := (await many(lambda: engine.save("t", record()), 1))[0], StoreDown):
            pass
        assert "read-only transaction" in str(told)
        for _ in range(3):
            with pytest.raises(StoreDown):
                await engine.begin("t", run(), "w")
        assert await engine.runs("w") == []
        connection = await asyncpg.connect(server.url())
        await connection.execute("set default_transaction_read_only = off")
        await connection.execute("alter system reset default_transaction_read_only")
        await connection.execute("select pg_reload_conf()")
        await connection.close()
        while (await many(lambda: engine.save("t", record()), 1)) != [Outcome.DONE]:
            pass


async def test_tables_that_vanish_are_not_made_anew_silently() -> None:
    """U11."""
    url = await fresh_url()
    async with opened(url) as engine:
        await engine.save("t", record())
        await execute(url, "drop table turns")
        with pytest.raises(StoreReplaced, match="are not there any more"):
            await engine.save("t", record())


# ── it does not let everybody in ──


@pytest.mark.parametrize(
    ("user", "database", "words"),
    [
        ("locked:wrong", "postgres", "refuses the user: password authentication failed"),
        ("nobody:x", "postgres", "refuses the user: role .nobody. does not exist"),
        ("postgres", "nothing", "the database nothing of PostgreSQL at .* is not there"),
        ("guest", "postgres", "does not allow what is needed: permission denied for schema public"),
    ],
)
async def test_what_no_waiting_helps_ends_the_start(
    server: Server, user: str, database: str, words: str
) -> None:
    """U63, U62."""
    await server.execute("create role locked login password 'right'; create role guest login")
    with pytest.raises(StoreUnreadable, match=words) as told:
        await postgres_at(server.url(database, user)).open()
    assert "wrong" not in str(told.value)


async def test_who_may_not_make_tables_may_use_those_that_are_there(server: Server) -> None:
    async with opened(server.url()):
        pass
    await server.execute(
        "create role guest login; grant select, insert, update, delete on all tables in schema public to guest"
    )
    async with opened(server.url(user="guest")) as engine:
        await engine.save("t", kept := record(foreign=("mine",)))
        assert await engine.get("t", kept.id) == kept


async def test_a_full_server_is_down_and_not_unreadable(server: Server) -> None:
    await server.restart("max_connections=5", "superuser_reserved_connections=0", "reserved_connections=0")
    held = [await asyncpg.connect(server.url()) for _ in range(5)]
    engine = postgres_at(server.url(), limits=HASTY)
    with pytest.raises(StoreDown, match="too many clients"):
        await engine.open()
    for each in held:
        await each.close()
    await engine.open()
    await engine.close()


# ── it is asked much ──


async def test_a_cancelled_caller_poisons_nothing() -> None:
    """U23: what was begun is done."""
    async with opened(await fresh_url(), Limits(connections=1)) as engine:
        kept = [record() for _ in range(20)]
        callers = [asyncio.ensure_future(engine.save("t", each)) for each in kept]  # noqa: TID251 - held here
        await asyncio.sleep(0)
        for caller in callers:
            caller.cancel()
        await engine.save("t", record())
        assert [await engine.get("t", each.id) for each in kept] == kept


async def test_many_saves_go_together_and_one_bad_one_harms_no_other() -> None:
    async with opened(await fresh_url(), Limits(connections=1)) as engine:
        good = [record() for _ in range(20)]
        bad = replace(record(), created=1 << 70)
        outcomes = await asyncio.gather(
            *(engine.save("t", each) for each in [*good[:10], bad, *good[10:]]), return_exceptions=True
        )
        assert [outcome is Outcome.DONE for outcome in outcomes] == [True] * 10 + [False] + [True] * 10
        assert [await engine.get("t", each.id) for each in good] == good
        assert await engine.get("t", bad.id) is None


async def test_few_who_ask_get_few_connections() -> None:
    url = await fresh_url()
    async with relaying(port_of(url)) as relay, opened(through(relay, url), Limits(connections=4)) as engine:
        for _ in range(20):
            await engine.save("t", record())
        assert relay.made == 2, "one of them made the tables"
