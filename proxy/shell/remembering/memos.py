"""What the processes of the proxy tell each other of what they remember (see `core.surfaces.memory.memos`).

All of it may be lost, and none of it is worth a long wait. A client's next request may come as soon as it has seen the
end of a reply, so the end waits for the memos, a moment at most, as the next request does. While the store is late for
one of them, nobody else waits.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.stores.protocol import Live, StoreDown

MEMO_SECONDS: Final = 86_400.0
"""How long a memo is kept."""

PATIENCE_SECONDS: Final = 0.2
"""The longest that a request, or the end of a reply, waits. A healthy store needs a hundredth of it."""

MOST_MEMO_BYTES: Final = 256 << 10
"""The largest memo: more than any model thinks before one call."""

MOST_WRITING: Final = 100
MOST_WRITING_BYTES: Final = 8 << 20
"""Of memos that are being written, in requests and in bytes."""


class Memos:
    def __init__(self, live: Live | None, tasks: Tasks, metrics: Metrics) -> None:
        """`live`: None if nothing is kept."""
        self._live = live
        self._tasks = tasks
        self._metrics = metrics
        self._writing = 0
        self._writing_bytes = 0
        self._late = 0

    @property
    def are_kept(self) -> bool:
        return self._live is not None

    async def recall(self, tenant: str, keys: Sequence[str]) -> Mapping[str, bytes] | None:
        """What there is of these. None: that is not known."""
        if self._live is None or self._late:
            return None
        asking = self._tasks.started(_recalled(self._live, tenant, keys), "recall")
        await self._patiently(asking)
        return asking.result() if asking.done() else None

    async def share(self, tenant: str, memos: Mapping[str, bytes]) -> None:
        """Has them written, if there is room for that, and waits for it if that takes a moment."""
        writing = self.send(tenant, memos)
        if writing is not None and not self._late:
            await self._patiently(writing)

    def send(
        self, tenant: str, memos: Mapping[str, bytes], seconds: float = MEMO_SECONDS
    ) -> "asyncio.Task[None] | None":
        """Has them written, for a caller that does not wait."""
        if self._live is None:
            return None
        fitting = {key: memo for key, memo in memos.items() if len(memo) <= MOST_MEMO_BYTES}
        self._count("too_large", len(memos) - len(fitting))
        size = sum(map(len, fitting.values()))
        if self._writing >= MOST_WRITING or self._writing_bytes + size > MOST_WRITING_BYTES:
            self._count("busy", len(fitting))
        elif fitting:
            self._writing += 1
            self._writing_bytes += size
            return self._tasks.started(self._write(self._live, tenant, fitting, size, seconds), "memos")
        return None

    async def _patiently(self, task: "asyncio.Task[Any]") -> None:
        await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
        if not task.done():
            self._late += 1
            task.add_done_callback(self._came)

    def _came(self, task: "asyncio.Task[Any]") -> None:
        self._late -= 1

    async def _write(
        self, live: Live, tenant: str, memos: Mapping[str, bytes], size: int, seconds: float
    ) -> None:
        try:
            await live.remember(tenant, memos, seconds)
        except StoreDown:
            self._count("store_down", len(memos))
        finally:
            self._writing -= 1
            self._writing_bytes -= size

    def _count(self, reason: str, memos: int) -> None:
        if memos:
            self._metrics.count("memos_lost", reason, by=memos)


async def _recalled(live: Live, tenant: str, keys: Sequence[str]) -> Mapping[str, bytes] | None:
    try:
        return await live.recall(tenant, keys)
    except StoreDown:
        return None
