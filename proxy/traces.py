"""Puts the tracer together, as the settings ask for it: see `proxy.shell.tracing`."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import proxy
from proxy.process import SettingsRefused
from proxy.settings.otel import OtelSettings
from proxy.shell.http.upstream import Upstream
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.tracing.exporter import Exporter, encoder, is_installed
from proxy.shell.tracing.span_queue import SpanQueue
from proxy.shell.tracing.tracer import Tracer

FLUSH_SECONDS = 3.0
"""For the last spans, when the process ends."""
INSTANCE_BYTES = 8


def check_otel(settings: OtelSettings) -> None:
    if settings.endpoint is not None and not is_installed():
        raise SettingsRefused(
            "otel.endpoint asks for traces, and the package that makes them is not installed:"
            " pip install '.[otel]' in a checkout of the proxy"
        )


class CollectorWatcher:
    def __init__(self, url: str, metrics: Metrics, log: Log) -> None:
        self._url = url
        self._metrics = metrics
        self._log = log

    def sent(self, spans: int) -> None:
        self._metrics.count("spans", "sent", by=spans)

    def lost(self, spans: int) -> None:
        self._metrics.count("spans", "lost", by=spans)

    def went_down(self, reason: str) -> None:
        self._log.warning("collector_down", collector=self._url, reason=reason)

    def came_back(self) -> None:
        self._log.info("collector_up", collector=self._url)


@asynccontextmanager
async def tracer_of(settings: OtelSettings, metrics: Metrics, log: Log) -> AsyncIterator[Tracer]:
    """Where there is an endpoint. On leaving, what has ended is sent, if that is possible soon."""
    check_otel(settings)
    assert settings.endpoint is not None
    resource = {
        **settings.attributes,
        "service.name": settings.service,
        "service.version": proxy.__version__,
        "service.instance.id": secrets.token_hex(INSTANCE_BYTES),
    }
    upstream = Upstream(proxy.__version__)
    headers = {name: value.get_secret_value() for name, value in settings.headers.items()}
    exporter = Exporter(settings.endpoint, headers, upstream, encoder(resource), settings.wait_seconds)
    watcher = CollectorWatcher(settings.endpoint.partition("?")[0], metrics, log)
    queue = SpanQueue(exporter.send, watcher)
    running = asyncio.get_running_loop().create_task(queue.run(), name="spans")
    try:
        yield Tracer(settings.ratio, secrets.randbits, queue.put)
    finally:
        running.cancel()
        await asyncio.wait({running})
        await queue.flush(FLUSH_SECONDS)
        await upstream.close()
