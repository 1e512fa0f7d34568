"""A load on paper: `python -m tests.load.scale` prints what 100 nodes with 10,000 streams each ask of their store.

Arithmetic, from a fleet that is made up, from the times that the code has, and from what one command costs the
processors of a server (`unit_costs` measures that). The page on scale shows the same tables.
"""

import random  # noqa: TID251 - families at random, from a fixed seed
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.core.ids import Mint
from proxy.settings.store import StoreSettings
from proxy.shell.runs.log_writer import MOST_ROWS, PAUSE_SECONDS
from proxy.shell.runs.runs import HEAR_SECONDS
from proxy.shell.stores.beats import BUSY_SECONDS
from proxy.shell.stores.keys import family_of

DAY = 86_400
HEX = 16
KILO = 1000


@dataclass(frozen=True)
class Fleet:
    """Who asks, and for what."""

    nodes: int = 100
    streams: int = 10_000
    """Open on each."""
    workers: int = 4
    """On each."""
    stream_seconds: float = 20.0
    stored: float = 0.3
    """Of all responses, and so on."""
    background: float = 0.02
    continuing: float = 1 / 3
    ancestors: int = 10
    """Of each that continues."""
    turn_bytes: int = 20_000
    log_row_bytes: int = 100
    """Packed."""

    @property
    def responses(self) -> float:
        """In a second, as all that follow."""
        return self.nodes * self.streams / self.stream_seconds

    @property
    def processes(self) -> int:
        return self.nodes * self.workers

    @property
    def logs(self) -> float:
        """Open at the same time."""
        return self.responses * self.background * self.stream_seconds


@dataclass(frozen=True)
class Costs:
    """Milliseconds of a server's processors for one command, as `unit_costs` measured them on two quiet cores."""

    take: float
    log_row: float
    save: float = 0.0
    chain: float = 0.0
    beat: float = 0.0


IN_POSTGRES = Costs(take=0.075, log_row=0.013, save=0.06, chain=0.35, beat=0.12)
IN_REDIS = Costs(take=0.02, log_row=0.01)


@dataclass(frozen=True)
class Load:
    name: str
    commands: float
    """In a second."""
    bytes: float = 0.0
    """In a second."""
    cores: float = 0.0
    """Of the server."""


def loads(fleet: Fleet, costs: Costs) -> list[Load]:
    saves = fleet.responses * fleet.stored
    chains = fleet.responses * fleet.continuing
    rows = fleet.logs / PAUSE_SECONDS
    statements = max(fleet.processes / PAUSE_SECONDS, rows / MOST_ROWS)
    signs = fleet.processes * (1 / BUSY_SECONDS + 1 / HEAR_SECONDS)
    asked = (
        ("saves", saves, saves * fleet.turn_bytes, saves * costs.save),
        ("chains read", chains, chains * fleet.ancestors * fleet.turn_bytes, chains * costs.chain),
        ("limits", fleet.responses, 0.0, fleet.responses * costs.take),
        ("log statements", statements, rows * fleet.log_row_bytes, rows * costs.log_row),
        ("beats and polls", signs, 0.0, signs * costs.beat),
    )
    return [Load(name, commands, size, work / KILO) for name, commands, size, work in asked]


def kept_bytes(fleet: Fleet, days: float) -> float:
    return fleet.responses * fleet.stored * fleet.turn_bytes * DAY * days


def connections(fleet: Fleet) -> int:
    most: int = StoreSettings().connections
    return fleet.processes * most


# ── shards ──

SHARDS = HEX**2
"""A family's first two digits."""


def shard_of(id: str) -> int:
    return int(family_of(id)[:2], HEX)


def busiest(databases: int, families: int, turns: Sequence[int]) -> float:
    """How much more the busiest database has than the mean of all, when each family has so many turns, in turn."""
    chance = random.Random(1)
    mint = Mint(lambda size: f"{chance.getrandbits(8 * size):0{2 * size}x}")
    found: Counter[int] = Counter()
    for number in range(families):
        found[shard_of(mint.conversation()) % databases] += turns[number % len(turns)]
    return max(found.values()) / (found.total() / databases)


# ── telling ──


def table(fleet: Fleet) -> str:
    lines = [
        "| | each second | bytes each second | cores of PostgreSQL | or of Redis |",
        "|---|---|---|---|---|",
    ]
    for load, other in zip(loads(fleet, IN_POSTGRES), loads(fleet, IN_REDIS), strict=True):
        cells = (
            load.name,
            f"{load.commands:,.0f}",
            _size(load.bytes) if load.bytes else "–",
            f"{load.cores:.1f}",
            f"{other.cores:.1f}" if other.cores else "–",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def summary(fleet: Fleet) -> str:
    cores = sum(load.cores for load in loads(fleet, IN_POSTGRES))
    return (
        f"{_size(kept_bytes(fleet, 1))} a day, {_size(kept_bytes(fleet, 30))} in 30 days, "
        f"{connections(fleet):,} connections, "
        f"{fleet.responses / cores:,.0f} responses a second for each core"
    )


def _size(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if number < KILO:
            return f"{number:.3g} {unit}"
        number /= KILO
    return f"{number:.3g} TB"


if __name__ == "__main__":
    sys.stdout.write(f"{table(Fleet())}\n{summary(Fleet())}\n")
