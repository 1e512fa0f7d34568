"""Workers that tell one another what they have counted, over real sockets."""

import asyncio
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from proxy.core.ledger import Ledger
from proxy.shell.ops.exposition import page
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.worker_metrics import WorkerMetrics
from proxy.shell.ops.worker_questions import ONLY_WORKER, WorkerSlot
from tests.support.samples import samples


def counted(times: int) -> Metrics:
    made = Metrics({}, ())
    for _ in range(times):
        made.began("chat")
        ledger = Ledger()
        ledger.note(tenant="t", status=200, ms_total=300.0)
        made.ended("chat", ledger, None)
    return made


@asynccontextmanager
async def worker(folder: Path, slot: int, of: int, times: int) -> AsyncIterator[WorkerMetrics]:
    worker_metrics = WorkerMetrics(WorkerSlot(slot, of, folder), counted(times).counts, answer_seconds=0.2)
    await worker_metrics.start()
    try:
        yield worker_metrics
    finally:
        worker_metrics.stop()


async def test_one_alone_tells_its_own_and_opens_no_door() -> None:
    worker_metrics = WorkerMetrics(ONLY_WORKER, counted(3).counts)
    await worker_metrics.start()
    told = samples(page(await worker_metrics.counts()))
    worker_metrics.stop()
    assert told["tenant_requests_total", "status=2xx tenant=t worker=0"] == 3


async def test_any_of_several_tells_it_all(tmp_path: Path) -> None:
    async with worker(tmp_path, 0, 2, 1) as first, worker(tmp_path, 1, 2, 5) as second:
        for each in (first, second):
            told = samples(page(await each.counts()))
            assert told["tenant_requests_total", "status=2xx tenant=t worker=0"] == 1
            assert told["tenant_requests_total", "status=2xx tenant=t worker=1"] == 5
            assert told["duration_seconds_count", "backend=none surface=chat worker=1"] == 5
            assert told["worker_up", "worker=1"] == 1


async def test_one_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    """F75."""
    async with worker(tmp_path, 0, 2, 1) as first:
        told = await first.counts()
        assert told["1"] is None
        assert told["0"] is not None


async def test_one_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    asked: list[asyncio.StreamWriter] = []
    mute = await asyncio.start_unix_server(lambda _, writer: asked.append(writer), tmp_path / "1")
    async with worker(tmp_path, 0, 2, 1) as first:
        assert (await first.counts())["1"] is None
    mute.close()
    for writer in asked:
        writer.close()
    assert len(asked) == 1


async def test_one_that_dies_while_it_speaks_is_left_out(tmp_path: Path) -> None:
    """F75."""

    def dying(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"requests": [[["a"')
        writer.close()

    half = await asyncio.start_unix_server(dying, tmp_path / "1")
    async with worker(tmp_path, 0, 2, 1) as first:
        assert (await first.counts())["1"] is None
    half.close()


async def test_a_successor_takes_the_door_of_one_that_was_killed(tmp_path: Path) -> None:
    """F75."""
    (tmp_path / "1").touch()
    async with worker(tmp_path, 0, 2, 1) as first, worker(tmp_path, 1, 2, 4):
        assert (await first.counts())["1"] is not None
        assert stat.S_ISSOCK((tmp_path / "1").stat().st_mode)
