"""What is kept of a key."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from proxy.cli import main

ROOT = Path(__file__).parents[2]


def hashed(*options: str, said: str = "") -> tuple[int, list[str], str]:
    command = [sys.executable, "-m", "proxy", "hash-key", *options]
    ended = subprocess.run(command, input=said, capture_output=True, text=True, cwd=ROOT, check=False)
    return ended.returncode, ended.stdout.splitlines(), ended.stderr


def test_what_is_kept_of_a_key_is_its_digest() -> None:
    """S03: the key is piped in or typed; as an argument it would stand in the list of processes."""
    assert hashed(said="sk-test\n") == (0, [sha256(b"sk-test").hexdigest()], "")
    with pytest.raises(SystemExit):
        main(["hash-key", "sk-test"])


def test_a_key_may_be_made_here() -> None:
    code, (key, digest), _ = hashed("--new")
    assert (code, digest) == (0, sha256(key.encode()).hexdigest())
    assert key != hashed("--new")[1][0]


def test_without_a_key_there_is_nothing_to_hash() -> None:
    code, lines, complaint = hashed(said="\n")
    assert (code, lines) == (2, [])
    assert "hash-key --new" in complaint
