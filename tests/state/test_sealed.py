"""Processes with keys, with other keys and with none on one store, as clients see them (U61)."""

import sqlite3
from contextlib import closing
from typing import Any

import asyncpg
from redis.asyncio import Redis

from proxy.shell.stores.sealing.seals import MARK
from tests.support.background import FollowingClients, Talker, begun, deleted, ended, got, id_of
from tests.support.proxies import Proxy, final
from tests.support.redis_live import prefix_of_its_own
from tests.support.redis_server import shared_url
from tests.support.sockets import ScriptedBackend, reply, text
from tests.support.state import asked, items, made, refused, sent
from tests.support.worker_processes import Worker, Workers, settled, workers, workers_of_each_engine

__all__ = ["workers", "workers_of_each_engine"]

OLD, NEW = "0123456789abcdef-last-year", "fedcba9876543210-this-year"
SECRET = "the-word-that-nobody-else-may-read"
UNREADABLE = 'responses_proxy_store_unreadable_total{{reason="{}",what="{}",worker="0"}}'


async def with_keys(workers: Workers, *keys: str, options: tuple[str, ...] = ()) -> Worker:
    workers.set(store={"url": workers.store, "keys": list(keys)})
    return await workers.start(*options)


async def change(workers: Workers, statement: str) -> None:
    if workers.store.startswith("postgresql"):
        connection = await asyncpg.connect(workers.store)
        await connection.execute(statement)
        return await connection.close()
    with closing(sqlite3.connect(workers.state / "state.db", isolation_level=None)) as file:
        file.execute(statement)


async def metrics(proxy: Proxy) -> str:
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        return await response.text()


async def refused_500(proxy: Proxy, path: str, method: str = "GET", **body: Any) -> None:
    wanted = {"json": body} if body else {}
    async with proxy.session.request(method, f"{proxy.url}/v1/{path}", **wanted) as response:
        told = await response.json()
        assert (response.status, told["error"]["code"]) == (500, "storage_error"), (path, told)
        assert "key" in told["error"]["message"]
        assert SECRET not in str(told)


async def test_a_key_is_added_rotated_and_lost(
    backend: ScriptedBackend, workers_of_each_engine: Workers
) -> None:
    """A conversation and a chain that were begun without a key, and go on from process to process."""
    proxy = await with_keys(workers_of_each_engine)
    conversation = await made(proxy, metadata={"topic": SECRET})
    first = await asked(proxy, input=SECRET)
    await asked(proxy, conversation=conversation, input=SECRET)
    for number, keys in enumerate(((OLD,), (NEW, OLD)), 2):
        proxy = await with_keys(workers_of_each_engine, *keys)
        first = await asked(proxy, previous_response_id=first["id"], input=f"{SECRET} {number}")
        assert len(sent(backend)) == 2 * number - 1
        assert (await got(proxy, first["id"])) == (200, first)
        await asked(proxy, conversation=conversation, input=SECRET)
        assert len(await items(proxy, conversation)) == 2 * number
    proxy = await with_keys(workers_of_each_engine, NEW)
    assert await got(proxy, first["id"]) == (200, first)
    assert (await refused(proxy, previous_response_id=first["id"]))[:2] == (500, "storage_error")
    assert (await refused(proxy, conversation=conversation))[:2] == (500, "storage_error")
    await refused_500(proxy, f"responses/{first['id']}/input_items")
    await refused_500(proxy, f"conversations/{conversation}/items")
    own = await asked(proxy)
    assert await got(proxy, own["id"]) == (200, own)
    again = await asked(proxy, previous_response_id=own["id"])
    assert again["store"] is True
    assert UNREADABLE.format("no_key", "response") in await metrics(proxy)
    assert '"store":"up"' in await ready(proxy)


async def ready(proxy: Proxy) -> str:
    async with proxy.session.get(f"{proxy.url}/readyz") as response:
        assert response.status == 200
        return await response.text()


async def test_a_process_without_the_key_beside_one_that_has_it(
    backend: ScriptedBackend, workers_of_each_engine: Workers
) -> None:
    """U61, U64: in the middle of a rollout, or by a mistake. What it cannot read it refuses, and harms nothing."""
    has = await with_keys(workers_of_each_engine, OLD, options=("--workers", "2"))
    lacks = await with_keys(workers_of_each_engine)
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(has) as watchers:
        watching = await watchers.begin(input=SECRET)
        await talker.says(text("Hel"))
        id = id_of(await watching.until_text("Hel") or await watching.until("response.created"))
        await refused_500(lacks, f"responses/{id}")
        await refused_500(lacks, f"responses/{id}?stream=true")
        await refused_500(lacks, f"responses/{id}/cancel", "POST")
        assert (await deleted(lacks, id))[0] in (400, 409)
        resumed = await watchers.resume(id)
        await talker.says(text("lo"))
        await talker.ends()
        assert final(await watching.all())["status"] == "completed"
        assert final(await resumed.all())["status"] == "completed"
    backend.answers(reply(text("Hi")))
    plain = await asked(lacks, input="Hello")
    assert await got(has, plain["id"]) == (200, plain)
    assert (await asked(has, previous_response_id=plain["id"]))["store"] is True
    assert (await deleted(lacks, id))[0] == 200
    assert (await got(has, id))[0] == 404


