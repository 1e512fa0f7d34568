"""A worker is killed at every step of what it does for a response (T56, T79, U06, U26, U38, U46), another one looks."""

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from tests.support.background import FINAL, FollowingClients, Talker, begun, cancelled, got, id_of, numbers
from tests.support.proxies import Event, Proxy, events, names
from tests.support.sockets import PROMPTLY, ScriptedBackend, reply, text
from tests.support.state import asked, items, made, refused
from tests.support.worker_processes import SETTLED_SECONDS, Worker, Workers, settled
from tests.support.worker_processes import workers_of_each_engine as workers

__all__ = ["workers"]

MOMENTS = ("before", "within", "after")
STEPS = ("begin", "start", "append", "finish", "end")
"""Of the store, for a response in the background: each is one transaction of its owner."""
TERMINAL = ("response.completed", "response.failed", "response.incomplete")


async def struck(workers: Workers, folder: Path, step: str, moment: str, kind: str = "SIGKILL") -> Worker:
    once = folder / f"{step} {moment}"
    once.touch()
    return await workers.start(STRUCK_AT=f"{step}:{moment}:{kind}", STRUCK_ONCE=str(once))


async def kept(workers: Workers) -> list[tuple[str, str]]:
    """All that the store has, whether a client knows of it or not."""
    return [
        (id, status)
        for id, status in await workers.rows("select id, status from turns where length(answer) > 0")
    ]


async def told_by(response: aiohttp.ClientResponse) -> list[Event]:
    """What came before the end, however that came."""
    data = b""
    with suppress(aiohttp.ClientError):
        async for piece in response.content.iter_any():
            data += piece
    return events(data[: data.rfind(b"\n\n") + 2])


@pytest.mark.parametrize("step", STEPS)
async def test_t56_a_run_has_one_end_wherever_its_worker_was_killed(
    backend: ScriptedBackend, workers: Workers, tmp_path: Path, step: str
) -> None:
    """U26, U38: its backend was asked once at most; whoever knows its id finds it, and its events up to one end."""
    survivor, *victims = await asyncio.gather(
        workers.start(), *(struck(workers, tmp_path, step, moment) for moment in MOMENTS)
    )
    await asyncio.gather(
        *(killed(survivor, victim, step, moment) for moment, victim in zip(MOMENTS, victims, strict=True))
    )
    asked_for = [request.json["messages"][-1]["content"] for request in backend.received]
    assert len(asked_for) == len(set(asked_for))
    assert len(await all_ended(workers)) == (1 if step == "begin" else 3)


async def all_ended(workers: Workers) -> list[tuple[str, str]]:
    """Also those at which nobody looks, as nobody knows of them."""
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            found = await kept(workers)
            if all(status in FINAL for _, status in found):
                return found
            await asyncio.sleep(0.1)


async def killed(survivor: Worker, victim: Worker, step: str, moment: str) -> None:
    seen: list[Event] = []
    body = {"model": "m", "input": f"{step} {moment}", "background": True, "stream": True}
    with suppress(aiohttp.ClientError):
        async with victim.post(body) as response:
            seen = await told_by(response)
    await victim.process.wait()
    assert victim.process.returncode == -signal.SIGKILL
    if seen:
        done = await has_one_end(survivor, seen)
        assert done == ("completed" if step == "end" or (step, moment) == ("finish", "after") else "failed")


async def has_one_end(survivor: Worker, seen: list[Event]) -> str:
    id = id_of(seen)
    done = await settled(survivor, id)
    async with FollowingClients(survivor) as watchers:
        told = [await (await watchers.resume(id)).all() for _ in range(2)]
    assert told[0] == told[1]
    assert told[0][: len(seen)] == seen
    assert numbers(told[0]) == list(range(len(told[0]) - 1))
    said = "failed" if done["status"] == "cancelled" else done["status"]
    assert [name for name in names(told[0]) if name in TERMINAL] == [f"response.{said}"]
    assert told[0][-2].data["response"] == done
    return str(done["status"])


