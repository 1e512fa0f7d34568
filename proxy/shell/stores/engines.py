"""The engines themselves, at the place that was found for them.

Each is imported when it is chosen: what it needs may not be installed, and all of them take a megabyte.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proxy.shell.stores.location import Location, StoreKind
from proxy.shell.stores.postgres.address import Limits
from proxy.shell.stores.protocol import Live, Records
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.terms import Clock, Keeping

if TYPE_CHECKING:
    from proxy.shell.stores.redis.live import RedisLive
    from proxy.shell.stores.sqlite.live import SqliteLive

RECORDS_FILE: Final = "state.db"
LIVE_FILE: Final = "live.db"
MOST_MEMORY: Final = 256 << 20


def engines_at(
    location: Location,
    clock: Clock,
    keeping: Keeping,
    may_bury: Callable[[], bool],
    limits: Limits,
    seals: Seals = NO_SEALS,
) -> tuple[Records, Live] | None:
    """Memory is sealed by nothing: the keys lie beside it."""
    match location.kind:
        case StoreKind.SQLITE:
            assert location.directory is not None
            return _in_files(location.directory, clock, keeping, may_bury, seals)
        case StoreKind.POSTGRESQL:
            return _in_database(location, clock, keeping, may_bury, limits, seals)
        case StoreKind.MEMORY:
            return _in_memory(clock, keeping, may_bury)
        case StoreKind.OFF:
            return None


def about_engine(location: Location) -> dict[str, str]:
    """What the log says of it at the start."""
    if location.kind is not StoreKind.SQLITE:
        return {}
    import sqlite3

    from proxy.shell.stores.sqlite.schema import shortcoming

    told = {"engine": f"SQLite {sqlite3.sqlite_version}"}
    return told | {"caution": words} if (words := shortcoming()) else told


def _in_files(
    directory: Path, clock: Clock, keeping: Keeping, may_bury: Callable[[], bool], seals: Seals
) -> tuple[Records, Live]:
    from proxy.shell.stores.sqlite.records import SqliteRecords

    records = SqliteRecords(directory / RECORDS_FILE, clock, keeping, may_bury, seals)
    return records, live_in_file(directory, clock, seals)


def live_in_file(directory: Path, clock: Clock, seals: Seals = NO_SEALS) -> "SqliteLive":
    from proxy.shell.stores.sqlite.live import SqliteLive

    return SqliteLive(directory / LIVE_FILE, clock, seals=seals)


def _in_memory(clock: Clock, keeping: Keeping, may_bury: Callable[[], bool]) -> tuple[Records, Live]:
    from proxy.shell.stores.memory.live import MemoryLive
    from proxy.shell.stores.memory.records import MemoryRecords

    bounded = replace(keeping, most_bytes=min(keeping.most_bytes, MOST_MEMORY))
    return MemoryRecords(clock, bounded, may_bury), MemoryLive(clock)


def _in_database(
    location: Location,
    clock: Clock,
    keeping: Keeping,
    may_bury: Callable[[], bool],
    limits: Limits,
    seals: Seals,
) -> tuple[Records, Live]:
    from proxy.shell.stores.postgres.connections import ConnectionPool
    from proxy.shell.stores.postgres.live import PostgresLive
    from proxy.shell.stores.postgres.records import PostgresRecords
    from proxy.shell.stores.postgres.server_clock import ServerClock

    assert location.address is not None
    connections = ConnectionPool(location.address, limits)
    server = ServerClock(clock.steady)
    return (
        PostgresRecords(connections, server, keeping, may_bury, seals),
        PostgresLive(connections, server, seals=seals),
    )


def live_in_server(
    url: str, prefix: str, may_evict: Callable[[str], None], seals: Seals = NO_SEALS
) -> "RedisLive":
    from proxy.shell.stores.redis.live import RedisLive

    return RedisLive(url, prefix, may_evict, seals=seals)
