"""attack-18: which connection gives way to a new one or is not waited for, and that this is told once for many."""

import asyncio
from typing import Any

import pytest

from proxy.shell.http import connections as module
from proxy.shell.http.connections import Connections
from proxy.shell.ops import descriptors
from tests.support.sockets import PROMPTLY


class Fake:
    def __init__(self, address: str, name: str) -> None:
        self.address = address
        self.name = name
        self.dropped = self.hurried = False

    def drop(self) -> None:
        self.dropped = True

    def hurry(self) -> None:
        self.hurried = True


class Lines:
    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.next = asyncio.Event()

    def __call__(self, event: str, **fields: Any) -> None:
        self.told.append((event.split(":")[0], fields))
        self.next.set()


class Looks:
    """Whether a descriptor is left: always; and how often somebody asked."""

    def __init__(self) -> None:
        self._wanted = 0
        self._enough = asyncio.Event()

    def __call__(self) -> bool:
        self._wanted -= 1
        if self._wanted == 0:
            self._enough.set()
        return False

    async def more(self, times: int) -> None:
        self._wanted = times
        self._enough.clear()
        async with asyncio.timeout(PROMPTLY):
            await self._enough.wait()


def several(count: int, address: str) -> list[Fake]:
    return [Fake(address, f"{address}{number}") for number in range(count)]


def dropped(*fakes: Fake) -> list[str]:
    return [fake.name for fake in fakes if fake.dropped]


def test_an_address_with_its_share_closes_what_was_idle_longest() -> None:
    open = Connections(8, print)
    ann = several(6, "ann")
    for each in ann[:4]:
        assert open.enter(each)
    open.busy(ann[0])
    open.idle(ann[0])
    open.busy(ann[2])
    assert [open.enter(each) for each in ann[4:]] == [True, True]
    assert dropped(*ann) == ["ann1", "ann3"], "the third has a request, the first had one just now"


def test_who_has_requests_on_all_of_them_gets_no_more() -> None:
    open = Connections(8, print)
    ann = several(5, "ann")
    for each in ann[:4]:
        assert open.enter(each)
        open.busy(each)
    assert not open.enter(ann[4])
    assert dropped(*ann) == []
    open.leave(ann[4])
    open.leave(ann[0])
    assert open.enter(ann[4])


def test_where_there_is_no_room_who_has_most_idle_ones_closes_one() -> None:
    open = Connections(4, print)
    ann, bob, eve = several(2, "ann"), several(1, "bob"), several(1, "eve")
    for each in (*ann, *bob):
        assert open.enter(each)
    assert open.enter(eve[0])
    assert dropped(*ann, *bob, *eve) == ["ann0"]


def test_who_comes_when_all_are_at_work_is_refused() -> None:
    open = Connections(4, print)
    ann, bob, eve = several(2, "ann"), several(1, "bob"), several(1, "eve")
    for each in (*ann, *bob):
        assert open.enter(each)
        open.busy(each)
    assert not open.enter(eve[0])


def test_what_was_dropped_is_out_though_its_request_comes_or_goes_later() -> None:
    open = Connections(4, print)
    ann = several(3, "ann")
    for each in ann:
        open.enter(each)
    assert dropped(*ann) == ["ann0"]
    open.busy(ann[0])
    open.idle(ann[0])
    open.leave(ann[0])
    assert open.enter(again := Fake("ann", "again"))
    assert dropped(*ann, again) == ["ann0", "ann1"]


async def test_many_are_told_of_in_one_line_and_the_next_one_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.001)
    lines, looks = Lines(), Looks()
    monkeypatch.setattr(descriptors, "exhausted", looks)
    open = Connections(4, lines)
    for each in several(5, "ann"):
        open.enter(each)
    open.start_timer()
    try:
        assert lines.told == [("connections_exhausted", {"closed": 3, "refused": 0, "open": 2, "room": 4})]
        open.enter(Fake("ann", "one more"))
        await looks.more(3)
        assert len(lines.told) == 1
    finally:
        open.close()


async def test_what_comes_meanwhile_is_in_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.001)
    monkeypatch.setattr(module, "LOG_SECONDS", 0.01)
    lines = Lines()
    open = Connections(4, lines)
    for each in several(3, "ann"):
        open.enter(each)
    open.start_timer()
    try:
        open.enter(Fake("ann", "one more"))
        lines.next.clear()
        async with asyncio.timeout(PROMPTLY):
            await lines.next.wait()
        assert [fields["closed"] for _, fields in lines.told] == [1, 1]
    finally:
        open.close()


async def test_that_no_descriptor_is_left_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes connections does not hear of it."""
    monkeypatch.setattr(descriptors, "exhausted", lambda: True)
    lines = Lines()
    open = Connections(4, lines)
    open.start_timer()
    open.close()
    assert lines.told == [("descriptors_exhausted", {"advice": module.ADVICE})]


async def test_who_owes_a_head_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """F70: nor is there anything to do for those that had a request and may have another."""
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.001)
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.0025)
    monkeypatch.setattr(module, "HEAD_SECONDS", 0.0055)
    looks = Looks()
    monkeypatch.setattr(descriptors, "exhausted", looks)
    open = Connections(64, print)
    silent, drips, idle, left = several(4, "ann")
    for each in (silent, drips, idle, left):
        open.enter(each)
    open.begun(drips)
    open.begun(left)
    open.leave(left)
    open.begun(left)
    open.busy(idle)
    open.idle(idle)
    open.start_timer()
    try:
        for _ in range(2):
            assert not silent.dropped
            await looks.more(1)
        assert silent.dropped
        open.leave(silent)
        for _ in range(3):
            assert not drips.hurried
            open.begun(drips)
            await looks.more(1)
        assert drips.hurried
        await looks.more(10)
    finally:
        open.close()
    assert dropped(drips, idle, left) == []
    assert not any(each.hurried for each in (silent, idle, left))


def test_who_never_watched_has_nothing_to_close() -> None:
    Connections(4, print).close()
