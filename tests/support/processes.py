"""Servers in processes of their own, for tests that need the real thing: started once, ready when they say so."""

import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
URL = re.compile(r"http://[\w.:\[\]]+")
STOP_SECONDS = 10


@contextmanager
def serving(
    *arguments: str | Path, lines: Path | None = None, python: str | Path = sys.executable
) -> Iterator[str]:
    """Run Python with these arguments until the block ends; the value is the first URL that it prints. What it logs
    is written to `lines`, if anybody wants to read it."""
    opening = lines.open if lines else tempfile.TemporaryFile
    with opening("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [python, *arguments],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("PROXY_")},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
        )
        try:
            yield _announced_url(process, log)
        finally:
            process.terminate()
            try:
                process.communicate(timeout=STOP_SECONDS)
            finally:
                process.kill()  # no-op for one that has stopped, as it should have


def _announced_url(process: subprocess.Popen[str], log: IO[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := URL.search(line):
            return found[0]
    log.seek(0)
    raise AssertionError(f"it ended without saying where it listens:\n{log.read()}")


@contextmanager
def no_more_files() -> Iterator[None]:
    """The process has as many as it may have."""
    with socket.socket() as next_one:
        number = next_one.fileno()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def free_port() -> int:
    """Nobody listens there just now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
