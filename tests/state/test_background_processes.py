"""Work in the background with two processes on one store (T55-T57, T95), which are stopped, killed and frozen."""

import asyncio
import signal

import pytest

from tests.support.background import (
    FollowingClients,
    Talker,
    begun,
    cancelled,
    ended,
    got,
    id_of,
    numbers,
    until,
)
from tests.support.proxies import names
from tests.support.sockets import PROMPTLY, ScriptedBackend, delta, text
from tests.support.worker_processes import Workers, settled
from tests.support.worker_processes import workers_of_each_engine as workers

__all__ = ["workers"]


async def test_t95_another_process_polls_resumes_and_cancels(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """U30, U39, U43."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await workers.start(), await workers.start()
    async with FollowingClients(owner) as here, FollowingClients(other) as there:
        near = await here.begin()
        await talker.says(delta(reasoning_content="Hm."), text("Hel"))
        id = id_of(await near.until("response.output_text.delta"))
        far, late = await there.resume(id), await there.resume(id, starting_after=3)
        async with asyncio.timeout(1):
            await far.until("response.output_text.delta")
        (thought,) = (await got(other, id))[1]["output"]
        assert thought["type"] == "reasoning"
        await talker.says(text("lo"))
        async with asyncio.timeout(1):
            await far.until_text("lo")
        status, found = await cancelled(other, id)
        assert (status, found["status"]) == (200, "cancelled")
        async with asyncio.timeout(1):
            await talker.left.wait()
        seen = await near.all()
        assert await far.all() == seen
        assert await late.all() == seen[4:]
    assert seen[-2].data["response"] == found
    assert [item["status"] for item in found["output"] if "status" in item] == ["incomplete"]
    assert found["output"][-1]["content"][0]["text"] == "Hello"
    assert await got(owner, id) == await got(other, id) == (200, found)


async def test_t95_a_run_that_is_only_polled_is_cancelled_from_elsewhere_too(
    backend: ScriptedBackend, workers: Workers
) -> None:
    talker = Talker()
    backend.plays(talker)
    owner, other = await workers.start(), await workers.start()
    run = await begun(owner)
    await until(other, run["id"], "in_progress")
    assert (await cancelled(other, run["id"]))[1]["status"] == "cancelled"
    async with asyncio.timeout(1):
        await talker.left.wait()


async def test_t55_who_stops_says_so_and_it_stays_said(backend: ScriptedBackend, workers: Workers) -> None:
    """U34: to those who follow, and to those who ask after a restart."""
    talker = Talker()
    backend.plays(talker)
    owner = await workers.start()
    async with FollowingClients(owner) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        owner.process.terminate()
        seen = await watching.all()
    assert names(seen)[-3:] == ["error", "response.failed", "done"]
    assert seen[-2].data["response"]["error"]["code"] == "server_shutting_down"
    status, events = await owner.ended()
    assert status == 0
    assert "task_failed" not in events
    again = await workers.start()
    assert await got(again, id) == (200, seen[-2].data["response"])
    async with FollowingClients(again) as watchers:
        assert await (await watchers.resume(id)).all() == seen


@pytest.mark.parametrize("followed", [True, False])
async def test_t56_a_killed_process_leaves_nothing_that_never_ends(
    backend: ScriptedBackend, workers: Workers, followed: bool
) -> None:
    """U26, U41: one `response.failed`, whoever looks first. U32: what is cancelled before the lease is over, is."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await workers.start(), await workers.start()
    async with FollowingClients(owner) as here, FollowingClients(other) as there:
        near = await here.begin()
        await talker.says(text("Hel"))
        id = id_of(await near.until("response.output_text.delta"))
        polled, unwanted = await begun(owner), await begun(owner)
        if followed:
            far = await there.resume(id)
            await far.until("response.output_text.delta")
        owner.process.kill()
        status, gone = await cancelled(other, unwanted["id"])
        assert (status, gone["status"]) == (200, "cancelled")
        done = await settled(other, id)
        assert (await settled(other, polled["id"]))["status"] == "failed"
        assert (await cancelled(other, polled["id"]))[0] == 400
        assert (await got(other, polled["id"]))[1]["status"] == "failed"
        assert await got(other, unwanted["id"]) == (200, gone)
        seen = await (far if followed else await there.resume(id)).all()
        assert await (await there.resume(id)).all() == seen
    assert (done["status"], done["error"]["code"]) == ("failed", "server_error")  # type: ignore[index]
    assert "Nothing was resumed" in done["error"]["message"]  # type: ignore[index]
    assert names(seen)[-2:] == ["response.failed", "done"]
    assert seen[-2].data["response"] == done
    assert numbers(seen) == list(range(len(seen) - 1))


async def test_t57_who_wakes_after_its_lease_changes_nothing(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """U28, U66: and leaves the backend. A whole answer that came meanwhile is not kept either."""
    talker, quick = Talker(), Talker()
    backend.plays(quick, talker)
    owner, other = await workers.start(), await workers.start()
    polled = await begun(owner)
    await asyncio.wait_for(quick.asked.wait(), PROMPTLY)
    await until(owner, polled["id"], "in_progress")
    async with FollowingClients(owner) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        owner.process.send_signal(signal.SIGSTOP)
        done, polled = await settled(other, id), await settled(other, polled["id"])
        assert done["status"] == polled["status"] == "failed"
        await talker.says(text("lo"))
        await quick.says(text("Hello"))
        await quick.ends()
        owner.process.send_signal(signal.SIGCONT)
        async with asyncio.timeout(2):
            await talker.left.wait()
        seen = await watching.all()
    assert seen[-2].data["response"] == done
    assert await got(owner, id) == await got(other, id) == (200, done)
    assert (await ended(owner, id))["status"] == "failed"
    owner.process.terminate()
    assert (await owner.ended())[0] == 0
    assert await got(other, polled["id"]) == (200, polled)


async def test_t95_any_worker_of_one_proxy_does(backend: ScriptedBackend, workers: Workers) -> None:
    """T55: and all of them end in order."""
    talker = Talker()
    backend.plays(talker)
    proxy = await workers.start("--workers", "2")
    async with FollowingClients(proxy) as watchers:
        first = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await first.until("response.output_text.delta"))
        others = [await watchers.resume(id) for _ in range(8)]
        for each in others:
            await each.until("response.output_text.delta")
        await talker.says(text("lo"))
        await talker.ends()
        seen = await first.all()
        assert [await each.all() for each in others] == [seen] * 8
    assert seen[-2].data["response"] == (await ended(proxy, id))
    proxy.process.terminate()
    status, events = await proxy.ended()
    assert (status, "task_failed" in events) == (0, False)
