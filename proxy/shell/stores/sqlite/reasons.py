"""Why a file of SQLite cannot be used: which failure the caller is told, in words that say what to do."""

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

from proxy.shell.stores.protocol import StoreDown, StoreReplaced, StoreUnreadable

DAMAGED: Final = (
    "{path} {what}. Nothing is read or written there any more. Stop the proxy, put the file back"
    " (`responses-proxy store backup` makes copies) or move it away, and start again."
)
FORBIDDEN: Final = (
    "{path} must not be read and written by this user ({what}). Make it this user's, with all files beside it, or name"
    " another directory in store.url."
)
NO_RIGHTS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
UNMAKEABLE: Final = "{path} cannot be made ({what}). Name another directory in store.url."
NO_PLACE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP})
"""The path is wrong, and stays so; a disk that is full does not."""


def reason(path: Path, failure: BaseException, *, opening: bool = False) -> BaseException:
    if opening and _is_forbidden(path, failure):
        return StoreUnreadable(FORBIDDEN.format(path=path, what=failure))
    if isinstance(failure, sqlite3.DatabaseError):
        code = getattr(failure, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            kind = StoreUnreadable if opening else StoreReplaced
            return kind(DAMAGED.format(path=path, what=f"is damaged ({failure})"))
        return StoreDown(f"{path}: {failure}")
    if isinstance(failure, OSError):
        what = failure.strerror or failure
        if opening and failure.errno in NO_PLACE:
            return StoreUnreadable(UNMAKEABLE.format(path=path, what=what))
        return StoreDown(f"{path}: {what}")
    return failure


def _is_forbidden(path: Path, failure: BaseException) -> bool:
    """Waiting does not help. SQLite has one word for all that keeps it from opening a file."""
    if isinstance(failure, OSError):
        return failure.errno in NO_RIGHTS
    code = getattr(failure, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return path.exists() and not (path.is_file() and os.access(path, os.R_OK | os.W_OK))
    return code == sqlite3.SQLITE_PERM
