"""The server that `live.url` names, behind a guard of its own: while it is away, what is kept goes on as ever."""

from collections.abc import Callable
from typing import Final

from proxy.settings.store import LiveSettings
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.store_watchers import LiveWatcher
from proxy.shell.stores.engines import live_in_server
from proxy.shell.stores.guard import Guard
from proxy.shell.stores.guarded_live import GuardedLive
from proxy.shell.stores.opening import Opening
from proxy.shell.stores.sealing.seals import Seals

LIES_IN: Final = "; what may be lost lies in {url}"
MAY_EVICT: Final = ", which may delete what is needed when its memory is full (maxmemory-policy is {!r})"


def live_server(
    settings: LiveSettings,
    wait_seconds: float,
    metrics: Metrics,
    log: Log,
    steady: Callable[[], float],
    seals: Seals,
) -> GuardedLive | None:
    """None: none is named."""
    if settings.url is None:
        return None
    watcher = LiveWatcher(metrics, log)
    guard = Guard(wait_seconds, steady, watcher)
    metrics.gauge("live_up", lambda: guard.is_up)
    metrics.gauge("live_waiting_seconds", lambda: guard.waiting_seconds)
    engine = live_in_server(settings.url.get_secret_value(), settings.prefix, watcher.may_evict, seals)
    opening = Opening(lambda: guard.write("open_live", engine.open), watcher.refused)
    return GuardedLive(engine, guard, opening)


# ── for commands ──


async def prove_live(settings: LiveSettings) -> str:
    """What is to be said of it. Raises StoreUnreadable or StoreDown."""
    if settings.url is None:
        return ""
    policies: list[str] = []
    engine = live_in_server(settings.url.get_secret_value(), settings.prefix, policies.append)
    try:
        await engine.open()
    finally:
        await engine.close()
    return "".join([LIES_IN.format(url=settings.url), *map(MAY_EVICT.format, policies)])


async def forget_there(settings: LiveSettings, tenant: str) -> None:
    """Raises StoreDown."""
    if settings.url is None:
        return
    engine = live_in_server(settings.url.get_secret_value(), settings.prefix, lambda policy: None)
    try:
        await engine.forget(tenant)
    finally:
        await engine.close()
