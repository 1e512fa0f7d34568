"""The sweeper: a little at a time, with long rests, and whatever goes wrong it comes back in a minute."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from proxy.core.stored.record import Record, Status
from proxy.shell.stores.protocol import Key, RecordUnreadable, StoreDown, Swept
from proxy.shell.stores.sweeper import AT_ONCE, Sweeper


class Enough(BaseException):
    pass


@dataclass
class World:
    until: float
    dead: int = 0
    expired: int = 0
    early: int = 0
    logs: int = 0
    down: bool = False
    streamed: bool = False
    unreadable: int = 0
    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    told: list[tuple[Any, ...]] = field(default_factory=list)

    def take(self, name: str, most: int) -> int:
        self.now += 0.01
        if self.down:
            raise StoreDown("away")
        taken = min(most, getattr(self, name))
        setattr(self, name, getattr(self, name) - taken)
        return taken

    async def settle(self, most: int) -> list[Key]:
        return [Key("t", "r")] * self.take("dead", most)

    async def get(self, tenant: str, id: str) -> Record:
        if self.unreadable:
            self.unreadable -= 1
            raise RecordUnreadable(id)
        return Record(id, Status.FAILED, 0, "m", streamed=self.streamed)

    async def sweep(self, most: int) -> Swept:
        return Swept(self.take("expired", most), self.take("early", most))

    async def settled(self, keys: Sequence[Key]) -> None:
        self.told.append(("settled", len(keys)))

    def swept(self, kind: str, count: int) -> None:
        if count:
            self.told.append((kind, count))

    def failed(self, failure: Exception) -> None:
        self.told.append(("failed", str(failure)))

    async def sleep(self, seconds: float) -> None:
        if self.now >= self.until:
            raise Enough
        self.slept.append(seconds)
        self.now += seconds


class Logs:
    def __init__(self, world: World) -> None:
        self._world = world

    async def sweep(self, most: int) -> int:
        return self._world.take("logs", most)

    async def shut(self, key: Key) -> int:
        raise StoreDown("where the events are kept is away")


async def run(world: World) -> None:
    with pytest.raises(Enough):
        await Sweeper(world, Logs(world), world, lambda: world.now, world.sleep).run()  # type: ignore[arg-type]


async def test_it_takes_all_in_small_portions_and_rests_ten_times_as_long() -> None:
    """U59."""
    world = World(until=65, dead=60, expired=120, early=10, logs=51)
    await run(world)
    assert AT_ONCE == 50
    assert world.told == [
        ("settled", 50),
        ("settled", 10),
        ("expired", 50),
        ("early", 10),
        ("expired", 50),
        ("expired", 20),
        ("live", 50),
        ("live", 1),
    ]
    assert world.slept[0] == 60
    assert [round(seconds, 3) for seconds in world.slept[1:8]] == [0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1]


async def test_the_dead_are_settled_while_their_events_are_away() -> None:
    """U24."""
    world = World(until=65, dead=3, expired=1, streamed=True)
    await run(world)
    assert world.told == [("settled", 3), ("expired", 1)]


async def test_what_cannot_be_read_does_not_end_the_round() -> None:
    """U61."""
    world = World(until=65, dead=3, expired=1, unreadable=2)
    await run(world)
    assert world.told == [("settled", 3), ("expired", 1)]


async def test_an_error_ends_one_round() -> None:
    world = World(until=60, expired=1, down=True)
    await run(world)
    assert world.told == [("failed", "away")]
    world.down, world.until = False, 300
    await run(world)
    assert ("expired", 1) in world.told