async def test_what_a_dead_process_began_ends_for_who_can_read_it(
    backend: ScriptedBackend, workers_of_each_engine: Workers
) -> None:
    """U26, U61: the sweeper of a process without the key goes on, and the conversation is free."""
    has = await with_keys(workers_of_each_engine, OLD)
    conversation = await made(has)
    backend.plays(Talker())
    begun_there = await begun(has, conversation=conversation, input=SECRET)
    lacks = await with_keys(workers_of_each_engine)
    has.process.kill()
    async with lacks.session.get(f"{lacks.url}/v1/conversations/{conversation}") as response:
        assert response.status == 500
    plain = await begun(lacks, input="Hello")
    lacks.process.kill()
    other = await with_keys(workers_of_each_engine)
    assert (await settled(other, plain["id"]))["status"] == "failed"
    await refused_500(other, f"responses/{begun_there['id']}")
    again = await with_keys(workers_of_each_engine, OLD)
    assert (await settled(again, begun_there["id"]))["status"] == "failed"
    backend.answers(reply(text("Hi")))
    assert (await asked(again, conversation=conversation))["status"] == "completed"


async def test_bytes_that_were_tampered_with_cost_one_response(
    backend: ScriptedBackend, workers_of_each_engine: Workers
) -> None:
    proxy = await with_keys(workers_of_each_engine, OLD)
    one, two = await asked(proxy, input=SECRET), await asked(proxy, input=SECRET)
    child = await asked(proxy, previous_response_id=one["id"])
    await change(workers_of_each_engine, f"update turns set output = input where id = '{one['id']}'")
    await refused_500(proxy, f"responses/{one['id']}")
    await refused_500(proxy, f"responses/{child['id']}/input_items")
    assert (await refused(proxy, previous_response_id=child["id"]))[:2] == (500, "storage_error")
    assert await got(proxy, two["id"]) == (200, two)
    assert await got(proxy, child["id"]) == (200, child)
    for _ in range(20):
        await refused_500(proxy, f"responses/{one['id']}")
    page = await metrics(proxy)
    assert f"{UNREADABLE.format('damaged', 'response')} 23.0" in page
    assert (await deleted(proxy, one["id"]))[0] == 200
    assert (await got(proxy, one["id"]))[0] == 404
    proxy.process.terminate()
    _, lines = await proxy.ended()
    assert lines.count("row_unreadable") == 1


async def test_no_word_lies_there_while_a_proxy_runs_and_afterwards(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """In no file: those of SQLite, their logs, and whatever else is there."""
    proxy = await with_keys(workers, OLD, options=("--workers", "2"))
    backend.answers(reply(text(SECRET)))
    conversation = await made(proxy, metadata={"topic": SECRET}, items=[message(SECRET)])
    await asked(proxy, conversation=conversation, input=SECRET, instructions=SECRET, metadata={"a": SECRET})
    work = await begun(proxy, input=SECRET, stream=False)
    await ended(proxy, work["id"])
    assert SECRET.encode() not in lies_in(workers)
    proxy.process.terminate()
    await proxy.ended()
    assert SECRET.encode() not in lies_in(workers)
    plain = await with_keys(workers)
    await asked(plain, input=SECRET)
    assert SECRET.encode() in lies_in(workers), "else nothing was proved"


async def test_what_may_be_lost_is_sealed_in_its_own_server_too(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """Another process with the key follows."""
    live, keys = {"url": shared_url(), "prefix": prefix_of_its_own()}, {"keys": [OLD]}
    store = {"url": workers.store}
    workers.set(live=live, store=store | keys)
    owner, other = await workers.start(), await workers.start()
    backend.answers(reply(text(SECRET)))
    async with FollowingClients(owner) as here, FollowingClients(other) as there:
        id = id_of(await (await here.begin(input="Hi")).all())
        assert final(await (await there.resume(id)).all())["output"][0]["content"][0]["text"] == SECRET
    client = Redis.from_url(live["url"])
    rows = [
        row async for key in client.scan_iter(f"{live['prefix']}:*:rows") for row in await client.xrange(key)
    ]
    assert rows
    assert all(fields[b"d"].startswith(MARK) for _, fields in rows)
    await client.aclose()


def lies_in(workers: Workers) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(workers.state.rglob("*")) if path.is_file())


def message(said: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": said}
