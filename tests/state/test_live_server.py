"""Processes with records in one directory, and what may be lost in a server of Redis, which is stopped and emptied."""

import asyncio
import re
import sys
import time
from collections.abc import Iterator

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
from tests.support.postgres import fresh_url
from tests.support.proxies import Proxy, names
from tests.support.redis_live import prefix_of_its_own
from tests.support.redis_server import RedisProcess
from tests.support.sockets import ScriptedBackend, delta, reply, text
from tests.support.two_tenants import TENANTS, shown_by
from tests.support.worker_processes import ROOT, Workers, workers

__all__ = ["workers"]

PROMPTLY = 10.0
PATIENCE_SECONDS = 30.0
"""Longer than a run waits for the last of its events to be kept."""


@pytest.fixture(scope="module")
def one_process() -> Iterator[RedisProcess]:
    process = RedisProcess()
    yield process
    process.close()


@pytest.fixture
def process(one_process: RedisProcess, workers: Workers) -> Iterator[RedisProcess]:
    workers.set(live={"url": one_process.url, "prefix": prefix_of_its_own()})
    yield one_process
    one_process.thaw()
    if not one_process.is_running:
        one_process.start()


@pytest.mark.parametrize("records", ["sqlite", "postgresql"])
async def test_u39_another_process_shows_the_same_bytes_and_cancels(
    backend: ScriptedBackend, workers: Workers, process: RedisProcess, records: str
) -> None:
    """U30, U43: and nothing of the log lies beside the records."""
    where = f"sqlite:{workers.state}" if records == "sqlite" else await fresh_url()
    workers.set(live={"url": process.url, "prefix": prefix_of_its_own()}, store={"url": where})
    talker = Talker()
    backend.plays(talker)
    owner, other = await workers.start(), await workers.start()
    async with FollowingClients(owner) as here, FollowingClients(other) as there:
        near = await here.begin()
        await talker.says(delta(reasoning_content="Hm."), text("Hel"))
        id = id_of(await near.until("response.output_text.delta"))
        far, late = await there.resume(id), await there.resume(id, starting_after=3)
        await far.until("response.output_text.delta")
        await talker.says(text("lo"))
        await far.until_text("lo")
        status, found = await cancelled(other, id)
        assert (status, found["status"]) == (200, "cancelled")
        seen = await near.all()
        assert await far.all() == seen
        assert await late.all() == seen[4:]
    assert seen[-2].data["response"] == found
    assert numbers(seen) == list(range(len(seen) - 1))
    if records == "sqlite":
        assert sorted(path.name for path in workers.state.glob("*.db")) == ["state.db"]
    with process.client() as client:
        assert any(id.encode() in key for key in client.scan_iter("*"))


@pytest.mark.parametrize("loss", ["emptied", "restarted"])
async def test_u24_the_loss_of_all_of_it_harms_nothing_but_resumption(
    backend: ScriptedBackend, workers: Workers, process: RedisProcess, loss: str
) -> None:
    """The run goes on, nobody is buried, and elsewhere it is said that its events are gone."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await workers.start(), await workers.start()
    async with FollowingClients(owner) as here, FollowingClients(other) as there:
        near = await here.begin()
        await talker.says(text("Hel"))
        id = id_of(await near.until("response.output_text.delta"))
        far = await there.resume(id)
        await far.until("response.output_text.delta")
        if loss == "emptied":
            with process.client() as client:
                client.flushall()
        else:
            process.restart()
        await talker.says(text("lo"))
        await near.until_text("lo")
        await talker.ends()
        seen = await near.all()
        assert names(seen)[-2:] == ["response.completed", "done"]
        assert numbers(seen) == list(range(len(seen) - 1))
        done = await ended(other, id)
        assert done == seen[-2].data["response"]
        assert done["output"][0]["content"][0]["text"] == "Hello"
        for proxy in (owner, other):
            status, refused = await got(proxy, id, stream="true")
            assert (status, refused["error"]["param"]) == (400, "stream")
            assert "its events have expired" in refused["error"]["message"]
        again = await begun(other)
        talker.asked.clear()
    assert (await until(other, again["id"], "in_progress", "queued"))["id"] == again["id"]


async def until_live(proxy: Proxy, number: int) -> None:
    """As the operator sees it."""
    async with asyncio.timeout(PROMPTLY):
        for _ in range(100):
            async with proxy.session.get(f"{proxy.url}/metrics") as response:
                if f'responses_proxy_live_up{{worker="0"}} {number}.0' in await response.text():
                    return
            await asyncio.sleep(0.1)


async def test_while_it_is_away_all_else_works(
    backend: ScriptedBackend, workers: Workers, process: RedisProcess
) -> None:
    """U24: a process starts, stores and reads; work in the background ends; it says that its events are away."""
    process.kill()
    proxy = await workers.start()
    backend.answers(reply(text("Hello")))
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        kept = await response.json()
    assert kept["store"] is True
    async with proxy.post({"model": "m", "input": "Go on", "previous_response_id": kept["id"]}) as response:
        assert (await response.json())["status"] == "completed"
    run = await begun(proxy)
    assert (await ended(proxy, run["id"]))["status"] == "completed"
    await until_live(proxy, 0)
    process.start()
    await until_live(proxy, 1)
    async with FollowingClients(proxy) as watchers, asyncio.timeout(PROMPTLY):
        watching = await watchers.begin()
        seen = await watching.all()
        assert names(seen)[-2:] == ["response.completed", "done"]
    proxy.process.terminate()
    status, told = await proxy.ended()
    assert status == 0
    assert [event for event in told if event.startswith("live_")] == ["live_chosen", "live_down", "live_up"]
    assert "store_down" not in told


async def test_u24_who_follows_a_run_at_its_own_process_misses_nothing_of_it(
    backend: ScriptedBackend, workers: Workers, process: RedisProcess
) -> None:
    """It waits some seconds for a server that is gone. When that is back, nobody takes a part for the whole."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await workers.start(), await workers.start()
    async with FollowingClients(owner) as here:
        near = await here.begin()
        await talker.says(text("Hel"))
        id = id_of(await near.until("response.output_text.delta"))
        process.freeze()
        await talker.says(text("lo"))
        await talker.ends()
        seen = await near.all(PATIENCE_SECONDS)
        assert names(seen)[-2:] == ["response.completed", "done"]
        assert numbers(seen) == list(range(len(seen) - 1))
        assert seen[-2].data["response"]["output"][0]["content"][0]["text"] == "Hello"
        assert (await got(other, id))[1] == seen[-2].data["response"]
        for is_back in (False, True):
            if is_back:
                process.thaw()
            status, refused = await got(other, id, stream="true")
            assert (status, refused["error"]["param"]) == (400, "stream")
            assert "can no longer be streamed" in refused["error"]["message"]


