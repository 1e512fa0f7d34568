"""Two proxies on one database that stands still, ends, or takes nothing: what is told is so, and all heals."""

import asyncio
import signal
import time
from itertools import count
from typing import Any

import pytest

from proxy.shell.stores.guard import FAILURES
from tests.support.background import FollowingClients, Talker, begun, cancelled, deleted, ended, got, id_of
from tests.support.own_database import WAIT_SECONDS, server, workers
from tests.support.postgres import Server
from tests.support.proxies import Proxy, final
from tests.support.sockets import ScriptedBackend, text
from tests.support.state import asked, items, made, refused
from tests.support.worker_processes import SETTLED_SECONDS, Workers

__all__ = ["server", "workers"]

RUNS = "select 1 from runs"
HEARD_LATE = 5.0
"""By which a busy machine is late."""


async def timed(proxy: Proxy, **body: Any) -> tuple[float, dict[str, Any]]:
    began = time.monotonic()
    answer = await asked(proxy, **body)
    return time.monotonic() - began, answer


async def quickest(proxy: Proxy, **body: Any) -> float:
    """Of three: who waits for the store waits each time, and a busy machine is seldom late three times."""
    return min([(await timed(proxy, **body))[0] for _ in range(3)])


async def kept_again(proxy: Proxy) -> dict[str, Any]:
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            if (found := await asked(proxy))["store"]:
                return found
            await asyncio.sleep(0.1)


def keeps_to_itself(answer: Any) -> None:
    """U62: no host, no user, no SQL."""
    assert not [
        word for word in ("secret", "127.0.0.1", "postgres", "turns", "select") if word in str(answer).lower()
    ]


async def test_a_frozen_database_costs_a_limited_time(
    server: Server, backend: ScriptedBackend, workers: Workers
) -> None:
    """T86, U01, U02, U19, U25: whatever it is asked, to write or to read."""
    one, other = await asyncio.gather(workers.start(), workers.start())
    first = await asked(one)
    server.freeze()
    slow, stateless = await asyncio.gather(timed(one), quickest(one, store=False))
    assert (slow[1]["status"], slow[1]["store"]) == ("completed", False)
    assert slow[0] < WAIT_SECONDS + HEARD_LATE
    assert stateless < WAIT_SECONDS
    calls = len(backend.received)
    for body in ({"background": True}, {"previous_response_id": first["id"]}, {"background": True}):
        status, error = await one.refused(**body)
        assert (status, error["code"]) == (503, "storage_error")
        keeps_to_itself(error)
    assert len(backend.received) == calls
    lost = [slow[1]["id"]] + [(await asked(one))["id"] for _ in range(3)]
    assert await quickest(one) < WAIT_SECONDS, "it is known to be down"
    assert (await asked(other))["store"] is False
    server.thaw()
    found, _ = await asyncio.gather(kept_again(one), kept_again(other))
    assert await got(other, found["id"]) == (200, found)
    assert await got(other, first["id"]) == (200, first)
    async with asyncio.timeout(SETTLED_SECONDS):
        for _ in count():
            if {(await got(other, id))[0] for id in lost} == {404} and not await workers.rows(RUNS):
                break
            await asyncio.sleep(0.1)
    assert await workers.rows("select 1 from turns where status <> 'completed'") == []


async def test_a_restart_under_load_is_not_noticed_by_clients(server: Server, workers: Workers) -> None:
    """T98, U18, U03, U07: what was called kept is found on the other one, as it was answered."""
    both = await asyncio.gather(workers.start(), workers.start())
    going = True

    async def ask(number: int) -> list[dict[str, Any]]:
        told = []
        while going:
            told.append(
                await asked(both[number % 2]) if number % 3 else final(await both[number % 2].stream())
            )
        return told

    askers = [asyncio.ensure_future(ask(number)) for number in range(6)]  # noqa: TID251 - held here
    for _ in range(3):
        await kept_again(both[0])
        await server.restart()
    await kept_again(both[0])
    await kept_again(both[1])
    going = False
    told = [answer for answers in await asyncio.gather(*askers) for answer in answers]
    assert {answer["status"] for answer in told} == {"completed"}
    assert sum(answer["store"] for answer in told) > len(told) / 2
    for answer in told:
        status, found = await got(both[0], answer["id"])
        assert (status, found) == (200, answer) if answer["store"] else status == 404


