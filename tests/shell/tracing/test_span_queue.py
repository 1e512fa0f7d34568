"""Spans on their way: bounded, tried again, and never in anybody's way."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from proxy.shell.tracing.span_queue import (
    AT_ONCE,
    MOST_WAITING,
    PAUSE_SECONDS,
    CollectorAway,
    CollectorRefused,
    SpanQueue,
)
from proxy.shell.tracing.spans import Span


def span(number: int = 0) -> Span:
    return Span("s", "server", 1, number, 0, parent_is_remote=False, state="", start=0, end=0, attributes={})


class Collector:
    """Answers as it is told, and keeps what it got."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.got: list[int] = []
        self.sizes: list[int] = []
        self.asked = asyncio.Event()
        self.may = asyncio.Event()
        self.may.set()

    async def send(self, spans: Sequence[Span]) -> None:
        self.asked.set()
        await self.may.wait()
        if answer := self.answers.pop(0) if self.answers else None:
            raise answer
        self.got += [each.span_id for each in spans]
        self.sizes.append(len(spans))


class Seen:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.numbers = {"sent": 0, "lost": 0}

    def sent(self, spans: int) -> None:
        self.numbers["sent"] += spans

    def lost(self, spans: int) -> None:
        self.numbers["lost"] += spans

    def went_down(self, reason: str) -> None:
        self.told.append(f"down: {reason}")

    def came_back(self) -> None:
        self.told.append("up")


class Running:
    def __init__(self, *answers: Exception | None) -> None:
        self.collector, self.seen = Collector(*answers), Seen()
        self.slept: list[float] = []
        self.queue = SpanQueue(self.collector.send, self.seen, self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def until(self, enough: Callable[[], bool]) -> None:
        task = asyncio.get_running_loop().create_task(self.queue.run())
        async with asyncio.timeout(5):
            while not enough():  # noqa: ASYNC110 - it looks between all steps of a queue that never sleeps
                await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})


async def test_what_has_ended_is_sent_together() -> None:
    running = Running()
    for number in range(AT_ONCE + 10):
        running.queue.put([span(number)])
    await running.until(lambda: len(running.collector.got) == AT_ONCE + 10)
    assert running.collector.got == list(range(AT_ONCE + 10))
    assert running.collector.sizes == [AT_ONCE, 10]
    assert running.seen.numbers == {"sent": AT_ONCE + 10, "lost": 0}


async def test_while_the_collector_is_away_spans_wait_and_it_is_told_once() -> None:
    running = Running(*(CollectorAway("gone") for _ in range(8)))
    running.queue.put([span(1), span(2)])
    await running.until(lambda: running.collector.got == [1, 2])
    assert running.seen.told == ["down: gone", "up"]
    assert running.seen.numbers == {"sent": 2, "lost": 0}
    assert running.slept[1:] == [*PAUSE_SECONDS, *[PAUSE_SECONDS[-1]] * 3]


async def test_what_it_will_never_take_is_lost_and_the_rest_goes_on() -> None:
    running = Running(CollectorRefused("no"), CollectorRefused("no"))
    for number in range(AT_ONCE * 2 + 1):
        running.queue.put([span(number)])
    await running.until(lambda: bool(running.collector.got))
    assert running.collector.got == [AT_ONCE * 2]
    assert running.seen.numbers == {"sent": 1, "lost": AT_ONCE * 2}
    assert running.seen.told == ["down: no", "up"]


async def test_never_more_than_so_many_wait() -> None:
    running = Running()
    for _ in range(MOST_WAITING // 2):
        running.queue.put([span(), span()])
    running.queue.put([span(), span(), span()])
    assert running.seen.numbers["lost"] == 3


async def test_in_the_end_what_waits_is_sent_if_it_can_be() -> None:
    running = Running()
    running.queue.put([span(number) for number in range(AT_ONCE + 1)])
    await running.queue.flush(5)
    assert len(running.collector.got) == AT_ONCE + 1
    assert running.seen.numbers["lost"] == 0


@pytest.mark.parametrize("answers", [[CollectorAway("gone")], []])
async def test_in_the_end_nobody_is_waited_for_long(answers: list[Exception]) -> None:
    running = Running(*answers)
    if not answers:
        running.collector.may.clear()
    running.queue.put([span(), span()])
    async with asyncio.timeout(5):
        await running.queue.flush(0.05)
    assert running.seen.numbers == {"sent": 0, "lost": 2}


async def test_what_is_under_way_when_it_ends_is_not_forgotten() -> None:
    running = Running()
    running.collector.may.clear()
    running.queue.put([span(7)])
    await running.until(running.collector.asked.is_set)
    running.collector.may.set()
    await running.queue.flush(5)
    assert running.collector.got == [7]
