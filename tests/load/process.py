"""Servers in processes of their own, and what they cost, read from /proc."""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
URL = re.compile(r"http://[\w.:\[\]]+")
START_SECONDS = 60
STOP_SECONDS = 40
NANOSECONDS = 1e9
KIB_PER_MIB = 1024


class Server:
    """Runs until the block ends; `url` is the first that it prints."""

    def __init__(
        self, *command: str | Path, core: int | None = None, url: str = "", **variables: str
    ) -> None:
        """`core`: the only one that it gets. `url`: where it will listen, if it does not print it."""
        self._command = [str(part) for part in command]
        self._core = core
        self._told_url = url
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PROXY_")
        } | variables
        self.log = tempfile.TemporaryFile("a+", encoding="utf-8")  # noqa: SIM115 - closed on leaving
        self.url = ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.log.close()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            env=self._environment,
            stdout=self.log if self._told_url else subprocess.PIPE,
            stderr=self.log,
            text=True,
            encoding="utf-8",
        )
        self.pid = self._process.pid
        if self._core is not None:
            os.sched_setaffinity(self.pid, {self._core})
        self.url = self._told_url or self._announced()

    def _announced(self) -> str:
        """Read as it comes, so that a server which says nothing is not waited for without an end."""
        assert self._process.stdout is not None
        out, said, late = self._process.stdout.fileno(), b"", time.monotonic() + START_SECONDS
        while select.select([out], [], [], max(0.0, late - time.monotonic()))[0]:
            if not (data := os.read(out, 4096)):
                break
            said += data
            if found := URL.search(said[: said.rfind(b"\n") + 1].decode()):
                return found[0]
        self._process.kill()
        raise SystemExit(f"It does not say where it listens: {self._command}\n{self.lines()}")

    def lines(self) -> str:
        self.log.seek(0)
        return self.log.read()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """As a crash: it says goodbye to nobody."""
        self._process.kill()
        self._process.communicate()

    def stop(self) -> int:
        self._process.terminate()
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        finally:
            self._process.kill()  # no-op for one that has stopped, as it should have
        return self._process.returncode


INTERRUPTED = 130


def ends_when_asked() -> None:
    """SIGTERM does what Ctrl-C does, once, also in the background: no server outlives the command that started it."""
    asked = False

    def ask(number: int, frame: object) -> None:
        nonlocal asked
        if not asked:  # a whole group is told, and some of it twice
            asked = True
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, ask)


def python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


# ── what a process and its children cost ──


def family(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        found.append(one := waiting.pop())
        for path in _tasks(one, "children"):
            waiting += map(int, path.read_text().split())
    return found


def workers_of(supervisor: int) -> list[int]:
    """In the order in which they were started."""
    return sorted(int(child) for path in _tasks(supervisor, "children") for child in path.read_text().split())


def _tasks(pid: int, name: str) -> Iterable[Path]:
    return Path(f"/proc/{pid}/task").glob(f"*/{name}")


def cpu_seconds(pid: int) -> float:
    """As exact as the scheduler's own account, and with the threads that have ended."""
    return sum(time.clock_gettime(_clock_of(each)) for each in family(pid))


def _clock_of(pid: int) -> int:
    """What `clock_getcpuclockid` gives for a process: Linux writes its number into that of the clock."""
    return (~pid << 3) | 2


def waited_seconds(pid: int) -> float:
    """For a core, while others had it: not its own fault."""
    waits = (path.read_text().split()[1] for each in family(pid) for path in _tasks(each, "schedstat"))
    return sum(map(int, waits)) / NANOSECONDS


def memory_mib(pid: int) -> float:
    """What is shared with others counts in part."""
    return sum(_pss_kib(each) for each in family(pid)) / KIB_PER_MIB


def _pss_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))
