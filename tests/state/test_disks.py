"""A disk that is full, files that are damaged, gone or put back, while a proxy runs (T87-T90, T98, U10, U11, U62)."""

import asyncio
import os
import resource
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.background import Talker, begun, ended, got
from tests.support.proxies import Proxy
from tests.support.sockets import PROMPTLY, ScriptedBackend, reply, text
from tests.support.state import asked, items, made, refused
from tests.support.two_tenants import TENANTS, shown_by
from tests.support.worker_processes import SETTLED_SECONDS, Worker, Workers, workers

__all__ = ["workers"]

FULL_AT = 1 << 20
UP = 'responses_proxy_store_up{{worker="0"}} {}.0'
NO_LIMIT = resource.RLIM_INFINITY


def may_write(worker: Worker, most: int) -> None:
    """As much a file may have: what a full disk does, and can be lifted."""
    resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, (most, NO_LIMIT))


async def until_kept(proxy: Proxy) -> dict[str, Any]:
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            answer = await asked(proxy)
            if answer["store"]:
                return answer
            await asyncio.sleep(0.1)


async def metrics(proxy: Proxy) -> str:
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        return await response.text()


async def test_t87_a_full_disk_costs_only_what_cannot_be_written(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """U10: reads go on, nothing begins in the background, the process lives, says so, and needs no restart."""
    proxy = await workers.start()
    first = await asked(proxy)
    may_write(proxy, FULL_AT)
    large = "x" * 100_000
    told = [await asked(proxy, input=large) for _ in range(30)]
    assert [answer["status"] for answer in told] == ["completed"] * 30
    lost = [answer for answer in told if not answer["store"]]
    assert lost
    assert "could not be stored" in lost[0]["_proxy"]["warnings"][0]
    for answer in told:
        assert (await got(proxy, answer["id"]))[0] == (200 if answer["store"] else 404)
    assert await got(proxy, first["id"]) == (200, first)
    again = await asked(proxy, previous_response_id=first["id"], input=large)
    assert (again["status"], again["store"]) == ("completed", False)
    assert (await refused(proxy, background=True, input=large))[:2] == (503, "storage_error")
    async with proxy.session.post(f"{proxy.url}/v1/conversations") as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
        assert "/" not in (await response.json())["error"]["message"], "no path is told"
    page = await metrics(proxy)
    assert 'responses_proxy_not_stored_total{reason="store_down",worker="0"}' in page
    assert UP.format(0) in page
    may_write(proxy, NO_LIMIT)
    later = await until_kept(proxy)
    assert await got(proxy, later["id"]) == (200, later)
    assert UP.format(1) in await metrics(proxy)
    assert (await ended(proxy, (await begun(proxy))["id"]))["status"] == "completed"


async def test_t98_a_store_that_comes_back_needs_no_restart(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """U11, T83: its file was moved away and is put back. Until then nothing is begun anew in its place."""
    proxy = await workers.start()
    first = await asked(proxy)
    path = workers.state / "state.db"
    os.rename(path, moved := path.with_name("moved"))
    for named in ({"previous_response_id": first["id"]}, {"background": True}, {"conversation": "conv_1"}):
        assert (await refused(proxy, **named))[:2] == (503, "storage_error")
    status, refusal = await got(proxy, first["id"])
    assert (status, refusal["error"]["code"]) == (503, "storage_error")
    assert (await asked(proxy))["store"] is (await asked(proxy, store=False))["store"] is False
    assert not path.exists()
    os.rename(moved, path)
    assert (await until_kept(proxy))["store"] is True
    assert await got(proxy, first["id"]) == (200, first)
    assert (await asked(proxy, previous_response_id=first["id"]))["status"] == "completed"
    proxy.process.terminate()
    status, told = await proxy.ended()
    assert (status, "store_down" in told) == (0, True)


async def test_u11_a_file_that_is_damaged_while_it_is_used(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """T83: what needs it is refused, nothing is begun anew, and the log says once what to do."""
    proxy = await workers.start()
    kept = [await asked(proxy, input="x" * 20_000) for _ in range(20)]
    path = workers.state / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    with path.open("r+b") as file:
        file.write(b"nothing that SQLite knows" * 20_000)
    statuses = [(await got(proxy, each["id"]))[0] for each in kept]
    assert 500 <= min(statuses[3:]) <= max(statuses) <= 503
    answer = await asked(proxy)
    assert (answer["status"], answer["store"]) == ("completed", False)
    assert (await asked(proxy, store=False))["status"] == "completed"
    assert (await refused(proxy, background=True))[:2] == (503, "storage_error")
    assert path.read_bytes().startswith(b"nothing that SQLite knows")
    proxy.process.terminate()
    await proxy.ended()
    [line] = [line for line in proxy.lines if line["event"] == "store_down"]
    assert "put the file back" in line["reason"]


def change(folder: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(folder / "state.db", isolation_level=None)) as connection:
        assert connection.execute(statement, values).rowcount == 1


CHANGES = (
    "update turns set output = x'5b5d' where id = ?",
    "update turns set answer = x'7b' where id = ?",
    "update turns set form = 7 where id = ?",
    "delete from turns where id = ?",
)


@pytest.mark.parametrize("statement", CHANGES)
async def test_t88_one_damaged_record_is_its_own_trouble(
    backend: ScriptedBackend, workers: Workers, statement: str
) -> None:
    """U62: and of what has it as an ancestor, which never gets a shorter history. No words of the store are told."""
    proxy = await workers.start()
    parent, other = await asked(proxy, input="Secret"), await asked(proxy)
    child = await asked(proxy, previous_response_id=parent["id"])
    change(workers.state, statement, parent["id"])
    calls, deleted = len(backend.received), statement.startswith("delete")
    for id in (parent["id"],) if not deleted else ():
        status, refusal = await got(proxy, id)
        assert (status, refusal["error"]["code"]) == (500, "storage_error")
    for id in (child["id"],) if deleted else (parent["id"], child["id"]):
        async with proxy.post({"model": "m", "input": "On", "previous_response_id": id}) as response:
            error = (await response.json())["error"]
            assert (response.status, error["code"]) == (500, "storage_error")
            assert response.headers["x-should-retry"] == "false"
            assert not {"turns", "sqlite", "state.db", "Secret", "zlib"} & set(error["message"].split())
    assert len(backend.received) == calls
    assert (await got(proxy, child["id"]))[0] == 200
    assert (await asked(proxy, previous_response_id=other["id"]))["status"] == "completed"
    assert (await asked(proxy))["store"] is True


async def test_t90_the_oldest_goes_where_the_store_is_full(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """But no conversation, and no work under way."""
    workers.set(store={"url": f"sqlite:{workers.state}", "max_gib": 0.002})
    proxy = await workers.start()
    talker = Talker()
    backend.plays(talker)
    run = await begun(proxy)
    await asyncio.wait_for(talker.asked.wait(), PROMPTLY)
    backend.answers(reply(text("Hello")))
    talk = await made(proxy)
    kept = await asked(proxy, conversation=talk, input="Words")
    answers = [await asked(proxy, input="x" * 200_000) for _ in range(16)]
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            statuses = [(await got(proxy, answer["id"]))[0] for answer in answers]
            if statuses[0] == 404 and sum(status == 200 for status in statuses) < 11:
                break
            await asyncio.sleep(0.1)
    assert statuses == sorted(statuses, reverse=True), "the oldest went first"
    assert statuses[-1] == 200
    gone = answers[0]["id"]
    assert (await refused(proxy, previous_response_id=gone))[1] == "previous_response_not_found"
    assert len(await items(proxy, talk)) == 2
    assert (await asked(proxy, conversation=talk))["status"] == "completed"
    assert kept["conversation"] == {"id": talk}
    assert (await got(proxy, run["id"]))[1]["status"] == "in_progress"
    await talker.says(text("Hello"))
    await talker.ends()
    assert (await ended(proxy, run["id"]))["status"] == "completed"
    assert "responses_proxy_swept_total" in await metrics(proxy)


async def test_t90_who_stores_much_shortens_nobody_elses_time(
    backend: ScriptedBackend, workers: Workers
) -> None:
    workers.set(store={"url": f"sqlite:{workers.state}", "max_gib": 0.002}, tenants=TENANTS)
    proxy = await workers.start()
    ann, bob = shown_by("ann"), shown_by("bob")

    async def stored(who: dict[str, str], size: int) -> str:
        async with proxy.post({"model": "m", "input": "x" * size}, **who) as response:
            answer = await response.json()
            assert answer["store"], answer
            return str(answer["id"])

    async def is_there(who: dict[str, str], id: str) -> bool:
        async with proxy.session.get(f"{proxy.url}/v1/responses/{id}", headers=who) as response:
            assert response.status in (200, 404)
            return response.status == 200

    little = [await stored(bob, 20_000) for _ in range(5)]
    much = [await stored(ann, 200_000) for _ in range(20)]
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            there = [await is_there(ann, id) for id in much]
            if sum(there) < 11:
                break
            await asyncio.sleep(0.1)
    assert any(there)
    assert all([await is_there(bob, id) for id in little]), "though these are older than all of them"
