"""The proxy as a program of its own, started as its users start it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from proxy import demo
from proxy.core import jsontext
from tests.support.processes import ROOT, URL, serving
from tests.support.sockets import ScriptedBackend

PROXY = """
[backend]
url = "{url}"
profile = "{profile}"
"""


@contextmanager
def proxying(backend_url: str, place: Path, settings: str = "") -> Iterator[str]:
    """The proxy's own address, without /v1. The settings are TOML, from a table on."""
    config = place / "proxy.toml"
    told = PROXY.format(url=backend_url, profile=demo.PROFILE)
    config.write_text(told + settings, encoding="utf-8")
    with serving("-m", "proxy", "serve", "--port", "0", "--config", config) as url:
        yield url


SECONDS = 20.0
"""For a process to start, or to stop, on a machine with much to do."""


class Process:
    """`responses-proxy serve`, and what it has written so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.written = bytearray()
        self.url = ""

    async def read(self) -> None:
        assert self._process.stdout is not None
        while data := await self._process.stdout.read(65536):
            self.written += data

    async def announced(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(SECONDS):
            while line := await self._process.stdout.readline():
                self.written += line
                if found := URL.search(line.decode()):
                    return found[0]
        raise AssertionError(self.written.decode())

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def ended(self) -> int:
        async with asyncio.timeout(SECONDS):
            return await self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None


@asynccontextmanager
async def served(
    behind: ScriptedBackend, folder: Path, *, port: int = 0, program: str = "proxy", **sections: Any
) -> AsyncIterator[Process]:
    sections["server"] = {"port": port} | sections.get("server", {})
    sections["backend"] = {"url": behind.url, "profile": "default"} | sections.get("backend", {})
    config = folder / "proxy.toml"
    config.write_text(toml(sections), encoding="utf-8")
    async with started(sys.executable, "-m", program, "serve", "--config", config) as process:
        yield process


@asynccontextmanager
async def started(
    *command: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    """Runs what says where it listens. Both of its outputs are one pipe: nothing is looked at twice, nothing missed.
    `env` comes on top of what all have."""
    process = Process(
        await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={name: value for name, value in os.environ.items() if not name.startswith("PROXY_")}
            | dict(env or {}),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    )
    process.url = await process.announced()
    async with asyncio.TaskGroup() as group:
        group.create_task(process.read())
        try:
            yield process
        finally:
            if process.alive:
                process.signal(signal.SIGKILL)
            await process.ended()


def toml(sections: dict[str, Any], above: str = "") -> str:
    lines = [f"[{above.strip('.')}]"] if above else []
    tables = []
    for name, value in sections.items():
        if isinstance(value, dict):
            tables.append(toml(value, f"{above}{name}."))
        else:
            lines.append(f"{name} = {jsontext.compact(value)}")
    return "\n".join([*lines, *tables])
