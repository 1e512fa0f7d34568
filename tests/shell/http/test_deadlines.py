"""Whoever waits too long is looked at when it is due, and nobody else has a timer for it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from proxy.shell.http.deadlines import NEVER, Deadlines

SOON = 0.02
PROMPTLY = 5.0


class Waits:
    """Is due at these times from now, one after another."""

    def __init__(self, *dues: float) -> None:
        self._start = asyncio.get_running_loop().time()
        self._dues = [self._start + due for due in dues]
        self.looked: list[float] = []
        self.over = asyncio.Event()

    @property
    def due(self) -> float:
        return self._dues[0] if self._dues else NEVER

    def check(self, now: float) -> float:
        self.looked.append(now - self._start)
        while self.due <= now:
            self._dues.pop(0)
        if not self._dues:
            self.over.set()
        return self.due


@pytest.fixture
async def deadlines() -> AsyncIterator[Deadlines]:
    deadlines = Deadlines()
    yield deadlines
    deadlines.close()


async def over(*waiting: Waits) -> None:
    async with asyncio.timeout(PROMPTLY):
        for each in waiting:
            await each.over.wait()


async def test_each_is_looked_at_when_it_is_due_however_they_came(deadlines: Deadlines) -> None:
    late, early = Waits(2 * SOON), Waits(SOON)
    for each in (late, early):
        deadlines.add(each, each.due)
    await over(early, late)
    assert SOON <= early.looked[0] <= late.looked[-1]
    assert late.looked[-1] >= 2 * SOON


async def test_whoever_says_so_is_looked_at_again(deadlines: Deadlines) -> None:
    waits = Waits(SOON, 2 * SOON, 3 * SOON)
    deadlines.add(waits, waits.due)
    await over(waits)
    assert waits.looked[-1] >= 3 * SOON


async def test_whoever_waits_no_more_is_not_looked_at(deadlines: Deadlines) -> None:
    gone, stays = Waits(SOON), Waits(2 * SOON)
    for each in (gone, stays):
        deadlines.add(each, each.due)
    deadlines.remove(gone)
    deadlines.remove(gone)
    await over(stays)
    assert gone.looked == []


async def test_whoever_is_due_earlier_than_it_was_is_looked_at_earlier(deadlines: Deadlines) -> None:
    waits = Waits(SOON)
    deadlines.add(waits, waits.due + PROMPTLY)
    deadlines.add(waits, waits.due)
    await over(waits)
    assert len(waits.looked) == 1


async def test_there_is_one_timer_for_all(deadlines: Deadlines, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    set_at: list[float] = []
    call_at = loop.call_at
    monkeypatch.setattr(loop, "call_at", lambda when, call: (set_at.append(when), call_at(when, call))[1])
    first = Waits(SOON)
    deadlines.add(first, first.due)
    others = [Waits(2 * SOON + n / 1000) for n in range(5)]
    for each in others:
        deadlines.add(each, each.due)
    assert set_at == [first.due]


async def test_nobody_is_looked_at_after_the_end(deadlines: Deadlines) -> None:
    waits, other = Waits(SOON), Waits(2 * SOON)
    deadlines.add(waits, waits.due)
    deadlines.close()
    later = Deadlines()
    later.add(other, other.due)
    await over(other)
    assert waits.looked == []
