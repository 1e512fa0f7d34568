"""Why a file of SQLite cannot be used: which failure the caller is told, in words that say what to do."""

import sqlite3
from pathlib import Path
from typing import Final

from proxy.shell.stores.protocol import StoreDown, StoreReplaced, StoreUnreadable

DAMAGED: Final = (
    "{path} {what}. Nothing is read or written there any more. Stop the proxy, put the file back"
    " (`responses-proxy store backup` makes copies) or move it away, and start again."
)


def reason(path: Path, failure: BaseException, *, opening: bool = False) -> BaseException:
    if isinstance(failure, sqlite3.DatabaseError):
        code = getattr(failure, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            kind = StoreUnreadable if opening else StoreReplaced
            return kind(DAMAGED.format(path=path, what=f"is damaged ({failure})"))
        return StoreDown(f"{path}: {failure}")
    if isinstance(failure, OSError):
        return StoreDown(f"{path}: {failure.strerror or failure}")
    return failure
