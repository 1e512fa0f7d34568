"""Beats: they go on whatever happens, and nobody buries others who has not been beating for a lease."""

import asyncio
from dataclasses import dataclass, field

import pytest

from proxy.shell.stores.beats import Beats, Patience
from proxy.shell.stores.protocol import StoreDown


class Enough(BaseException):
    """The test has seen what it wanted."""


@dataclass
class World:
    """A store and a clock that only a sleep moves."""

    until: float
    now: float = 0.0
    down: tuple[float, float] = (0.0, 0.0)
    busy: bool = True
    living: tuple[tuple[float, int], ...] = ((0, 3),)
    """From when on how many."""
    beats: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    async def beat(self, worker: str) -> int:
        if self.down[0] <= self.now < self.down[1]:
            raise StoreDown("away") if self.now % 2 else OSError("odd")
        self.beats.append(self.now)
        return [many for since, many in self.living if since <= self.now][-1]

    async def leave(self, worker: str) -> None:
        self.left.append(worker)

    async def sleep(self, seconds: float) -> None:
        if self.now >= self.until:
            raise Enough
        self.now += seconds


async def run(world: World) -> tuple[Beats, Patience]:
    patience = Patience(lambda: world.now)
    beats = Beats(
        world,
        "w",
        patience,
        lambda: world.busy,
        lambda failure: world.failures.append(str(failure)),
        world.sleep,
        living=4,
    )  # type: ignore[arg-type]
    with pytest.raises(Enough):
        await beats.run()
    return beats, patience


async def test_a_worker_beats_every_five_seconds_while_it_owns_anything() -> None:
    busy, idle = World(until=30), World(until=30, busy=False)
    beats, _ = await run(busy)
    await run(idle)
    assert (busy.beats, idle.beats) == ([0, 5, 10, 15, 20, 25, 30], [0, 15, 30])
    await beats.leave()
    assert busy.left == ["w"]


async def test_no_error_ends_it_and_an_outage_is_told_once() -> None:
    world = World(until=60, down=(12, 40))
    await run(world)
    assert world.beats[:3] == [0, 5, 10]
    assert 40 <= world.beats[3] <= 45
    assert len(world.failures) == 1


@pytest.mark.parametrize(("until", "may"), [(40, False), (45, True), (300, True)])
async def test_nobody_buries_in_its_first_lease(until: float, may: bool) -> None:
    world = World(until=until)
    _, patience = await run(world)
    assert patience.may_bury() is may


@pytest.mark.parametrize(("until", "may"), [(100, True), (110, False), (220, False), (270, True)])
async def test_nobody_buries_within_a_lease_after_an_outage(until: float, may: bool) -> None:
    """U29: nor during it."""
    world = World(until=until, down=(101, 221))
    _, patience = await run(world)
    world.now += 0 if may else 16
    assert patience.may_bury() is may


@pytest.mark.parametrize(
    ("living", "down", "until", "known"),
    [
        pytest.param(((0, 9),), (0, 100), 90, 4, id="never heard"),
        pytest.param(((0, 1),), (0, 0), 40, 4, id="others may not have said yet that they live"),
        pytest.param(((0, 1),), (0, 0), 45, 1, id="by now they would have"),
        pytest.param(((0, 5),), (0, 0), 0, 5, id="more than thought"),
        pytest.param(((0, 6), (60, 2)), (0, 0), 60, 2, id="fewer than before"),
        pytest.param(((0, 6), (100, 1)), (61, 161), 165, 6, id="after an outage all leases are over"),
        pytest.param(((0, 6), (100, 1)), (61, 161), 215, 1, id="long after an outage"),
    ],
)
async def test_u52_nobody_is_taken_for_dead_who_may_not_be_buried(
    living: tuple[tuple[float, int], ...], down: tuple[float, float], until: float, known: int
) -> None:
    beats, _ = await run(World(until, down=down, living=living))
    assert beats.living == known


async def test_who_was_frozen_knows_nothing_of_the_others() -> None:
    """U29."""
    world = World(until=100)
    _, patience = await run(world)
    assert patience.may_bury()
    world.now += 40
    assert not patience.may_bury()
    patience.heard()
    assert not patience.may_bury()
    for _ in range(9):
        world.now += 5
        patience.heard()
    assert patience.may_bury()


async def test_who_never_beat_buries_nobody() -> None:
    assert not Patience(lambda: 1e9).may_bury()
    await asyncio.sleep(0)
