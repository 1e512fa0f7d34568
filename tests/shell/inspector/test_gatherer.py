"""What several workers know, gathered by any of them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from proxy.shell.inspector.gatherer import Gatherer
from proxy.shell.inspector.ring import Ring
from proxy.shell.ops.worker_questions import ONLY_WORKER, WorkerSlot
from tests.support.watching import a_watch, end


def made(slot: WorkerSlot, requests: int, life: str = "life") -> Gatherer:
    ring = Ring(10, 100, list)
    for _ in range(requests):
        ring.ended(end(a_watch(lambda: 0.0)))
    return Gatherer(slot, ring, life, lambda: {"worker": slot.number}, str)


@pytest.fixture
async def gatherers(tmp_path: Path) -> AsyncIterator[tuple[Gatherer, Gatherer]]:
    async with AsyncExitStack() as stack:
        found = [made(WorkerSlot(number, 2, tmp_path), 2) for number in (0, 1)]
        for gatherer in found:
            await gatherer.start()
            stack.callback(gatherer.stop)
        yield found[0], found[1]


async def test_each_gathers_the_requests_of_all(gatherers: tuple[Gatherer, Gatherer]) -> None:
    for gatherer in gatherers:
        told = await gatherer.requests("")
        ids = [request["id"] for request in told["requests"]]
        assert ids == ["0-life-1", "0-life-2", "1-life-1", "1-life-2"]
        assert told["workers"] == {"0": True, "1": True}
        assert (await gatherer.requests(told["since"]))["requests"] == []


async def test_one_that_does_not_answer_is_told(gatherers: tuple[Gatherer, Gatherer]) -> None:
    gatherers[1].stop()
    told = await gatherers[0].requests("")
    assert told["workers"] == {"0": True, "1": False}
    assert len(told["requests"]) == 2
    assert await gatherers[0].standing() == {"0": {"worker": 0}, "1": None}


async def test_a_request_of_another_worker_is_found(gatherers: tuple[Gatherer, Gatherer]) -> None:
    found = await gatherers[0].request("1-life-2")
    assert found is not None
    assert found["id"] == "1-life-2"
    assert await gatherers[0].content("1-life-2", 0) is None


NO_IDS = (
    "",
    "0",
    "0-life",
    "0-life-",
    "0-life-9",
    "0-other-1",
    "7-life-1",
    "x-life-1",
    "-1-life-1",
    "²-life-1",
)
NO_NUMBERS = ("0-life-²", "0-life-" + "9" * 20)


@pytest.mark.parametrize("id", [*NO_IDS, *NO_NUMBERS])
async def test_an_id_that_is_none_finds_nothing(id: str) -> None:
    gatherer = made(ONLY_WORKER, 1)
    assert await gatherer.request(id) is None
    assert await gatherer.content(id, 0) is None


@pytest.mark.parametrize(
    "since", ["x", "0-life", "0-life:x", "0-life:²", ":", ",,,", "0-other:5", "0-life:" + "9" * 20]
)
async def test_a_wrong_cursor_begins_again(since: str) -> None:
    assert len((await made(ONLY_WORKER, 1).requests(since))["requests"]) == 1


async def test_a_successor_is_asked_from_the_beginning(tmp_path: Path) -> None:
    before = await made(ONLY_WORKER, 3).requests("")
    told = await made(ONLY_WORKER, 1, life="next").requests(before["since"])
    assert [request["id"] for request in told["requests"]] == ["0-next-1"]
    assert told["kept"] == {"0-next": [1]}
