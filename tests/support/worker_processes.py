"""Processes of the proxy on one store, with short leases: to be stopped, frozen, killed, or struck while they write."""

import asyncio
import os
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import orjson
import pytest

from tests.support.background import FINAL, got
from tests.support.postgres import execute, fresh_url
from tests.support.programs import toml
from tests.support.proxies import LogLines, Proxy
from tests.support.sockets import ScriptedBackend

ROOT = Path(__file__).parents[2]
START_SECONDS = 60.0
SETTLED_SECONDS = 15.0
"""Some leases, and the patience of who has just started."""


class Worker(Proxy):
    process: asyncio.subprocess.Process
    lines: list[dict[str, Any]]
    """Its log, when it has ended."""

    async def ended(self) -> tuple[int | None, list[str]]:
        """Its status, and the events in its log."""
        async with asyncio.timeout(START_SECONDS):
            _, lines = await self.process.communicate()
        self.lines = [orjson.loads(line) for line in lines.splitlines()]
        return self.process.returncode, [line["event"] for line in self.lines]


class Workers:
    """All with the same settings."""

    def __init__(self, folder: Path, backend: ScriptedBackend, store: str = "") -> None:
        self.state = folder / "state"
        self.store = store or f"sqlite:{self.state}"
        self._config = folder / "proxy.toml"
        self._backend = backend
        self.stack = AsyncExitStack()
        self.set()

    def set(self, **sections: dict[str, Any]) -> None:
        """For those that start from now on."""
        always: dict[str, dict[str, Any]] = {
            "server": {"port": 0, "grace_seconds": 0.3, "patience_seconds": 0.1},
            "backend": {"url": self._backend.url, "profile": "default"},
            "store": {"url": self.store},
            "logs": {"format": "json"},
        }
        told = {name: always.get(name, {}) | sections.get(name, {}) for name in always | sections}
        self._config.write_text(toml(told), encoding="utf-8")

    async def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Of the tables of the store, which do not mind that somebody looks."""
        if self.store.startswith("postgresql"):
            connection = await asyncpg.connect(self.store)
            try:
                return [tuple(row) for row in await connection.fetch(statement)]
            finally:
                await connection.close()
        with closing(sqlite3.connect(f"file:{self.state}/state.db?mode=ro", uri=True)) as file:
            return file.execute(statement).fetchall()

    async def change(self, statement: str) -> None:
        """Of one row, by hand."""
        if self.store.startswith("postgresql"):
            return await execute(self.store, statement)
        with closing(sqlite3.connect(self.state / "state.db", isolation_level=None)) as file:
            assert file.execute(statement).rowcount == 1

    async def start(self, *options: str, **struck: str) -> Worker:
        return await self.stack.enter_async_context(working(self._config, *options, **struck))


@asynccontextmanager
async def working(config: Path, *options: str, **struck: str) -> AsyncIterator[Worker]:
    """`struck`: see `hasty_proxy`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.hasty_proxy", "serve", "--config", str(config), *options,
        cwd=ROOT, env={**os.environ, **struck}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS) as limit, aiohttp.ClientSession() as session:
            found = None
            while found is None:
                line = (await process.stdout.readline()).decode()
                assert line, "it ended"
                found = re.search(r"http://[\d.:]+", line)
            worker = Worker(found[0], LogLines(), session)
            worker.process = process
            limit.reschedule(None)
            yield worker
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
            await process.communicate()


@pytest.fixture(params=["sqlite", "postgresql"])
async def workers_of_each_engine(
    request: pytest.FixtureRequest, backend: ScriptedBackend, tmp_path: Path
) -> AsyncIterator[Workers]:
    """On one machine, or on several that share a database."""
    workers = Workers(tmp_path, backend, await fresh_url() if request.param == "postgresql" else "")
    async with workers.stack:
        yield workers


@pytest.fixture
async def workers(backend: ScriptedBackend, tmp_path: Path) -> AsyncIterator[Workers]:
    workers = Workers(tmp_path, backend)
    async with workers.stack:
        yield workers


async def settled(proxy: Proxy, id: str) -> dict[str, object]:
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            _, found = await got(proxy, id)
            if found["status"] in FINAL:
                return dict(found)
            await asyncio.sleep(0.1)
