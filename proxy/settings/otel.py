"""Settings of traces for OpenTelemetry."""

from typing import Annotated

from pydantic import Field

from proxy.settings.section import Section
from proxy.settings.values import CollectorUrl, HeaderName, HeaderValue, Seconds


class OtelSettings(Section):
    endpoint: CollectorUrl | None = None
    """Where traces are sent by OTLP over HTTP: the whole URL, as `http://localhost:4318/v1/traces`. Needs the
    extra `otel`. Default: no traces."""
    headers: dict[HeaderName, HeaderValue] = {}
    """Headers for the collector, with its key."""
    service: str = Field("responses-proxy", min_length=1, max_length=200)
    """Name of this proxy in traces. Proxies that are one have the same."""
    attributes: dict[Annotated[str, Field(min_length=1)], str] = {}
    """What else all spans say of this proxy, as `deployment.environment.name`."""
    ratio: float = Field(1.0, ge=0, le=1)
    """Part of the traces that is recorded. For a request that belongs to a client's trace, the client has decided."""
    wait_seconds: Seconds = 5
    """Seconds that the collector may take for its answer. No request waits for it."""
