"""Limits of all processes together that use one store: workers of one proxy, and several proxies (P08)."""

import asyncio
import fcntl
import sqlite3
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from operator import lt
from typing import Any, TypeVar

import aiohttp
import orjson
import pytest

from tests.support.hasty_proxy import TELLING_SECONDS
from tests.support.postgres import Server, fresh_url
from tests.support.processes import free_port
from tests.support.proxies import Proxy
from tests.support.samples import samples
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, finish, text
from tests.support.two_tenants import TENANTS, shown_by
from tests.support.worker_processes import Workers, workers

__all__ = ["workers"]

TENANT = {"ann": TENANTS["ann"] | {"requests_per_minute": 60, "tool_calls_per_minute": 600}}
READER = shown_by("bob")
ASKED = {"model": "m", "input": "Hi", "store": False}
PATIENCE_SECONDS = 15
Found = TypeVar("Found")
LEFT = "x-ratelimit-remaining-requests"


METRICS = {"keys": TENANTS["bob"]["keys"]}


@pytest.fixture
def limited(workers: Workers) -> Workers:
    workers.set(tenants=TENANT, metrics=METRICS)
    return workers


async def ask(proxy: Proxy) -> tuple[int, Any]:
    """On a connection of its own, so that any worker may get it."""
    async with (
        aiohttp.ClientSession(headers={"Connection": "close"}) as session,
        session.post(f"{proxy.url}/v1/responses", json=ASKED, headers=shown_by("ann")) as response,
    ):
        await response.read()
        return response.status, response.headers


async def stored(proxy: Proxy) -> None:
    """By a tenant without limits."""
    async with proxy.session.post(
        f"{proxy.url}/v1/responses", json=ASKED | {"store": True}, headers=READER
    ) as response:
        assert response.status == 200


