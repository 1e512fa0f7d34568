"""A process stands still, with the store's lock or without (T86, U01, U09, U27, U29, U35), and others go on."""

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.background import FollowingClients, Talker, begun, ended, got, id_of, until
from tests.support.proxies import Proxy
from tests.support.sockets import PROMPTLY, ScriptedBackend, reply, text
from tests.support.state import asked, refused
from tests.support.stores import hold_lock
from tests.support.worker_processes import SETTLED_SECONDS, Workers, settled, workers

__all__ = ["workers"]

WAIT_SECONDS = 0.5
ENDED_SECONDS = 16.0
"""Five for the ends of its runs, some for what is under way in the store."""
HEARD_LATE = 2.5
"""On a machine with much to do."""
ASKED_AT_ONCE = 24
"""The kernel deals connections to the workers by chance: so many do not all go to the same one."""


async def timed(proxy: Proxy, **body: Any) -> tuple[float, dict[str, Any]]:
    began = time.monotonic()
    answer = await asked(proxy, **body)
    return time.monotonic() - began, answer


async def test_t86_a_slow_store_costs_a_limited_time(backend: ScriptedBackend, workers: Workers) -> None:
    """U01, U09: writes are given up, reads go on, a stateless request does not notice; then all is as it was."""
    workers.set(store={"url": f"sqlite:{workers.state}", "wait_seconds": WAIT_SECONDS})
    proxy = await workers.start()
    first = await asked(proxy)
    holder = await hold_lock(workers.state / "state.db")
    try:
        slow, stateless = await asyncio.gather(timed(proxy), timed(proxy, store=False))
        assert (slow[1]["status"], slow[1]["store"]) == ("completed", False)
        assert "could not be stored" in slow[1]["_proxy"]["warnings"][0]
        assert WAIT_SECONDS <= slow[0] < WAIT_SECONDS + HEARD_LATE
        assert stateless[0] < WAIT_SECONDS
        assert await got(proxy, first["id"]) == (200, first)
        assert (await asked(proxy, previous_response_id=first["id"], store=False))["status"] == "completed"
        for _ in range(4):
            status, code, _ = await refused(proxy, background=True)
            assert (status, code) == (503, "storage_error")
        took, later = await timed(proxy)
        assert (later["store"], took < WAIT_SECONDS) == (False, True), "it is known to be down"
    finally:
        holder.kill()
        await holder.wait()
    async with asyncio.timeout(SETTLED_SECONDS):
        while not (found := await asked(proxy))["store"]:
            await got(proxy, first["id"])
    for lost in (slow[1], later):
        assert (await got(proxy, lost["id"]))[0] == 404
    assert (await got(proxy, found["id"]))[0] == 200


async def test_u09_a_worker_that_stands_still_with_the_lock_is_killed(
    backend: ScriptedBackend, workers: Workers, tmp_path: Path
) -> None:
    """By the supervisor. Meanwhile the other one answers in time, and nobody is told what is not so."""
    workers.set(
        server={"port": 0, "stuck_seconds": 3}, store={"url": f"sqlite:{workers.state}", "wait_seconds": 0.5}
    )
    once = tmp_path / "once"
    proxy = await workers.start("--workers", "2", STRUCK_AT="save:within:SIGSTOP", STRUCK_ONCE=str(once))
    kept = await asked(proxy)
    once.touch()
    told: list[dict[str, Any]] = []

    async def ask() -> None:
        """Until it is not kept: the other worker may have answered before this one stood still."""
        while not once_is_over(told):
            try:
                seconds, answer = await timed(proxy)
            except aiohttp.ClientError as cut:
                told.append({"cut": str(cut)})
                return
            assert seconds < WAIT_SECONDS + HEARD_LATE
            told.append(answer)
            if not answer["store"]:
                return

    async with asyncio.timeout(SETTLED_SECONDS):
        while not once_is_over(told):
            await asyncio.gather(*(ask() for _ in range(ASKED_AT_ONCE)))
    assert any(answer.get("store") is False for answer in told), "the other one went on"
    for answer in told:
        if "id" in answer:
            assert (await got(proxy, answer["id"]))[0] == (200 if answer["store"] else 404)
    assert await got(proxy, kept["id"]) == (200, kept)


def once_is_over(told: list[dict[str, Any]]) -> bool:
    """Somebody was cut off by the kill, and later ones are kept again."""
    cuts = [number for number, answer in enumerate(told) if "cut" in answer]
    return bool(cuts) and sum(answer.get("store") is True for answer in told[cuts[-1] :]) >= 6


async def test_u27_u29_nobody_who_lives_is_buried(backend: ScriptedBackend, workers: Workers) -> None:
    """A process that stood still for less than its lease goes on; and when nobody could beat for longer than a lease,
    because the store was away, no run is ended."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await asyncio.gather(workers.start(), workers.start())
    async with FollowingClients(owner) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        owner.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(0.7)
        owner.process.send_signal(signal.SIGCONT)
        holder = await hold_lock(workers.state / "state.db")
        await asyncio.sleep(3)
        holder.kill()
        await holder.wait()
        for _ in range(10):
            assert (await got(other, id))[1]["status"] == "in_progress"
            await asyncio.sleep(0.05)
        await talker.says(text("lo"))
        await talker.ends()
        found = await watching.all()
    done = await ended(other, id)
    assert (done["status"], done["output"][0]["content"][0]["text"]) == ("completed", "Hello")
    assert found[-2].data["response"] == done


async def test_u35_a_process_ends_although_the_store_does_not_answer(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """Its runs are ended by others, when their lease is over."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await asyncio.gather(workers.start(), workers.start())
    run = await begun(owner)
    await asyncio.wait_for(talker.asked.wait(), PROMPTLY)
    await until(owner, run["id"], "in_progress")
    holder = await hold_lock(workers.state / "state.db")
    began = time.monotonic()
    owner.process.terminate()
    status, _ = await owner.ended()
    assert status == 0
    assert time.monotonic() - began < ENDED_SECONDS
    holder.kill()
    await holder.wait()
    backend.answers(reply(text("Fine")))
    async with asyncio.timeout(SETTLED_SECONDS):
        done = await settled(other, run["id"])
    assert done["error"]["code"] in ("server_error", "server_shutting_down")
