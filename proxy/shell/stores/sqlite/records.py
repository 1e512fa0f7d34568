"""Records in a file of SQLite."""

from collections.abc import Callable
from pathlib import Path

from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql.records import SqlRecords
from proxy.shell.stores.sql.tables import RECORDS
from proxy.shell.stores.sqlite.file import SqliteFile
from proxy.shell.stores.terms import Clock, Keeping, always


class SqliteRecords(SqlRecords):
    def __init__(
        self,
        path: Path,
        clock: Clock,
        keeping: Keeping,
        may_bury: Callable[[], bool] = always,
        seals: Seals = NO_SEALS,
    ) -> None:
        self._file = SqliteFile(path, RECORDS, durable=True)
        super().__init__(self._file, clock, keeping, may_bury, seals)

    async def backup(self, target: Path) -> None:
        """A whole copy, while all write on; for a process of its own, as reads wait for it here. Other tools must not
        copy the file: they do not know the lock."""
        await self._file.copy(target)
