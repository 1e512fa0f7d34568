"""A proxy whose store fails when the test wants it to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from proxy import app
from proxy.shell.stores.protocol import StoreDown
from proxy.storage import Storage


class Failing:
    """An engine that is down in the methods that the test names."""

    def __init__(self) -> None:
        self.engine: Any = None
        self.down: set[str] = set()
        self.asked: list[str] = []
        self.words: list[tuple[Any, ...]] = []
        """With which words it was asked each time."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self.engine, name)

        async def ask(*args: Any, **named: Any) -> Any:
            self.asked.append(name)
            self.words.append(args)
            if name in self.down:
                raise StoreDown("as the test wants it")
            return await method(*args, **named)

        return ask


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """The records of all proxies that the test starts from now on."""
    return _failing(monkeypatch, "records")


@pytest.fixture
def failing_live(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """The logs and memos of all of them."""
    return _failing(monkeypatch, "live")


def _failing(monkeypatch: pytest.MonkeyPatch, part: str) -> Failing:
    failing, before = Failing(), app.storage_of

    @asynccontextmanager
    async def storage(*args: Any) -> AsyncIterator[Storage]:
        async with before(*args) as made:
            failing.engine = getattr(made, part)
            yield replace(made, **{part: failing})

    monkeypatch.setattr(app, "storage_of", storage)
    return failing


async def gathered(*work: Awaitable[Any]) -> list[Any]:
    return list(await asyncio.gather(*work))


@dataclass
class Date:
    """What the proxy takes for the date."""

    seconds: float = 1_700_000_000.0

    def time(self) -> float:
        return self.seconds


@pytest.fixture
def date(monkeypatch: pytest.MonkeyPatch) -> Date:
    """By which the stores go of all proxies that the test starts from now on."""
    date = Date()
    monkeypatch.setattr("proxy.storage.time", date)
    return date
