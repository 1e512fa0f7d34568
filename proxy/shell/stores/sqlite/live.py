"""What may vanish, in a file of SQLite. It is written without waiting for the disk: all of it may vanish."""

from pathlib import Path

from proxy.shell.stores.logs import MOST_LOG_BYTES
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql.live import SqlLive
from proxy.shell.stores.sql.live_steps import MOST_MEMO_BYTES
from proxy.shell.stores.sql.tables import LIVE
from proxy.shell.stores.sqlite.file import SqliteFile
from proxy.shell.stores.terms import Clock


class SqliteLive(SqlLive):
    def __init__(
        self,
        path: Path,
        clock: Clock,
        most_log_bytes: int = MOST_LOG_BYTES,
        most_memo_bytes: int = MOST_MEMO_BYTES,
        seals: Seals = NO_SEALS,
    ) -> None:
        file = SqliteFile(path, LIVE, durable=False)
        super().__init__(file, clock, most_log_bytes, most_memo_bytes, seals)
