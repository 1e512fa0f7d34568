"""The watcher that makes spans: it gives each request its place in a trace, and tells each backend of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from proxy.core.tracing.trace_context import (
    TRACEPARENT,
    TRACESTATE,
    Parent,
    header,
    parent_of,
    sent_with,
)
from proxy.shell.tracing.spans import Ids, Span, spans_of
from proxy.shell.watching.watch import Watch

TRACE_BITS: Final = 128
SPAN_BITS: Final = 64
CHANCE_BITS: Final = 53


class Trace:
    """Where one request stands. Called with an attempt's number, it says what its backend is told in headers."""

    def __init__(self, bits: Callable[[int], int], parent: Parent | None, ratio: float) -> None:
        self._bits = bits
        self._parent = parent
        self.trace_id = parent.trace_id if parent else bits(TRACE_BITS) or 1
        self.span_id = self._new()
        self.is_sampled = parent.is_sampled if parent else bits(CHANCE_BITS) < ratio * (1 << CHANCE_BITS)
        self._attempts: dict[int, int] = {}
        """Span ids, by the number of the attempt."""

    def _new(self) -> int:
        return self._bits(SPAN_BITS) or 1

    def __call__(self, attempt: int) -> Mapping[str, str]:
        span_id = self._attempts.setdefault(attempt, self._new())
        told = {TRACEPARENT: header(self.trace_id, span_id, is_sampled=self.is_sampled)}
        if self._parent and self._parent.state:
            told[TRACESTATE] = self._parent.state
        return told

    def ids(self, attempts: int) -> Ids:
        return Ids(
            self.trace_id,
            self.span_id,
            self._parent.span_id if self._parent else 0,
            self._parent.state if self._parent else "",
            [self._attempts.get(attempt) or self._new() for attempt in range(attempts)],
        )


class Tracer:
    name = "tracer"

    def __init__(
        self, ratio: float, bits: Callable[[int], int], put: Callable[[Sequence[Span]], None]
    ) -> None:
        """`ratio`: the part of the traces that begin here which is recorded. `bits` makes random numbers of so many
        bits. `put`: takes the spans of one request."""
        self._ratio = ratio
        self._bits = bits
        self._put = put

    wants_content = None
    keep = None

    def begun(self, watch: Watch, headers: Mapping[str, str]) -> None:
        """Whoever is not let in belongs to no trace but one of our own."""
        parent = parent_of(*sent_with(headers)) if watch.tenant is not None else None
        watch.outgoing = Trace(self._bits, parent, self._ratio)

    def refused(self, watch: Watch, headers: Mapping[str, str]) -> None:
        self.begun(watch, headers)
        self.ended(watch)

    def ended(self, watch: Watch) -> None:
        trace = watch.outgoing
        if isinstance(trace, Trace) and trace.is_sampled:
            self._put(spans_of(watch, trace.ids(len(watch.attempts))))
