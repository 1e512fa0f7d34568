"""What is told of a file that fails: another word for what only a person can mend."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from proxy.shell.stores.protocol import StoreDown, StoreReplaced, StoreUnreadable
from proxy.shell.stores.sqlite.reasons import reason
from tests.support.stores import sqlite_at

PATH = Path("/kept/state.db")


def not_a_file_of_sqlite(path: Path) -> sqlite3.Error:
    path.write_bytes(b"x" * 1000)
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.Error) as raised:
        connection.execute("pragma journal_mode = wal")
    connection.close()
    return raised.value


def test_a_damaged_file_is_for_a_person_to_mend(tmp_path: Path) -> None:
    failure = not_a_file_of_sqlite(tmp_path / "state.db")
    for opening, kind in ((True, StoreUnreadable), (False, StoreReplaced)):
        told = reason(PATH, failure, opening=opening)
        assert type(told) is kind
        assert str(told).startswith("/kept/state.db is damaged (file is not a database). Nothing is read")


def test_what_may_come_back_is_down() -> None:
    for failure in (sqlite3.OperationalError("disk I/O error"), OSError(28, "No space left on device")):
        told = reason(PATH, failure)
        assert type(told) is StoreDown
        assert str(told) == f"/kept/state.db: {failure.args[-1]}"


def test_what_is_no_failure_of_the_file_stays_what_it_is() -> None:
    failure = KeyError("item")
    assert reason(PATH, failure) is failure


class Failure(sqlite3.OperationalError):
    def __init__(self, code: int) -> None:
        super().__init__("unable to open database file")
        self.sqlite_errorcode = code


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_who_has_no_rights_has_none_later(number: int) -> None:
    """A process that has begun goes on all the same: somebody may be about to mend it."""
    failure = OSError(number, os.strerror(number))
    told = reason(PATH, failure, opening=True)
    assert type(told) is StoreUnreadable
    assert "Make it this user's" in str(told)
    assert type(reason(PATH, failure)) is StoreDown


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP])
def test_a_wrong_path_stays_wrong(number: int) -> None:
    """`/proc/nowhere` does not come into being by being tried again."""
    failure = OSError(number, os.strerror(number))
    told = reason(PATH, failure, opening=True)
    assert type(told) is StoreUnreadable
    assert str(told).endswith(f"cannot be made ({os.strerror(number)}). Name another directory in store.url.")
    assert type(reason(PATH, failure)) is StoreDown, "what was opened once may come back"


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY])
def test_sqlite_does_not_say_why_it_cannot_open_a_file(
    tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    assert type(reason(path, Failure(code), opening=True)) is StoreDown, "there is no file yet"
    path.touch()
    assert type(reason(path, Failure(code), opening=True)) is StoreDown, (
        "too many files are open, or the like"
    )
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may do anything
    assert type(reason(path, Failure(code), opening=True)) is StoreUnreadable
    assert type(reason(path, Failure(sqlite3.SQLITE_PERM), opening=True)) is StoreUnreadable


async def test_a_store_that_must_not_be_opened_ends_the_start(tmp_path: Path) -> None:
    """U63: a directory in the place of the file is one that nobody can open."""
    (tmp_path / "state.db").mkdir()
    with pytest.raises(StoreUnreadable, match="must not be read and written by this user"):
        await sqlite_at(tmp_path / "state.db").open()
