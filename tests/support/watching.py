"""Watchers of tests, and proxies that have them."""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proxy import app
from proxy.core.errors import Fault
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.shell.ops.logs import Log, make_log
from proxy.shell.watching.content import Content, ContentRoom
from proxy.shell.watching.watch import Attempt, Watch
from proxy.shell.watching.watchers import Watcher, Watchers
from tests.support.replies import counting_mint
from tests.support.sockets import PROMPTLY

ROOM = 1 << 20


class Onlooker:
    """Keeps all that it is handed."""

    name = "onlooker"
    keep = None

    def __init__(self, *, content: bool = True) -> None:
        self.content = content
        self.begun_with: list[Watch] = []
        self.ended_with: list[Watch] = []
        self._changed = asyncio.Event()

    def wants_content(self, watch: Watch) -> bool:
        return self.content

    def begun(self, watch: Watch, headers: Mapping[str, str]) -> None:
        self.begun_with.append(watch)

    def ended(self, watch: Watch) -> None:
        self.ended_with.append(watch)
        self._changed.set()

    def refused(self, watch: Watch, headers: Mapping[str, str]) -> None:
        self.begun(watch, headers)
        self.ended(watch)

    async def saw(self, times: int = 1) -> Watch:
        """The last request, when so many have ended."""
        async with asyncio.timeout(PROMPTLY):
            while len(self.ended_with) < times:
                self._changed.clear()
                await self._changed.wait()
        return self.ended_with[-1]


def have_watch(monkeypatch: pytest.MonkeyPatch, *watchers: Watcher, room: int = ROOM) -> list[str]:
    """Proxies that are started from now on have these watchers. Returns the names of those that fail."""
    failed: list[str] = []

    @asynccontextmanager
    async def watchers_of(
        settings: Any,
        metrics: Any,
        mint: Mint,
        configured: Any,
        log: Log,
        clock: Callable[[], float],
        ring: Watcher | None,
    ) -> AsyncIterator[Watchers]:
        yield Watchers(
            watchers if ring is None else [*watchers, ring],
            room=ContentRoom(room, room),
            clock=clock,
            now=time.time,  # noqa: TID251 - as the proxy has it
            mint=mint,
            failed=failed.append,
            log=log,
        )

    monkeypatch.setattr(app, "watchers_of", watchers_of)
    return failed


def same(fault: Fault) -> Fault:
    return fault


def a_watch(
    clock: Callable[[], float],
    *attempts: Attempt,
    tenant: str | None = "ann",
    ledger: Ledger | None = None,
    content: Content | None = None,
    **fields: Any,
) -> Watch:
    ledger = ledger or Ledger()
    if tenant is not None:
        ledger.note(tenant=tenant)
    usual: dict[str, Any] = {"request_id": "req_1", "surface": "responses", "transport": "http"}
    usual |= {"method": "POST", "path": "/v1/responses"}
    usual |= {"facts": ledger.facts, "remarks": ledger.remarks, "warnings": ledger.warnings}
    usual |= {"date": 0.0, "clock": clock, "began": clock(), "attempts": list(attempts)}
    watch = Watch(**usual | fields)
    watch.content = content
    return watch


def end(watch: Watch, status: int = 200, fault: Fault | None = None) -> Watch:
    watch.facts["status"] = status
    watch.end(watch.seconds(), fault)
    return watch


def a_content(room: ContentRoom) -> Content:
    return Content(room, {}, lambda: 0.0, counting_mint(), lambda: 7.0, same)


def silent_log() -> Log:
    return make_log(format="json", stream=io.StringIO())
