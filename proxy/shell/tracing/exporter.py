"""Sends spans to a collector: they are written as OpenTelemetry's own package describes them, in a thread."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Final

from proxy.core.backends.post import Post
from proxy.core.errors import Fault
from proxy.shell.http.transport import Timeouts, Transport
from proxy.shell.tracing.span_queue import CollectorAway, CollectorRefused
from proxy.shell.tracing.spans import Span, Value

TYPE: Final = "application/x-protobuf"
AGAIN: Final = frozenset({408, 429, 502, 503, 504})
"""Statuses after which the same may be sent later."""
SCOPE: Final = "responses-proxy"
SAMPLED, PARENT_IS_OURS, PARENT_IS_REMOTE = 0x001, 0x100, 0x300
"""Flags of a span: the last two say that it is known where the parent is, and that it is elsewhere."""


def is_installed() -> bool:
    try:
        return find_spec("opentelemetry.proto") is not None
    except ImportError:
        return False


Encode = Callable[[Sequence[Span]], bytes]


def encoder(resource: Mapping[str, str]) -> Encode:
    """Imported here, as what it needs may not be installed. `resource`: what all spans are of."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as Message

    def value(given: Value) -> AnyValue:
        if isinstance(given, str):
            return AnyValue(string_value=given)
        if isinstance(given, bool):
            return AnyValue(bool_value=given)
        if isinstance(given, int):
            return AnyValue(int_value=given)
        if isinstance(given, float):
            return AnyValue(double_value=given)
        return AnyValue(array_value=ArrayValue(values=map(value, given)))

    def pairs(given: Mapping[str, Value]) -> list[KeyValue]:
        return [KeyValue(key=name, value=value(each)) for name, each in given.items()]

    def message(span: Span) -> Message:
        status = None if span.error is None else Status(code=Status.STATUS_CODE_ERROR, message=span.error)
        return Message(
            name=span.name,
            kind=Message.SPAN_KIND_SERVER if span.kind == "server" else Message.SPAN_KIND_CLIENT,
            trace_id=span.trace_id.to_bytes(16),
            span_id=span.span_id.to_bytes(8),
            parent_span_id=span.parent_id.to_bytes(8) if span.parent_id else b"",
            flags=SAMPLED | (PARENT_IS_REMOTE if span.parent_is_remote else PARENT_IS_OURS),
            trace_state=span.state,
            start_time_unix_nano=span.start,
            end_time_unix_nano=span.end,
            attributes=pairs(span.attributes),
            events=[Message.Event(name=name, time_unix_nano=at) for name, at in span.events],
            status=status,
        )

    made_by = Resource(attributes=pairs(resource))
    scope = InstrumentationScope(name=SCOPE, version=resource["service.version"])

    def encode(spans: Sequence[Span]) -> bytes:
        of_scope = ScopeSpans(scope=scope, spans=map(message, spans))
        sent = ExportTraceServiceRequest(
            resource_spans=[ResourceSpans(resource=made_by, scope_spans=[of_scope])]
        )
        data: bytes = sent.SerializeToString()
        return data

    return encode


def _of_the_collector(fault: Fault) -> str:
    """The transport takes whomever it asks for a backend; whoever reads the log would look for the wrong program."""
    return (fault.own_words or type(fault).__name__).replace("The backend", "The collector")


class Exporter:
    def __init__(
        self, url: str, headers: Mapping[str, str], transport: Transport, encode: Encode, seconds: float
    ) -> None:
        self._url = url
        self._headers = {**headers, "Content-Type": TYPE}
        self._transport = transport
        self._encode = encode
        self._timeouts = Timeouts(seconds, seconds, seconds, seconds)

    async def send(self, spans: Sequence[Span]) -> None:
        """Raises CollectorAway or CollectorRefused."""
        try:
            data = await asyncio.to_thread(self._encode, spans)
        except Exception as failure:
            raise CollectorRefused(f"the spans cannot be written: {type(failure).__name__}") from failure
        try:
            exchange = await self._transport.send(Post(self._url, self._headers, data), self._timeouts)
        except Fault as fault:
            raise CollectorAway(_of_the_collector(fault)) from fault
        exchange.close()
        if exchange.status in AGAIN or exchange.status // 100 == 1:
            raise CollectorAway(f"it answers with status {exchange.status}")
        if exchange.status // 100 != 2:
            raise CollectorRefused(f"it answers with status {exchange.status}")