async def test_a_server_that_stands_still_holds_up_nobody(
    backend: ScriptedBackend, workers: Workers, process: RedisProcess
) -> None:
    """And when it goes on, everybody has seen the same."""
    talker = Talker()
    backend.plays(talker)
    owner, other = await workers.start(), await workers.start()
    async with FollowingClients(owner) as here, FollowingClients(other) as there:
        near = await here.begin()
        await talker.says(text("Hel"))
        id = id_of(await near.until("response.output_text.delta"))
        far = await there.resume(id)
        await far.until("response.output_text.delta")
        process.freeze()
        await talker.says(text("lo"))
        assert (await got(other, id))[0] == 200
        status, refused = await got(other, id, stream="true")
        assert (status, refused["error"]["code"]) == (503, "storage_error")
        process.thaw()
        await talker.ends()
        seen = await near.all()
        assert names(seen)[-2:] == ["response.completed", "done"]
        assert await far.all() == seen


async def let_in(number: int, *proxies: Proxy) -> int:
    """How many of so many requests, which come to these in turn."""
    headers = shown_by("ann")

    async def ask(proxy: Proxy) -> bool:
        body = {"model": "m", "input": "Hi", "store": False}
        async with proxy.session.post(f"{proxy.url}/v1/responses", json=body, headers=headers) as response:
            await response.read()
            return response.status == 200

    return sum(await asyncio.gather(*(ask(proxies[n % len(proxies)]) for n in range(number))))


async def test_u51_proxies_that_keep_nothing_share_limits_in_it(
    workers: Workers, process: RedisProcess
) -> None:
    """U24: and when all is lost, limits start full."""
    tenants = {"ann": TENANTS["ann"] | {"requests_per_minute": 60}}
    live = {"url": process.url, "prefix": prefix_of_its_own()}
    workers.set(live=live, tenants=tenants, store={"url": "off"})
    proxies = [await workers.start(), await workers.start()]
    began = time.monotonic()
    admitted = await let_in(120, *proxies)
    assert 60 <= admitted <= 61 + time.monotonic() - began
    with process.client() as client:
        assert [key.partition(b":")[2] for key in client.scan_iter(f"{live['prefix']}:t:*")] == [
            b"t:ann:meters:{=ann}"
        ]
        client.flushall()
    for _ in range(100):  # it had to wait, as far as was remembered
        if await let_in(1, proxies[0]):
            break
        await asyncio.sleep(0.05)
    assert await let_in(40, proxies[1]) == 40


@pytest.mark.parametrize("store", ["off", "sqlite"])
async def test_u52_while_it_is_away_nobody_takes_itself_for_the_only_node(
    workers: Workers, process: RedisProcess, store: str
) -> None:
    """Where no database tells how many there are: each keeps nothing, or files of its own."""
    tenants = {"ann": TENANTS["ann"] | {"requests_per_minute": 60}}
    live = {"url": process.url, "prefix": prefix_of_its_own()}
    proxies = []
    for node in ("one", "two"):
        where = store if store == "off" else f"sqlite:{workers.state / node}"
        workers.set(live=live, tenants=tenants, store={"url": where})
        proxies.append(await workers.start())
    began = time.monotonic()
    assert await let_in(2, *proxies) == 2
    process.kill()
    assert 24 <= await let_in(120, *proxies) <= 60 + time.monotonic() - began


@pytest.mark.parametrize(
    ("login", "words"),
    [("wrong", "lets nobody in like this: invalid username-password pair"), ("", "Authentication required")],
)
async def test_u63_a_wrong_password_ends_the_start(workers: Workers, login: str, words: str) -> None:
    """U62: in words without the password."""
    process = RedisProcess("--requirepass", "sesame")
    try:
        url = process.url.replace("//", f"//:{login}@") if login else process.url
        starting = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "proxy", "serve", "--port", "0", "--live", url, "--store",
            f"sqlite:{workers.state}", cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(60):
            _, said = await starting.communicate()
        assert starting.returncode == 1
        assert re.search(words, said.decode()), said
        assert "wrong" not in said.decode()
    finally:
        process.close()
