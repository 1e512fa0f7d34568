"""A store for limits that the test takes away and gives back."""

import asyncio
from collections import Counter
from typing import Any

from proxy.shell.stores.memory.live import MemoryLive
from tests.support.stores import Terms


class Weak:
    """Fails as it is told, before or after it has done what it was asked. Counts what it was asked."""

    def __init__(self, terms: Terms, inner: Any = None) -> None:
        self.inner = inner or MemoryLive(terms.clock)
        self.failure: Exception | None = None
        self.does_it_all_the_same = False
        self.asked: Counter[str] = Counter()
        self.may = asyncio.Event()
        self.may.set()

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any) -> Any:
            self.asked[name] += 1
            await self.may.wait()
            if self.failure is not None and not self.does_it_all_the_same:
                raise self.failure
            done = await getattr(self.inner, name)(*args)
            if self.failure is not None:
                raise self.failure
            return done

        return call
