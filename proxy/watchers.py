"""Puts together those who watch requests, as the settings ask for them: see `proxy.shell.watching`."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from proxy.settings.root import Settings
from proxy.shell.inspector.ring import Ring
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.watching.content import ContentRoom
from proxy.shell.watching.watchers import Watcher, Watchers
from proxy.traces import tracer_of

ROOM_BYTES, REQUEST_BYTES = 64 << 20, 16 << 20
"""Of content, for all requests that are watched at once, and for one."""


@asynccontextmanager
async def watchers_of(
    settings: Settings, metrics: Metrics, log: Log, clock: Callable[[], float], ring: Ring | None
) -> AsyncIterator[Watchers]:
    """`ring`: the inspector's. Who has a connection, a thread or a file closes it on leaving."""
    watchers: list[Watcher] = [] if ring is None else [ring]

    def failed(name: str) -> None:
        metrics.count("watcher_failures", name)

    async with AsyncExitStack() as stack:
        if settings.otel.endpoint is not None:
            watchers.append(await stack.enter_async_context(tracer_of(settings.otel, metrics, log)))
        yield Watchers(
            watchers,
            room=ContentRoom(ROOM_BYTES, REQUEST_BYTES),
            clock=clock,
            now=_now,
            failed=failed,
            log=log,
        )


_now = time.time  # noqa: TID251 - here it comes in
