"""What is told of a file that fails: another word for what only a person can mend."""

import sqlite3
from pathlib import Path

import pytest

from proxy.shell.stores.protocol import StoreDown, StoreReplaced, StoreUnreadable
from proxy.shell.stores.sqlite.reasons import reason

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
