"""Background work is neither lost nor silent about its failures."""

import asyncio
import gc

import pytest

from proxy.shell.ops.logs import make_log
from proxy.shell.ops.tasks import Tasks
from tests.support.proxies import LogLines


@pytest.fixture
def log() -> LogLines:
    return LogLines()


@pytest.fixture
def tasks(log: LogLines) -> Tasks:
    return Tasks(make_log("info", "json", stream=log.stream))


async def test_a_task_that_nobody_holds_comes_to_its_end(tasks: Tasks) -> None:
    ended = asyncio.Event()

    async def work() -> None:
        await asyncio.sleep(0)
        ended.set()

    tasks.start(work(), "work")
    gc.collect()
    async with asyncio.timeout(5):
        await ended.wait()


async def test_a_failure_is_logged_with_the_tasks_name(tasks: Tasks, log: LogLines) -> None:
    async def fails() -> None:
        raise ValueError("broken")

    tasks.start(fails(), "sweeper")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    (line,) = log.named("task_failed")
    assert line["task"] == "sweeper"
    assert "in fails\n" in line["exception"]
    assert line["exception"].endswith("ValueError")


async def test_closing_ends_what_still_runs_quietly(tasks: Tasks, log: LogLines) -> None:
    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    tasks.start(forever(), "forever")
    await asyncio.sleep(0)
    await tasks.close()
    assert ended.is_set()
    assert log.text == ""


async def test_what_must_not_be_lost_has_some_time_to_end(tasks: Tasks) -> None:
    ended = []

    async def work() -> None:
        await asyncio.sleep(0)
        ended.append("quick")

    async def stuck() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("stuck")

    await tasks.finish(0)
    tasks.start(work(), "quick")
    await tasks.finish(5)
    tasks.start(stuck(), "stuck")
    await tasks.finish(0.01)
    assert ended == ["quick", "stuck"]
