"""Whoever owns work loses its database, alone or with all others, and comes back (T57, T84)."""

import asyncio
import signal
import time
from itertools import count
from typing import Any

import pytest

from tests.support.background import FollowingClients, Talker, begun, ended, got, id_of, until
from tests.support.own_database import WAIT_SECONDS, server, workers
from tests.support.postgres import Server
from tests.support.proxies import Proxy, events
from tests.support.sockets import PROMPTLY, ScriptedBackend, reply, text
from tests.support.state import asked, items, made, refused
from tests.support.tcp_relay import relaying
from tests.support.worker_processes import SETTLED_SECONDS, Workers, settled

__all__ = ["server", "workers"]

AWAY_SECONDS = 3.0
"""Longer than a lease."""
ENDED_SECONDS = 16.0
"""Five for the ends of its runs, some for what is under way in the store."""


async def read_again(proxy: Proxy, id: str) -> dict[str, Any]:
    """When its database is there."""
    async with asyncio.timeout(SETTLED_SECONDS):
        for _ in count():
            status, found = await got(proxy, id)
            if status != 503:
                break
            await asyncio.sleep(0.05)
    assert status == 200, found
    return dict(found)


async def test_u28_who_was_cut_off_hears_that_its_work_was_ended(
    server: Server, backend: ScriptedBackend, workers: Workers
) -> None:
    """Its backend went on to the end meanwhile: what it said is dropped."""
    talker = Talker()
    backend.plays(talker)
    other = await workers.start()
    async with relaying(server.port) as relay:
        workers.set(store={"url": server.url(port=relay.port), "wait_seconds": WAIT_SECONDS})
        owner = await workers.start()
        async with FollowingClients(owner) as watchers:
            watching = await watchers.begin()
            await talker.says(text("Hel"))
            id = id_of(await watching.until("response.output_text.delta"))
            relay.halt()
            done = await settled(other, id)
            assert (done["status"], done["error"]["code"]) == ("failed", "server_error")  # type: ignore[index]
            await talker.says(text("lo"))
            await talker.ends()
            await asyncio.wait_for(talker.left.wait(), PROMPTLY)
            relay.go_on()
            seen = await watching.all(SETTLED_SECONDS)
        assert seen[-2].data["response"] == done
        assert await got(owner, id) == await got(other, id) == (200, done)


@pytest.mark.parametrize("frozen", [True, False])
async def test_u29_nobody_who_lives_is_ended_because_the_database_was_away(
    server: Server, backend: ScriptedBackend, workers: Workers, frozen: bool
) -> None:
    """All leases are over by then. Nor is the conversation free."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await asyncio.gather(workers.start(), workers.start())
    talk = await made(owner)
    run = await begun(owner, conversation=talk)
    await talker.says(text("Hel"))
    await until(other, run["id"], "in_progress")
    if frozen:
        server.freeze()
    else:
        await asyncio.to_thread(server.stop)
    await asyncio.sleep(AWAY_SECONDS)
    if frozen:
        server.thaw()
    else:
        server.start()
        await server.ready()
    for _ in range(10):
        assert (await read_again(other, run["id"]))["status"] == "in_progress"
        assert (await refused(other, conversation=talk))[1] in ("conversation_locked", "storage_error")
        await asyncio.sleep(0.05)
    await talker.says(text("lo"))
    await talker.ends()
    done = await ended(other, run["id"])
    assert (done["status"], done["output"][0]["content"][0]["text"]) == ("completed", "Hello")
    assert len(await items(other, talk)) == 2


async def test_u35_a_process_ends_although_its_database_stands_still(
    server: Server, backend: ScriptedBackend, workers: Workers
) -> None:
    talker = Talker()
    backend.plays(talker)
    owner, other = await asyncio.gather(workers.start(), workers.start())
    run = await begun(owner)
    await asyncio.wait_for(talker.asked.wait(), PROMPTLY)
    await until(owner, run["id"], "in_progress")
    server.freeze()
    began = time.monotonic()
    owner.process.send_signal(signal.SIGTERM)
    status, _ = await owner.ended()
    assert (status, time.monotonic() - began < ENDED_SECONDS) == (0, True)
    server.thaw()
    await read_again(other, run["id"])
    done = await settled(other, run["id"])
    assert (done["status"], done["error"]["code"]) == ("failed", "server_error")  # type: ignore[index]


async def test_u47_a_turn_whose_database_stands_still_at_its_end_adds_nothing(
    server: Server, backend: ScriptedBackend, workers: Workers
) -> None:
    """Its client hears that, and the conversation goes on without it."""
    talker = Talker()
    backend.plays(talker)
    one, other = await asyncio.gather(workers.start(), workers.start())
    talk = await made(other)
    async with one.post({"model": "m", "input": "Lost", "stream": True, "conversation": talk}) as response:
        await talker.says(text("Hel"))
        await response.content.readuntil(b"response.output_text.delta")
        server.freeze()
        await talker.ends()
        last = events(await response.read())[-2]
    assert last.name == "response.failed"
    assert last.data["response"]["error"]["code"] == "storage_error"
    assert last.data["response"]["store"] is False
    server.thaw()
    backend.answers(reply(text("Fine")))
    async with asyncio.timeout(SETTLED_SECONDS):
        for _ in count():
            if (await other.refused(conversation=talk, input="Hi"))[0] == 200:
                break
            await asyncio.sleep(0.05)
    assert [item["content"][0]["text"] for item in await items(other, talk)] == ["Hi", "Fine"]
    assert (await asked(one, conversation=talk))["store"] is True
