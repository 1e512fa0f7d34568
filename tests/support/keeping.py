"""The whole proxy with a store behind it, which the test fills by itself, counts the questions of, and takes away."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from proxy.core.tenants import ANYBODY
from proxy.shell.stores.location import locate
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.sqlite.records import SqliteRecords
from proxy.storage import Storage
from tests.support.proxies import Proxy, StartProxy
from tests.support.stores import Terms

TENANT = ANYBODY.name
WORKER = "w"
NOW = 1_700_000_000


class Watched:
    """An engine, and what it was asked. It fails if it is told to."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.asked: list[str] = []
        self.failure: Exception | None = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def ask(*args: Any, **named: Any) -> Any:
            self.asked.append(name)
            if self.failure is not None:
                raise self.failure
            return await getattr(self._engine, name)(*args, **named)

        return ask


@dataclass
class Answer:
    status: int
    body: Any
    headers: Any

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.body["error"]
        return error

    @property
    def refusal(self) -> tuple[int, str | None, str | None]:
        return self.status, self.error["code"], self.error["param"]

    @property
    def ids(self) -> list[str]:
        return [item["id"] for item in self.body["data"]]


@dataclass
class Keeping:
    proxy: Proxy
    records: Any
    """To be asked beside the proxy: this is not counted."""
    watched: Watched
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """`body`: bytes go as they are, all else as JSON."""
        data = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        said = {"Content-Type": "application/json"} if data else {}
        async with self.proxy.session.request(
            method,
            f"{self.proxy.url}/v1{path}",
            data=None if data is None else BytesIO(data),
            headers=said | self.headers | headers,
            skip_auto_headers=["Content-Type"],
        ) as response:
            return Answer(response.status, orjson.loads(await response.read()), response.headers)


StartKeeping = Callable[..., Awaitable[Keeping]]

both = pytest.mark.parametrize("records", ["memory", "sqlite"], indirect=True)
"""Asked of two engines. All else is asked of the one in memory."""


@pytest.fixture
async def records(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    terms = Terms()
    if getattr(request, "param", "memory") == "memory":
        engine: Any = MemoryRecords(terms.clock, terms.keeping)
    else:
        engine = SqliteRecords(tmp_path / "state.db", terms.clock, terms.keeping)
    await engine.open()
    yield engine
    await engine.close()


def keep_in(patch: pytest.MonkeyPatch, records: Any) -> None:
    """All proxies that are started from now on keep what they keep there."""

    @asynccontextmanager
    async def storage(*args: Any) -> AsyncIterator[Storage]:
        terms = Terms()
        yield Storage(locate("memory:", 1, {}, ""), records, MemoryLive(terms.clock), WORKER)

    patch.setattr("proxy.app.storage_of", storage)
    patch.setattr("proxy.app._now", lambda: NOW + 0.5)


@pytest.fixture
def start_keeping(records: Any, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch) -> StartKeeping:
    """Starts a proxy with these records; sections of settings by name."""
    watched = Watched(records)

    async def start(**sections: dict[str, Any]) -> Keeping:
        keep_in(monkeypatch, watched)
        return Keeping(await start_proxy(**sections), records, watched)

    return start


@pytest.fixture
async def keeping(start_keeping: StartKeeping) -> Keeping:
    return await start_keeping()
