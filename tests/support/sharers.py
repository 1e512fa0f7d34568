"""Processes that share the slots of a backend, all of them in this one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from proxy.shell.concurrency import ConcurrencyLimit
from proxy.shell.limits.shared_slots import SharedSlots
from proxy.shell.limits.tickets import Tickets
from tests.support.sockets import PROMPTLY


@asynccontextmanager
async def slot(limit: ConcurrencyLimit, owner: str) -> AsyncIterator[None]:
    await limit.enter(owner)
    try:
        yield
    finally:
        limit.leave(owner)


@dataclass
class Sharer:
    """A process, with the requests that it works on."""

    limit: ConcurrencyLimit
    slots: SharedSlots
    tickets: Tickets
    divided: list[None]
    loop: "asyncio.Task[None]"
    _ends: dict[str, asyncio.Event] = field(default_factory=dict)
    entered: list[str] = field(default_factory=list)

    def ask(self, name: str, owner: str = "ann") -> "asyncio.Task[None]":
        self._ends[name] = asyncio.Event()

        async def work() -> None:
            async with slot(self.limit, owner):
                self.entered.append(name)
                await self._ends[name].wait()

        return asyncio.get_running_loop().create_task(work())

    def end(self, name: str) -> None:
        self._ends[name].set()

    async def die(self) -> None:
        """Nothing of it is done any more."""
        self.loop.cancel()
        await asyncio.wait({self.loop})


Start = Callable[..., Sharer]
"""Starts one more."""


async def until(true: Callable[[], bool]) -> None:
    """As soon as it is so."""
    async with asyncio.timeout(PROMPTLY):
        for _ in count():
            if true():
                return
            await asyncio.sleep(0.001)


async def settled(*processes: Sharer) -> None:
    """Each has asked the store, and done what follows, and so again."""
    for _ in range(3):
        for process in processes:
            await until(lambda: not process.tickets.is_down)  # noqa: B023
            await process.tickets.answered(process.slots)
            for _ in range(5):
                await asyncio.sleep(0)
