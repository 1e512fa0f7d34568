"""Processes that share the slots of a backend, all of them in this one."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count

import pytest

from proxy.shell.concurrency import ConcurrencyLimit, ConcurrencyRules
from proxy.shell.limits import tickets as module
from proxy.shell.limits.shared_slots import SharedSlots
from proxy.shell.limits.tickets import Tickets
from tests.support.shared_live import Weak
from tests.support.sharers import Sharer, Start
from tests.support.sockets import PROMPTLY
from tests.support.stores import Terms


@pytest.fixture
def terms() -> Terms:
    return Terms()


@pytest.fixture
def store(terms: Terms) -> Weak:
    return Weak(terms)


@pytest.fixture
async def start(terms: Terms, store: Weak, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Starts one more process."""
    monkeypatch.setattr(module, "POLL_SECONDS", 0.001)
    names = count()
    loops = []

    def started(slots: int = 1, waiting: int = 64, live: Weak = store, living: int = 4) -> Sharer:
        tickets = Tickets(live, f"w{next(names)}", lambda: terms.steady)
        divided: list[None] = []
        shared = SharedSlots("q", slots, tickets, lambda: living, lambda: divided.append(None))
        limit = ConcurrencyLimit(ConcurrencyRules(slots, waiting, PROMPTLY), shared)
        loop = asyncio.get_running_loop().create_task(tickets.run())
        loops.append(loop)
        return Sharer(limit, shared, tickets, divided, loop)

    yield started
    for loop in loops:
        loop.cancel()
    await asyncio.gather(*loops, return_exceptions=True)