async def test_a_standby_makes_nobody_believe_that_it_keeps_something(
    server: Server, workers: Workers
) -> None:
    """U20, U62: after a failover to a server that only reads, until it may write."""
    one, other = await asyncio.gather(workers.start(), workers.start())
    first = await asked(one)
    await server.restart("default_transaction_read_only=on")
    for _ in range(FAILURES):  # then it is told
        answer = await asked(one)
        assert (answer["status"], answer["store"]) == ("completed", False)
        keeps_to_itself(answer["_proxy"])
    status, error = await one.refused(background=True)
    assert (status, error["code"]) == (503, "storage_error")
    keeps_to_itself(error)
    assert await got(other, first["id"]) == (200, first), "what can be read is read"
    continued = await asked(other, previous_response_id=first["id"])
    assert (continued["status"], continued["store"]) == ("completed", False)
    await server.restart()
    found = await kept_again(one)
    assert await got(other, found["id"]) == (200, found)
    assert (await got(other, answer["id"]))[0] == 404
    one.process.terminate()
    _, told = await one.process.communicate()
    assert b"read-only transaction" in told, "whoever runs it is told"
    assert b"secret" not in told


@pytest.mark.parametrize("crashes", [False, True])
async def test_logs_that_are_lost_end_nothing(
    server: Server, backend: ScriptedBackend, workers: Workers, crashes: bool
) -> None:
    """U24, U42: a crash of the server empties what is unlogged."""
    talker = Talker()
    backend.plays(talker)
    one, other = await asyncio.gather(workers.start(), workers.start())
    async with FollowingClients(one) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        if crashes:
            await server.execute("checkpoint")  # it does not wait for its disk here
            await asyncio.to_thread(server.stop, signal.SIGQUIT)
            server.start()
            await server.ready()
            assert await workers.rows("select 1 from logs") == []
        else:
            await server.execute("truncate logs, log_rows, memos, meters, queues, tickets, holders")
        await talker.says(text("lo"))
        await talker.ends()
        await watching.until("response.completed")
    done = await ended(other, id)
    assert done["output"][0]["content"][0]["text"] == "Hello"
    async with other.session.get(f"{other.url}/v1/responses/{id}?stream=true") as response:
        assert response.status == 400, await response.text()
        keeps_to_itself(await response.json())


async def test_a_history_is_one_on_all_nodes(backend: ScriptedBackend, workers: Workers) -> None:
    """U48, U50."""
    one, other = await asyncio.gather(workers.start(), workers.start())
    parent = await asked(one)
    child = await asked(other, previous_response_id=parent["id"])
    assert (await deleted(one, parent["id"]))[0] == 200
    calls = len(backend.received)
    await asked(one, previous_response_id=child["id"])
    assert len(backend.received[calls].json["messages"]) == 5
    unknown = await other.refused(previous_response_id=parent["id"])
    assert unknown[1]["code"] == "previous_response_not_found"


async def test_work_on_one_node_is_everybodys(backend: ScriptedBackend, workers: Workers) -> None:
    """U30, U33, U45."""
    one, other = await asyncio.gather(workers.start(), workers.start())
    talker = Talker()
    backend.plays(talker)
    talk = await made(one)
    running = await begun(one, conversation=talk)
    async with asyncio.timeout(SETTLED_SECONDS):
        await talker.asked.wait()
    assert (await refused(other, conversation=talk))[1] == "conversation_locked"
    assert (await deleted(other, running["id"]))[0] == 400
    assert (await cancelled(other, running["id"]))[1]["status"] == "cancelled"
    async with asyncio.timeout(1 + HEARD_LATE):
        await talker.left.wait()
    assert (await deleted(other, running["id"]))[0] == 200
    assert (await got(one, running["id"]))[0] == 404
    assert await items(one, talk) == await items(other, talk)
