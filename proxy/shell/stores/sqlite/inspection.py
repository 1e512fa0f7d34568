"""One look at a file of SQLite, for commands beside the proxies that use it: nothing is made, migrated or changed."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from proxy.shell.stores.sql.census_steps import CensusSteps, Inspected
from proxy.shell.stores.sql.step import Result, Step
from proxy.shell.stores.sql.tables import RECORDS, Schema
from proxy.shell.stores.sqlite.file import carry_out
from proxy.shell.stores.sqlite.lock import FileLock
from proxy.shell.stores.sqlite.reasons import reason
from proxy.shell.stores.sqlite.schema import refuse_old_sqlite, version_in
from proxy.shell.stores.sqlite.space import used_bytes

HAS_TABLES: Final = "select 1 from sqlite_schema where name = 'about'"


def inspect(path: Path, steps: CensusSteps, tenant: str | None, patience: float) -> Inspected | None:
    """Counts what is kept in a file of records: of all tenants, or of one."""

    def count(version: int) -> Step[Inspected]:
        used, census = (yield from used_bytes()), (yield from steps.census(tenant))
        return Inspected(version, used, census, f"SQLite {sqlite3.sqlite_version}")

    return look(path, RECORDS, count, patience)


def prove(path: Path, schema: Schema, patience: float) -> None:
    """Raises what `look` raises."""

    def read(version: int) -> Step[int]:
        yield "pragma schema_version", ()
        return version

    look(path, schema, read, patience)


def look(path: Path, schema: Schema, step: Callable[[int], Step[Result]], patience: float) -> Result | None:
    """Asks what only reads; it is given the version of the tables. None: nothing was ever kept there. Raises
    StoreUnreadable, or StoreDown, as when somebody has the lock for longer than `patience` in seconds."""
    refuse_old_sqlite()
    try:
        if not path.exists():
            return None
        with _connected(path, patience) as connection:
            connection.execute("begin")
            if connection.execute(HAS_TABLES).fetchone() is None:
                return None
            return carry_out(connection, step(version_in(connection, schema, str(path))))
    except (sqlite3.Error, OSError) as failure:
        raise reason(path, failure, opening=True) from failure


@contextmanager
def _connected(path: Path, patience: float) -> Iterator[sqlite3.Connection]:
    """Opening and closing need the lock, reading does not."""
    with closing(FileLock(path.with_name(f"{path.name}.lock"))) as lock:
        with lock.held(patience):
            connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None)
            connection.execute("pragma query_only = on")
        try:
            yield connection
        finally:
            with lock.held(patience):
                connection.close()
