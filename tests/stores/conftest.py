"""All engines of the store, each asked the same."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import fresh_url
from tests.support.stores import Terms, make_live, make_records


@pytest.fixture
def terms() -> Terms:
    return Terms()


ENGINES = (
    "memory",
    "sqlite",
    "sqlite in two processes",
    "sealed sqlite",
    "sealed sqlite in two processes",
    "postgresql",
    "postgresql in two processes",
    "sealed postgresql",
)


async def where(kind: str, file: Path) -> Any:
    return await fresh_url() if "postgresql" in kind else file


@pytest.fixture(params=(*ENGINES, "redis", "sealed redis"))
async def live(request: pytest.FixtureRequest, terms: Terms, tmp_path: Path) -> AsyncIterator[Any]:
    engine = make_live(request.param, terms, await where(request.param, tmp_path / "live.db"))
    await engine.open()
    yield engine
    await engine.close()


@pytest.fixture(params=ENGINES)
async def records(request: pytest.FixtureRequest, terms: Terms, tmp_path: Path) -> AsyncIterator[Any]:
    engine = make_records(request.param, terms, await where(request.param, tmp_path / "state.db"))
    await engine.open()
    yield engine
    await engine.close()
