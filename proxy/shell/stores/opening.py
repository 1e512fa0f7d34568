"""Opening a store that may be away: the process starts all the same, and tries on until it is there."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from proxy.shell.stores.protocol import StoreDown, StoreUnreadable

PAUSE_SECONDS: Final = 1.0


class Opening:
    def __init__(
        self,
        open: Callable[[], Coroutine[Any, Any, None]],
        refused: Callable[[str], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`refused` is told why a store that came late cannot be used."""
        self._open = open
        self._refused = refused
        self._sleep = sleep
        self._trying: asyncio.Task[None] | None = None
        self.has_opened = False
        """The store was there, at least once."""

    async def begin(self, seconds: float) -> bool:
        """Waits at most this long, and returns whether the store is open. Raises StoreUnreadable if it is there and
        cannot be used."""
        loop = asyncio.get_running_loop()
        first = loop.create_task(self._open(), name="store open")
        await asyncio.wait({first}, timeout=seconds)
        if first.done() and not isinstance(first.exception(), StoreDown):
            first.result()
            self.has_opened = True
            return True
        self._trying = loop.create_task(self._try_on(first), name="store opening")
        return False

    async def _try_on(self, first: "asyncio.Task[None]") -> None:
        attempt: Awaitable[None] = first
        while True:
            try:
                await attempt
                self.has_opened = True
                return
            except StoreDown:
                await self._sleep(PAUSE_SECONDS)
                attempt = self._open()
            except StoreUnreadable as failure:
                return self._refused(str(failure))

    async def close(self) -> None:
        if self._trying is not None:
            self._trying.cancel()
            await asyncio.wait({self._trying})
