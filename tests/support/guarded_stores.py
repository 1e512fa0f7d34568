"""What a guard has before it and behind it, in the tests: a store that takes its time, and who hears of it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from proxy.shell.stores.protocol import StoreInDoubt

SHORT = 0.02


@dataclass
class GuardNotes:
    """What the guard tells."""

    took_: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def took(self, op: str, seconds: float) -> None:
        self.took_.append(op)

    def failed(self, op: str, reason: str) -> None:
        self.failures.append(reason)

    def went_down(self, reason: str) -> None:
        self.told.append("down")

    def came_back(self, seconds: float) -> None:
        self.told.append(f"back after {seconds:g}")


class Slow:
    """Does what it is asked, but only when it may; its answers come later still."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.may = asyncio.Event()
        self.may.set()
        self.unheard: set[str] = set()
        """What is done, and nobody hears of it."""

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **named: Any) -> Any:
            await self.may.wait()
            result = await getattr(self._inner, name)(*args, **named)
            if name in self.unheard:
                raise StoreInDoubt("the connection is lost")
            return result

        return call
