"""The lock beside a file: one at a time, whichever process."""

import subprocess
import sys
from pathlib import Path

import pytest

from proxy.shell.stores.sqlite.lock import FileLock

TRY = """
import fcntl, sys
try:
    fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(1)
"""


def is_free(path: Path) -> bool:
    return subprocess.run([sys.executable, "-c", TRY, str(path)], check=False).returncode == 0


def test_nobody_else_has_it_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = FileLock(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert is_free(path)
    with lock.held():
        assert not is_free(path)
    assert is_free(path)
    lock.close()


def test_who_waits_for_so_long_only_gives_up(tmp_path: Path) -> None:
    mine, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    with other.held(), pytest.raises(TimeoutError, match="another process holds its lock"), mine.held(0.05):
        pass
    mine.close()
    assert is_free(tmp_path / "lock"), "it does not get it later, either"
    with other.held(20):
        assert not is_free(tmp_path / "lock")
    other.close()
