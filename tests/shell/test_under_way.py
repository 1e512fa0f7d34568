"""How all that is under way comes to its end (F74); over real sockets in `tests/faults`."""

import asyncio
from typing import Any

import pytest

from proxy.shell import under_way as module
from proxy.shell.in_flight import InFlight
from proxy.shell.under_way import UnderWay
from tests.support.watching import a_watch


class Request:
    """Stands for a request that ends when it is stopped, or only when it is cut."""

    def __init__(self, under_way: UnderWay, *, heeds: bool) -> None:
        self.told: list[str] = []
        self._under_way = under_way
        self._heeds = heeds

    def ended(self) -> None:
        self._under_way.ended(self)  # type: ignore[arg-type]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(request: Any) -> None:
        request.told.append("stop")
        if request._heeds:
            request.ended()

    def cut(request: Any) -> None:
        request.told.append("cut")

    monkeypatch.setattr(module, "CLOSING_SECONDS", 0.01)
    monkeypatch.setattr(InFlight, "stop", stop)
    monkeypatch.setattr(InFlight, "cut", cut)


def test_those_that_are_watched_are_told_in_the_order_in_which_they_began() -> None:
    under_way = UnderWay()
    first, second = (a_watch(lambda began=began: began) for began in (1.0, 2.0))
    for watch in (second, None, first):
        request: Any = Request(under_way, heeds=True)
        request.attempts = None if watch is None else []
        request.seen = lambda watch=watch: watch
        under_way.add(request)
    assert under_way.watches() == [first, second]


@pytest.mark.usefixtures("hasty")
async def test_who_does_not_heed_the_first_word_is_cut_off() -> None:
    under_way = UnderWay()
    one, two = Request(under_way, heeds=True), Request(under_way, heeds=False)
    for each in (one, two):
        under_way.add(each)  # type: ignore[arg-type]
    await under_way.drain(0.01)
    assert (one.told, two.told) == (["stop"], ["stop", "cut"])


@pytest.mark.usefixtures("hasty")
async def test_who_ends_in_time_hears_nothing() -> None:
    under_way = UnderWay()
    one = Request(under_way, heeds=False)
    under_way.add(one)  # type: ignore[arg-type]
    asyncio.get_running_loop().call_soon(one.ended)
    async with asyncio.timeout(5):
        await under_way.drain(60)
        await under_way.drain(60)
    assert one.told == []


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("before", [True, False])
async def test_who_hurries_gives_no_more_time(before: bool) -> None:
    under_way = UnderWay()
    one = Request(under_way, heeds=True)
    under_way.add(one)  # type: ignore[arg-type]
    if before:
        under_way.hurry()
    else:
        asyncio.get_running_loop().call_soon(under_way.hurry)
    async with asyncio.timeout(5):
        await under_way.drain(60)
    assert one.told == ["stop"]
