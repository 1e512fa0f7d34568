"""One timer opens a stream and fills its silence, and nothing of it stays when the request is over."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable

import pytest

from proxy.shell.http.heartbeat import Heartbeat, StreamTiming
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.tasks import Tasks

SOON = 0.01


class Stream:
    def __init__(self) -> None:
        self.opened = False
        self.likely = {"X-Likely": "so"}
        self.sent: list[str] = []
        self.gone = False
        self._emitted: list[str] = []
        self._flushed = asyncio.Event()

    def comment(self) -> None:
        self._emitted.append("comment")

    def event(self) -> None:
        self._emitted.append("event")

    async def flush(self) -> None:
        if self.gone:
            self._flushed.set()
            raise ConnectionResetError
        self.sent += self._emitted or ["head"]
        self._emitted.clear()
        self.opened = True
        self._flushed.set()

    async def flushes(self, times: int) -> None:
        for _ in range(times):
            async with asyncio.timeout(1):
                await self._flushed.wait()
            self._flushed.clear()


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    tasks = Tasks(make_log())
    yield tasks
    await tasks.close()


@pytest.fixture
def make(tasks: Tasks) -> Callable[[], Heartbeat]:
    return lambda: Heartbeat(StreamTiming(patience=SOON, heartbeat=SOON), tasks)


async def test_the_stream_opens_without_what_is_uncertain_and_then_says_that_it_lives(
    make: Callable[[], Heartbeat],
) -> None:
    stream, heartbeat = Stream(), make()
    heartbeat.start(stream, None, None)
    await stream.flushes(3)
    heartbeat.stop()
    assert stream.sent == ["head", "comment", "comment"]
    assert stream.likely == {}


async def test_a_client_that_must_see_an_event_sees_one(make: Callable[[], Heartbeat]) -> None:
    stream, heartbeat = Stream(), make()
    stream.opened = True
    heartbeat.start(stream, stream.event, SOON / 2)
    await stream.flushes(2)
    heartbeat.stop()
    assert stream.sent == ["event", "event"]


async def test_nothing_comes_between_while_somebody_writes(make: Callable[[], Heartbeat]) -> None:
    stream, heartbeat = Stream(), make()
    heartbeat.start(stream, None, None)
    heartbeat.begin_write()
    heartbeat.beat()
    await asyncio.sleep(0)
    assert stream.sent == []
    heartbeat.end_write()
    await stream.flushes(1)
    heartbeat.stop()


async def test_what_was_just_written_is_sign_of_life_enough(
    make: Callable[[], Heartbeat], tasks: Tasks
) -> None:
    stream, heartbeat = Stream(), Heartbeat(StreamTiming(patience=60, heartbeat=60), tasks)
    stream.opened = True
    heartbeat.start(stream, None, None)
    heartbeat.last_write = heartbeat.now()
    heartbeat.beat()
    await asyncio.sleep(0)
    heartbeat.stop()
    assert stream.sent == []


async def test_after_the_end_there_is_no_beat(make: Callable[[], Heartbeat]) -> None:
    stream, heartbeat = Stream(), make()
    heartbeat.start(stream, None, None)
    heartbeat.beat()
    heartbeat.stop()
    heartbeat.beat()
    await asyncio.sleep(2 * SOON)
    assert stream.sent == []


async def test_a_client_that_has_left_hears_no_more(make: Callable[[], Heartbeat]) -> None:
    stream, heartbeat = Stream(), make()
    stream.gone = True
    heartbeat.start(stream, None, None)
    await stream.flushes(1)
    stream.gone = False
    await asyncio.sleep(2 * SOON)
    assert stream.sent == []


async def test_a_stream_that_is_over_needs_no_collector(make: Callable[[], Heartbeat]) -> None:
    stream, heartbeat = Stream(), make()
    heartbeat.start(stream, stream.event, SOON)
    heartbeat.stop()
    seen = weakref.ref(stream)
    gc.disable()
    try:
        del stream
        assert seen() is None
    finally:
        gc.enable()
