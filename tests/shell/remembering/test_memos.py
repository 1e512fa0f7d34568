"""Memos go out and come back, and no request waits long for either."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.remembering import memos as module
from proxy.shell.remembering.memos import Memos
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.protocol import StoreDown
from tests.support.proxies import LogLines
from tests.support.stores import Terms


class Slow:
    """Answers when it is let."""

    def __init__(self) -> None:
        self._live = MemoryLive(Terms().clock)
        self.up = True
        self.let = asyncio.Event()
        self.let.set()
        self.asked: list[str] = []

    async def _do(self, name: str, *args: Any) -> Any:
        self.asked.append(name)
        await self.let.wait()
        if not self.up:
            raise StoreDown("away")
        return await getattr(self._live, name)(*args)

    async def recall(self, tenant: str, keys: Sequence[str]) -> Any:
        return await self._do("recall", tenant, keys)

    async def remember(self, *args: Any) -> None:
        await self._do("remember", *args)


class World:
    def __init__(self) -> None:
        self.live = Slow()
        self.metrics = Metrics({}, ())
        self.tasks = Tasks(make_log("info", "json", stream=LogLines().stream))
        self.memos = Memos(self.live, self.tasks, self.metrics)  # type: ignore[arg-type]

    @property
    def lost(self) -> Mapping[tuple[str, ...], float]:
        return dict(self.metrics.counts()["memos_lost"])


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.01)
    return World()


async def test_u57_what_was_told_is_found(world: World) -> None:
    await world.memos.share("t", {"a": b"1", "b": b"2"})
    assert await world.memos.recall("t", ["a", "b", "c"]) == {"a": b"1", "b": b"2"}
    assert await world.memos.recall("u", ["a"]) == {}


async def test_where_nothing_is_kept_nothing_is_known(world: World) -> None:
    memos = Memos(None, world.tasks, world.metrics)
    await memos.share("t", {"a": b"1"})
    assert await memos.recall("t", ["a"]) is None


async def test_a_store_that_is_down_is_one_that_forgot(world: World) -> None:
    world.live.up = False
    await world.memos.share("t", {"a": b"1", "b": b"2"})
    assert await world.memos.recall("t", ["a"]) is None
    assert world.lost == {("store_down",): 2.0}


async def test_u01_a_frozen_store_holds_up_one_request_for_a_moment_and_no_other(world: World) -> None:
    world.live.let.clear()
    assert await world.memos.recall("t", ["a"]) is None
    assert await world.memos.recall("t", ["a"]) is None
    assert world.live.asked == ["recall"]
    async with asyncio.timeout(5):
        await world.memos.share("t", {"a": b"1"})
        world.live.let.set()
        await world.tasks.finish(5)
    assert await world.memos.recall("t", ["a"]) == {"a": b"1"}, "it was written after all"


async def test_who_waits_for_a_write_waits_a_moment(world: World) -> None:
    world.live.let.clear()
    await world.memos.share("t", {"a": b"1"})
    assert await world.memos.recall("t", ["a"]) is None
    assert world.live.asked == ["remember"]
    world.live.let.set()
    await world.tasks.finish(5)
    assert await world.memos.recall("t", ["a"]) == {"a": b"1"}


@pytest.mark.parametrize(("limit", "most"), [("MOST_WRITING", 2), ("MOST_WRITING_BYTES", 5)])
async def test_what_is_being_written_is_bounded(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(module, limit, most)
    world.live.let.clear()
    for number in range(4):
        await world.memos.share("t", {str(number): b"12"})
    assert world.lost == {("busy",): 2.0}
    world.live.let.set()
    await world.tasks.finish(5)
    await world.memos.share("t", {"later": b"12"})
    assert await world.memos.recall("t", ["0", "1", "2", "3", "later"]) == {
        "0": b"12",
        "1": b"12",
        "later": b"12",
    }


async def test_a_huge_memo_is_not_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MEMO_BYTES", 3)
    await world.memos.share("t", {"a": b"1234", "b": b"123"})
    await world.memos.share("t", {"c": b"1234"})
    assert await world.memos.recall("t", ["a", "b", "c"]) == {"b": b"123"}
    assert world.lost == {("too_large",): 2.0}
    assert world.live.asked == ["remember", "recall"]
