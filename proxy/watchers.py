"""Puts together those who watch requests, as the settings ask for them: see `proxy.shell.watching`."""

import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import proxy
from proxy.core.ids import Mint
from proxy.core.masking.secrets import Secrets
from proxy.process import SettingsRefused
from proxy.settings.recorder import RecorderSettings
from proxy.settings.root import Settings
from proxy.shell.inspector.ring import Ring
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.stores.location import unwritable
from proxy.shell.watching.content import ContentRoom
from proxy.shell.watching.watchers import Watcher, Watchers

ROOM_BYTES, REQUEST_BYTES = 64 << 20, 16 << 20
"""Of content, for all requests that are watched at once, and for one."""

CLOSING_SECONDS = 5.0


@asynccontextmanager
async def watchers_of(
    settings: Settings,
    metrics: Metrics,
    mint: Mint,
    configured: Secrets,
    log: Log,
    clock: Callable[[], float],
    ring: Ring | None,
) -> AsyncIterator[Watchers]:
    """`ring`: the inspector's. `configured`: the secrets of the settings. A watcher with a connection, a thread or
    a file closes it on leaving."""
    watchers: list[Watcher] = [] if ring is None else [ring]
    seen_bytes = 0 if ring is None else settings.inspector.memory_bytes

    def failed(name: str) -> None:
        metrics.count("watcher_failures", name)

    async with AsyncExitStack() as stack:
        if settings.otel.endpoint is not None:
            from proxy.traces import tracer_of  # few have one

            watchers.append(await stack.enter_async_context(tracer_of(settings.otel, metrics, log)))
        if settings.recorder.keep != "off":
            watchers.append(_recorder(settings.recorder, metrics, configured, log, stack))
        yield Watchers(
            watchers,
            room=ContentRoom(ROOM_BYTES + seen_bytes, REQUEST_BYTES),
            clock=clock,
            now=_now,
            mint=mint,
            failed=failed,
            log=log,
        )


def recordings(settings: RecorderSettings) -> Path | None:
    """Where they are written, if any are. Raises SettingsRefused where they cannot be: each would be lost otherwise."""
    if settings.keep == "off":
        return None
    assert settings.directory, "the settings ask for one"
    directory = Path(settings.directory).expanduser()
    if problem := unwritable(directory.absolute()):
        raise SettingsRefused(f"recorder.directory: {directory} {problem}")
    return directory


def _recorder(
    settings: RecorderSettings, metrics: Metrics, configured: Secrets, log: Log, stack: AsyncExitStack
) -> Watcher:
    """Imported here, as few have one, and its forms are a thirtieth of the time until the proxy listens."""
    from proxy.shell.recorder.recorder import Recorder
    from proxy.shell.recorder.retention import Retention
    from proxy.shell.recorder.writer import Writer

    directory = recordings(settings)
    assert settings.keep != "off"
    assert directory is not None
    retention = Retention(directory, settings.max_bytes, settings.days, _now)
    masks = settings.content == "masked"
    writer = Writer(directory, retention, configured, proxy.__version__, metrics.count, log, masks=masks)
    try:
        writer.start()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SettingsRefused(f"recorder.directory: {directory} cannot be made: {reason}") from error
    stack.callback(writer.close, CLOSING_SECONDS)
    return Recorder(settings.keep, settings.share, secrets.SystemRandom().random, writer)


_now = time.time  # noqa: TID251 - here it comes in