async def until(look: Callable[[], Awaitable[Found]], enough: Callable[[Found], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        for _ in count():
            if enough(await look()):
                return
            await asyncio.sleep(0.05)


async def burst(many: int, *proxies: Proxy) -> Counter[int]:
    """The answers to so many at once, by their statuses."""
    room = asyncio.Semaphore(20)

    async def one(number: int) -> int:
        async with room:
            return (await ask(proxies[number % len(proxies)]))[0]

    return Counter(await asyncio.gather(*map(one, range(many))))


async def counted(proxy: Proxy, name: str) -> float:
    async with proxy.session.get(f"{proxy.url}/metrics", headers=READER) as response:
        found = samples(await response.read())
    return sum(value for (each, _), value in found.items() if each == name)


@contextmanager
def held(workers: Workers) -> Iterator[None]:
    """The lock of what may vanish, as a frozen process would hold it."""
    with (workers.state / "live.db.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def empty(workers: Workers) -> None:
    with held(workers), closing(sqlite3.connect(workers.state / "live.db", isolation_level=None)) as live:
        for (table,) in live.execute("select name from sqlite_master where type = 'table'").fetchall():
            if table != "about":
                live.execute(f"delete from {table}")


async def test_u51_four_workers_and_another_proxy_let_in_sixty_a_minute(limited: Workers) -> None:
    """And whoever answers says how the tenant stands with all of them."""
    first, second = await limited.start("--workers", "4"), await limited.start()
    began = time.monotonic()
    assert (await ask(first))[1][LEFT] == "59"
    assert (await ask(second))[1][LEFT] == "58"
    answers = await burst(200, first, second)
    seconds = time.monotonic() - began
    assert 58 <= answers[200] <= 59 + seconds
    assert answers[200] + answers[429] == 200
    for proxy in (first, second):
        status, headers = await ask(proxy)
        if status == 429:
            assert (headers[LEFT], float(headers["Retry-After"]) <= 1) == ("0", True)
    assert await counted(first, "limits_by_share_total") == 0


async def test_u51_three_nodes_on_one_database_let_in_sixty_a_minute(limited: Workers) -> None:
    """P10: and what a tenant has used is the sum of what they tell."""
    limited.set(tenants=TENANT, metrics=METRICS, store={"url": await fresh_url()})
    nodes = [await limited.start("--workers", "2"), await limited.start(), await limited.start()]
    began = time.monotonic()
    answers = await burst(150, *nodes)
    assert 60 <= answers[200] <= 61 + time.monotonic() - began
    assert {await counted(node, "limits_by_share_total") for node in nodes} == {0}
    assert sum([await counted(node, "tenant_requests_total") for node in nodes]) == 150


async def test_u51_workers_share_limits_where_nothing_is_kept(limited: Workers) -> None:
    limited.set(tenants=TENANT, store={"url": "off"})
    proxy = await limited.start("--workers", "4")
    began = time.monotonic()
    answers = await burst(120, proxy)
    assert 60 <= answers[200] <= 61 + time.monotonic() - began
    proxy.process.terminate()
    status, events = await proxy.ended()
    assert (status, {"task_failed", "store_down"} & set(events)) == (0, set())


async def test_u24_when_all_is_lost_limits_start_full(limited: Workers) -> None:
    """While they run, and before they start; nobody is hurt."""
    proxy = await limited.start()
    assert (await burst(80, proxy))[429] > 0
    empty(limited)
    await until(
        lambda: ask(proxy), lambda answer: answer[0] == 200
    )  # which had to wait, as far as was remembered
    assert (await burst(50, proxy)) == {200: 50}
    proxy.process.terminate()
    status, events = await proxy.ended()
    assert (status, {"task_failed", "store_down"} & set(events)) == (0, set())
    for file in limited.state.glob("live.db*"):
        file.unlink()
    again = await limited.start()
    assert (await burst(60, again)) == {200: 60}


async def test_u52_without_the_store_each_worker_has_its_part(limited: Workers) -> None:
    """U53: one line of the log, however long; and afterwards all goes on as before."""
    limited.set(tenants=TENANT, metrics=METRICS, store={"wait_seconds": 0.2})
    proxy = await limited.start("--workers", "4")
    with held(limited):
        began = time.monotonic()
        answers = await burst(300, proxy)
        seconds = time.monotonic() - began
        assert 15 <= answers[200] <= 60 + seconds + 4
        assert answers[200] + answers[429] == 300
        assert await counted(proxy, "limits_by_share_total") > 0
    await until(lambda: ask(proxy), lambda _: True)
    for _ in range(20):
        await ask(proxy)
    await until(lambda: counted(proxy, "store_up"), lambda up: up == 4)
    by_share = await counted(proxy, "limits_by_share_total")
    await burst(40, proxy)
    assert await counted(proxy, "limits_by_share_total") == by_share
    proxy.process.terminate()
    _, log = await proxy.process.communicate()
    lines = [orjson.loads(line) for line in log.splitlines()]
    downs = [line["worker"] for line in lines if line["event"] == "store_down"]
    assert downs
    assert len(downs) == len(set(downs))


async def test_u53_a_store_that_comes_and_goes_tells_it_once_and_charges_once(limited: Workers) -> None:
    limited.set(tenants=TENANT, metrics=METRICS, store={"wait_seconds": 0.2})
    proxies = [await limited.start(), await limited.start()]
    began = time.monotonic()
    answers: Counter[int] = Counter()
    for _ in range(6):
        with held(limited):
            answers += await burst(30, *proxies)
        answers += await burst(10, *proxies)
    seconds = time.monotonic() - began
    assert 50 <= answers[200] <= 60 + seconds + 16
    for proxy in proxies:
        proxy.process.terminate()
        _, events = await proxy.ended()
        assert events.count("store_down") <= 1


async def test_u52_a_database_that_stands_still_opens_no_limit(limited: Workers) -> None:
    """U53: and afterwards it is asked again."""
    server = Server()
    await asyncio.to_thread(server.make)
    server.start()
    try:
        await server.ready()
        limited.set(tenants=TENANT, metrics=METRICS, store={"url": server.url(), "wait_seconds": 0.3})
        nodes = [await limited.start(), await limited.start()]
        assert (await burst(10, *nodes)) == {200: 10}
        for node in nodes:
            await until(partial(beats, node), partial(lt, await beats(node)))
        server.freeze()
        began = time.monotonic()
        answers = await burst(150, *nodes)
        assert 24 <= answers[200] <= 60 + time.monotonic() - began
        assert await counted(nodes[0], "limits_by_share_total") > 0
        server.thaw()
        for node in nodes:
            await until(partial(recovered, node), bool)
        assert (await burst(20, *nodes))[503] == 0
    finally:
        await asyncio.to_thread(server.remove)


async def test_u53_who_asks_a_database_as_it_stands_still_is_not_forgotten(limited: Workers) -> None:
    """Its connections are busy with what others store, so who asks for a limit is not heard at all: nobody answers in
    time, and it is told afterwards what they took."""
    server = Server()
    await asyncio.to_thread(server.make)
    server.start()
    try:
        await server.ready()
        limited.set(
            tenants=TENANTS | TENANT, metrics={"open": True}, store={"url": server.url(), "wait_seconds": 0.5}
        )
        nodes = [await limited.start(), await limited.start()]
        for node in nodes:
            await until(partial(beats, node), partial(lt, await beats(node)))
        began = time.monotonic()
        answers = await burst(20, *nodes)
        server.freeze()
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(stored(nodes[number % 2]))
            await asyncio.sleep(0.2)
            answers += await burst(40, *nodes)
        server.thaw()
        for _ in range(2):
            for node in nodes:
                answers += Counter({200: await recovering(node)})
            await asyncio.sleep(TELLING_SECONDS)
        answers += await burst(60, *nodes)
        assert 50 <= answers[200] <= 62 + time.monotonic() - began
    finally:
        await asyncio.to_thread(server.remove)


async def test_u52_who_starts_without_its_database_opens_no_limit(limited: Workers) -> None:
    """It does not know how many others there are, nor what they have taken: so it takes itself for one of several, and
    begins with nothing saved up. Afterwards it hears of all."""
    server = Server()
    await asyncio.to_thread(server.make)
    server.start()
    try:
        await server.ready()
        limited.set(tenants=TENANT, metrics=METRICS, store={"url": server.url(), "wait_seconds": 0.3})
        lives, dies = await limited.start(), await limited.start()
        began = time.monotonic()
        answers = await burst(100, lives, dies)
        await asyncio.to_thread(server.stop)
        dies.process.kill()
        again = await limited.start()
        answers += await burst(100, lives, again)
        seconds = time.monotonic() - began
        assert await counted(again, "limits_by_share_total") > 0
        assert 60 <= answers[200] <= 63 + seconds
        server.start()
        await server.ready()
        for node in (lives, again):
            await until(partial(recovered, node), bool)
    finally:
        await asyncio.to_thread(server.remove)


async def test_u52_who_is_said_to_be_alone_has_all_that_flows_in(limited: Workers) -> None:
    """Though its database is away when it starts: one a second, and the first one at once."""
    away = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    limited.set(tenants=TENANT, metrics=METRICS, store={"url": away, "wait_seconds": 0.2, "nodes": 1})
    proxy = await limited.start()
    began = time.monotonic()
    assert (await ask(proxy))[0] == 200
    status, headers = await ask(proxy)
    assert (status, float(headers["Retry-After"]) <= 1) == (429, True)
    await until(lambda: ask(proxy), lambda answer: answer[0] == 200)
    assert time.monotonic() - began < 3


async def beats(node: Proxy) -> float:
    """With each of them it hears how many others live."""
    async with node.session.get(f"{node.url}/metrics", headers=READER) as response:
        found = samples(await response.read())
    return sum(
        value
        for (name, labels), value in found.items()
        if name == "store_commands_total" and "beat" in labels
    )


async def recovering(node: Proxy) -> int:
    """How many are let in until nothing is decided without the store any more."""
    let_in = 0
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            before = await counted(node, "limits_by_share_total")
            status, _ = await ask(node)
            let_in += status == 200
            if status == 200 and await counted(node, "limits_by_share_total") == before:
                return let_in
            await asyncio.sleep(0.05)


async def recovered(node: Proxy) -> bool:
    """Nothing is decided without the store any more."""
    before = await counted(node, "limits_by_share_total")
    status, _ = await ask(node)
    return status == 200 and await counted(node, "limits_by_share_total") == before


class Counting:
    """A backend that takes a moment, and counts how many it has at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.order: list[str] = []
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def __call__(self, line: Line) -> None:
        while True:
            request = await line.request()
            self.asked.set()
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(request.json["messages"][-1]["content"])
            await self.may.wait()
            self.now -= 1
            line.send(HEAD, text("Hello"), finish(), DONE, END)


def tickets(workers: Workers) -> int:
    with closing(sqlite3.connect(f"file:{workers.state / 'live.db'}?mode=ro", uri=True)) as live:
        return int(live.execute("select count(*) from tickets").fetchone()[0])


async def said(proxy: Proxy, word: str) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.url}/v1/responses", json=ASKED | {"input": word}) as response,
    ):
        await response.read()
        return response.status


async def queued(workers: Workers, many: int) -> None:
    async def look() -> int:
        return tickets(workers)

    await until(look, lambda there: there == many)


async def test_u56_one_at_a_time_and_first_come_first_served(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """With eight workers of two proxies."""
    workers.set(backend={"url": backend.url, "profile": "default", "max_concurrent": 1})
    counting = Counting()
    backend.plays(counting)
    proxies = [await workers.start("--workers", "4") for _ in range(2)]
    asked = []
    for number in range(12):
        asked.append(asyncio.get_running_loop().create_task(said(proxies[number % 2], f"{number}")))
        await queued(workers, number + 1)
    counting.may.set()
    assert await asyncio.gather(*asked) == [200] * 12
    assert counting.most == 1
    assert counting.order == [f"{number}" for number in range(12)]
    await queued(workers, 0)


async def test_u56_one_at_a_time_for_all_nodes_of_a_database(
    backend: ScriptedBackend, workers: Workers
) -> None:
    workers.set(
        backend={"url": backend.url, "profile": "default", "max_concurrent": 1},
        store={"url": await fresh_url()},
    )
    counting = Counting()
    counting.may.set()
    backend.plays(counting)
    nodes = [await workers.start(), await workers.start()]
    assert await asyncio.gather(*(said(nodes[n % 2], f"{n}") for n in range(16))) == [200] * 16
    assert counting.most == 1


async def test_u55_who_dies_holding_a_slot_locks_nobody_out(
    backend: ScriptedBackend, workers: Workers
) -> None:
    workers.set(backend={"url": backend.url, "profile": "default", "max_concurrent": 1})
    counting = Counting()
    backend.plays(counting)
    dies, lives = await workers.start(), await workers.start()
    loop = asyncio.get_running_loop()
    lost = loop.create_task(said(dies, "lost"))
    await queued(workers, 1)
    waits = loop.create_task(said(lives, "waits"))
    await queued(workers, 2)
    dies.process.kill()
    counting.may.set()
    assert await waits == 200
    assert isinstance((await asyncio.gather(lost, return_exceptions=True))[0], aiohttp.ClientError)


async def test_u55_without_the_store_a_backend_is_asked_all_the_same(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """U52: each worker by its part, one at least."""
    workers.set(
        backend={"url": backend.url, "profile": "default", "max_concurrent": 4}, store={"wait_seconds": 0.2}
    )
    counting = Counting()
    backend.plays(counting)
    proxy = await workers.start("--workers", "4")
    with held(workers):
        asked = [asyncio.get_running_loop().create_task(said(proxy, f"{number}")) for number in range(20)]
        await counting.asked.wait()
        counting.may.set()
        assert await asyncio.gather(*asked) == [200] * 20
    assert counting.most <= 4


async def test_d10_a_tenant_without_limits_is_answered_whatever_the_store_does(workers: Workers) -> None:
    workers.set(store={"wait_seconds": 5})
    proxy = await workers.start("--workers", "2")
    with held(workers):
        async with asyncio.timeout(4):
            assert [await said(proxy, "Hi") for _ in range(10)] == [200] * 10
