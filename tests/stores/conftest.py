"""All engines of the store, each asked the same."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.sqlite.live import SqliteLive
from proxy.shell.stores.sqlite.records import SqliteRecords
from tests.support.stores import SHORT_LOG, InTurn, Remote, Settings, Terms


@pytest.fixture
def terms() -> Terms:
    return Terms()


ENGINES = ("memory", "sqlite", "sqlite in two processes")


@pytest.fixture(params=ENGINES)
async def live(request: pytest.FixtureRequest, terms: Terms, tmp_path: Path) -> AsyncIterator[Any]:
    engine = make_live(request.param, terms, tmp_path / "live.db")
    await engine.open()
    yield engine
    await engine.close()


@pytest.fixture(params=ENGINES)
async def records(request: pytest.FixtureRequest, terms: Terms, tmp_path: Path) -> AsyncIterator[Any]:
    engine = make_records(request.param, terms, tmp_path / "state.db")
    await engine.open()
    yield engine
    await engine.close()


def make_records(kind: str, terms: Terms, path: Path) -> Any:
    if kind == "memory":
        return MemoryRecords(terms.clock, Settings(terms), terms.may_bury)
    engine = SqliteRecords(path, terms.clock, Settings(terms), terms.may_bury)
    return engine if kind == "sqlite" else InTurn(engine, Remote("records", path, terms))


def make_live(kind: str, terms: Terms, path: Path) -> Any:
    if kind == "memory":
        return MemoryLive(terms.clock, SHORT_LOG)
    engine = SqliteLive(path, terms.clock, SHORT_LOG)
    return engine if kind == "sqlite" else InTurn(engine, Remote("live", path, terms))