@pytest.mark.parametrize(("step", "moment"), [("shut", "after"), ("cancel", "before"), ("cancel", "after")])
async def test_t51_a_run_ends_once_though_who_cancels_it_is_killed(
    backend: ScriptedBackend, workers: Workers, tmp_path: Path, step: str, moment: str
) -> None:
    """T92, U38: its own worker lives, and leaves the backend; whoever follows has the same end."""
    talker = Talker()
    backend.plays(talker)
    owner, victim = await asyncio.gather(workers.start(), struck(workers, tmp_path, step, moment))
    async with FollowingClients(owner) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        with pytest.raises(aiohttp.ClientError):
            await cancelled(victim, id)
        await victim.process.wait()
        await talker.says(text("lo"))
        async with asyncio.timeout(SETTLED_SECONDS):
            await talker.left.wait()
        seen = await watching.all()
    assert await has_one_end(owner, seen) == (
        "cancelled" if moment == "after" and step == "cancel" else "failed"
    )


async def test_t56_what_was_only_queued_ends_too(backend: ScriptedBackend, workers: Workers) -> None:
    """And its backend is never asked. U46: the lock of its conversation is free then, and nothing of it is there."""
    workers.set(backend={"max_concurrent": 1, "wait_seconds": 30})
    talker = Talker()
    backend.plays(talker)
    owner, other = await asyncio.gather(workers.start(), workers.start())
    await begun(owner)
    await asyncio.wait_for(talker.asked.wait(), PROMPTLY)
    talk = await made(other, items=[{"role": "user", "content": "Before"}])
    queued = await begun(owner, input="Never", conversation=talk)
    assert (await got(other, queued["id"]))[1]["status"] == "queued"
    assert (await refused(other, conversation=talk))[1] == "conversation_locked"
    owner.process.kill()
    done = await settled(other, queued["id"])
    assert (done["status"], done["error"]["code"]) == ("failed", "server_error")  # type: ignore[index]
    assert len(backend.received) == 1
    assert len(await items(other, talk)) == 1
    backend.answers(reply(text("Fine")))
    assert (await asked(other, conversation=talk))["status"] == "completed"
    assert len(await items(other, talk)) == 3


async def test_t79_the_lock_of_a_killed_turn_is_free_after_its_lease(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """U46: in the foreground. Before that it is held, after it nothing of the turn is there."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await asyncio.gather(workers.start(), workers.start())
    talk = await made(other)
    async with owner.post({"model": "m", "input": "Never", "stream": True, "conversation": talk}) as response:
        await talker.says(text("Hel"))
        await response.content.readuntil(b"response.output_text.delta")
        owner.process.kill()
        await owner.process.wait()
    backend.answers(reply(text("Fine")))
    assert (await refused(other, conversation=talk))[1] == "conversation_locked"
    await until_free(other, talk)
    assert [item["content"][0]["text"] for item in await items(other, talk)] == ["Hi", "Fine"]


async def until_free(proxy: Proxy, conversation: str) -> None:
    """Asks again, as clients do."""
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            async with proxy.post({"model": "m", "input": "Hi", "conversation": conversation}) as response:
                if response.status == 200:
                    return
                assert (await response.json())["error"]["code"] == "conversation_locked"
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_u06_what_was_committed_is_there_whatever_its_client_saw(
    backend: ScriptedBackend, workers: Workers, tmp_path: Path, moment: str
) -> None:
    """A turn in the foreground: its client saw a cut, and never an end that is not kept."""
    survivor, victim = await asyncio.gather(workers.start(), struck(workers, tmp_path, "save", moment))
    talker = Talker()
    backend.plays(talker)
    async with victim.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await talker.says(text("Hello"))
        await response.content.readuntil(b"response.output_text.delta")
        await talker.ends()
        seen = await told_by(response)
    backend.answers(reply(text("Fine")))
    assert "response.completed" not in names(seen)
    found = await kept(workers)
    assert [status for _, status in found] == (["completed"] if moment == "after" else [])
    for id, _ in found:
        assert (await got(survivor, id))[1]["output"][0]["content"][0]["text"] == "Hello"
        assert (await asked(survivor, previous_response_id=id))["status"] == "completed"
