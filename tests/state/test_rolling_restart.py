"""All nodes are replaced, one after another, while clients ask: nothing that was begun is lost, nothing ends twice."""

import asyncio
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy.shell.stores.sql.tables import RECORDS
from tests.support.background import FINAL, got
from tests.support.balancer import Balancer, balancing
from tests.support.postgres import fresh_url
from tests.support.programs import Process, served
from tests.support.proxies import LogLines, Proxy, events
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, finish, reply, text, usage

WORDS = ["Once ", "upon ", "a ", "time"]
PACE_SECONDS = 0.1
"""Between words: a reply takes as long as a restart may interrupt."""
GRACE_SECONDS = 20
LONGEST_SECONDS = 120
NEWER = "tests.support.newer_proxy"
CLIENTS = 6


async def model(line: Line) -> None:
    while True:
        await line.request()
        line.send(HEAD)
        for word in WORDS:
            line.send(text(word))
            await asyncio.sleep(PACE_SECONDS)
        line.send(finish(), usage(), DONE, END)


class Load:
    """Clients that go on until they are told to stop, and keep what they were told."""

    def __init__(self, front: Proxy) -> None:
        self.front = front
        self.over = asyncio.Event()
        self.told: Counter[str] = Counter()
        self.kept: dict[str, str] = {}
        """Each response that was acknowledged, with the status it was last seen in."""
        self.asked_again = 0

    async def client(self, kind: str) -> None:
        """Continues its own last answer, on a connection that it keeps as long as it may."""
        last: dict[str, Any] = {}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as session:
            while not self.over.is_set():
                body = {"model": "m", "input": "Hi"} | last
                last = {"previous_response_id": await self._turn(session, kind, body)}

    async def _turn(self, session: aiohttp.ClientSession, kind: str, body: dict[str, Any]) -> str:
        body |= {"background": kind == "background", "stream": kind == "stream"}
        while True:
            try:
                async with session.post(f"{self.front.url}/v1/responses", json=body) as response:
                    if response.status == 503:
                        assert (await response.json())["error"]["code"] == "server_shutting_down"
                        assert response.headers["Retry-After"] == "1"
                        self.asked_again += 1
                        continue
                    assert response.status == 200, await response.text()
                    data = await response.read()
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                self.asked_again += 1  # before an answer began: a kept connection whose node has gone
                continue
            return await self._kept(kind, data)

    async def _kept(self, kind: str, data: bytes) -> str:
        answer = events(data)[-2].data["response"] if kind == "stream" else _whole(data)
        id, status = answer["id"], answer["status"]
        if kind == "background":
            status = await self._polled(id)
        else:
            assert status == "completed"
            assert answer["output"][0]["content"][0]["text"] == "".join(WORDS)
        self.told[kind] += 1
        self.kept[id] = status
        return str(id)

    async def _polled(self, id: str) -> str:
        while True:
            try:
                status, found = await got(self.front, id)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                continue
            assert status == 200, found
            if found["status"] in FINAL:
                return str(found["status"])
            await asyncio.sleep(PACE_SECONDS)


def _whole(data: bytes) -> Any:
    return events(b"event: whole\ndata: " + data)[0].data


class Nodes:
    def __init__(self, stack: AsyncExitStack, backend: ScriptedBackend, folder: Path, store: str) -> None:
        self._stack = stack
        self._backend = backend
        self._folder = folder
        self._store = store

    async def start(self, program: str = "proxy") -> Process:
        started = served(
            self._backend,
            self._folder,
            program=program,
            server={"grace_seconds": GRACE_SECONDS},
            store={"url": self._store},
        )
        return await self._stack.enter_async_context(started)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def replaced(balancer: Balancer, nodes: Nodes, old: Process) -> Process:
    """As a rollout does it: the new one is ready before the old one gets no more connections and is asked to stop."""
    new = await nodes.start(NEWER)
    balancer.nodes = [*balancer.nodes, new.url]
    balancer.nodes = [node for node in balancer.nodes if node != old.url]
    old.signal(signal.SIGTERM)
    assert await old.ended() == 0
    return new


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_u64_no_reply_is_lost_and_every_record_ends_once(
    backend: ScriptedBackend, stack: AsyncExitStack, tmp_path: Path, engine: str
) -> None:
    """U34, U64: the new ones are of a later version, and for a while both serve."""
    backend.plays(model)
    store = f"sqlite:{tmp_path / 'state'}" if engine == "sqlite" else await fresh_url()
    nodes = Nodes(stack, backend, tmp_path, store)
    running = list(await asyncio.gather(nodes.start(), nodes.start()))
    balancer = await stack.enter_async_context(balancing(*(node.url for node in running)))
    session = await stack.enter_async_context(
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True))
    )
    load = Load(Proxy(balancer.url, LogLines(), session))
    kinds = ("stream", "whole", "background")
    async with asyncio.timeout(LONGEST_SECONDS), asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            group.create_task(load.client(kinds[number % len(kinds)]))
        for number, old in enumerate(running):
            running[number] = await replaced(balancer, nodes, old)
        load.over.set()
    assert all(load.told[kind] for kind in kinds)
    assert set(load.kept.values()) == {"completed"}
    if engine == "sqlite":
        with closing(sqlite3.connect(tmp_path / "state" / "state.db")) as file:
            assert file.execute("select version from about").fetchall() == [(RECORDS.version + 1,)]
    running.append(await nodes.start())  # an older one, which comes late
    for node in running:
        alone = Proxy(node.url, LogLines(), session)
        for id in load.kept:
            status, found = await got(alone, id)
            assert (status, found["status"]) == (200, "completed")
    asked_of_the_model = sum(request.method == "POST" for request in backend.received)
    assert asked_of_the_model == len(load.kept), "nothing was asked twice"


async def test_u65_nodes_of_one_name_are_two(
    backend: ScriptedBackend, stack: AsyncExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pods of two clusters may be called alike."""
    monkeypatch.setenv("HOSTNAME", "proxy-0")
    backend.answers(reply(text("Hello")))
    nodes = Nodes(stack, backend, tmp_path, f"sqlite:{tmp_path / 'state'}")
    first, second = await asyncio.gather(nodes.start(), nodes.start())
    session = await stack.enter_async_context(aiohttp.ClientSession())
    ids = []
    for node in (first, second):
        async with session.post(f"{node.url}/v1/responses", json={"model": "m", "input": "Hi"}) as response:
            ids.append((await response.json())["id"])
    first.signal(signal.SIGTERM)
    assert await first.ended() == 0
    for id in ids:
        assert (await got(Proxy(second.url, LogLines(), session), id))[0] == 200
