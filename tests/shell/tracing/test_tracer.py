"""The tracer: where a request stands in a trace, and what its backend is told."""

import secrets
from collections.abc import Sequence

import pytest

from proxy.core.tracing.trace_context import parent_of
from proxy.shell.tracing.spans import Span
from proxy.shell.tracing.tracer import Tracer
from proxy.shell.watching.watch import Attempt, Watch
from tests.support.watching import a_watch, end

ATTEMPT = Attempt("first", "b", "m", "default", "chat", "http://b", 0.0)
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Kept:
    def __init__(self, ratio: float = 1.0) -> None:
        self.spans: list[Span] = []
        self.tracer = Tracer(ratio, secrets.randbits, self._put)

    def _put(self, spans: Sequence[Span]) -> None:
        self.spans += spans

    def begun(self, traceparent: str = "", tracestate: str = "", tenant: str | None = "ann") -> Watch:
        watch = a_watch(lambda: 0.0, tenant=tenant)
        self.tracer.begun(watch, {"traceparent": traceparent, "tracestate": tracestate})
        return watch

    def ended(self, watch: Watch) -> list[Span]:
        self.tracer.ended(end(watch))
        return self.spans


def asked(watch: Watch) -> dict[str, str]:
    """What the backend of another attempt is told."""
    watch.attempts.append(ATTEMPT)
    assert watch.outgoing is not None
    return dict(watch.outgoing(len(watch.attempts) - 1))


def test_a_clients_trace_goes_on_to_the_backend() -> None:
    kept = Kept()
    watch = kept.begun(f"00-{TRACE}-{SPAN}-01", "a=1")
    told = asked(watch)
    request, attempt = kept.ended(watch)
    assert told == {"traceparent": f"00-{TRACE}-{attempt.span_id:016x}-01", "tracestate": "a=1"}
    assert (request.trace_id, request.parent_id) == (int(TRACE, 16), int(SPAN, 16))
    assert attempt.parent_id == request.span_id
    assert len({request.span_id, attempt.span_id, request.parent_id}) == 3


def test_where_there_is_none_one_begins() -> None:
    kept = Kept()
    watch = kept.begun("no trace", "a=1")
    told = asked(watch)
    request, _ = kept.ended(watch)
    parent = parent_of(told["traceparent"])
    assert parent is not None
    assert (parent.trace_id, parent.is_sampled, request.parent_id) == (request.trace_id, True, 0)
    assert "tracestate" not in told


def test_each_attempt_is_told_its_own_span() -> None:
    kept = Kept()
    watch = kept.begun()
    first, second = asked(watch), asked(watch)
    assert first != second
    assert watch.outgoing is not None
    assert watch.outgoing(1) == second
    assert len({span.span_id for span in kept.ended(watch)}) == 3


def test_an_attempt_that_never_left_has_a_span_too() -> None:
    kept = Kept()
    watch = kept.begun()
    watch.attempts.append(ATTEMPT)
    assert len(kept.ended(watch)) == 2


def test_a_client_decides_what_is_recorded_of_its_own_trace() -> None:
    kept = Kept()
    watch = kept.begun(f"00-{TRACE}-{SPAN}-00")
    assert asked(watch)["traceparent"].endswith("-00")
    assert kept.ended(watch) == []
    kept = Kept(ratio=0)
    assert len(kept.ended(kept.begun(f"00-{TRACE}-{SPAN}-01"))) == 1


@pytest.mark.parametrize(("ratio", "least", "most"), [(0.0, 0, 0), (0.5, 60, 140), (1.0, 200, 200)])
def test_of_all_others_a_part_is_recorded(ratio: float, least: int, most: int) -> None:
    kept = Kept(ratio)
    for _ in range(200):
        kept.ended(kept.begun())
    assert least <= len(kept.spans) <= most


def test_whoever_was_not_let_in_belongs_to_no_trace_of_others() -> None:
    kept = Kept()
    (request,) = kept.ended(kept.begun(f"00-{TRACE}-{SPAN}-01", tenant=None))
    assert request.trace_id != int(TRACE, 16)


def test_it_never_wants_what_was_said() -> None:
    kept = Kept()
    assert kept.tracer.wants_content is None
    assert kept.tracer.name == "tracer"


def test_a_request_that_another_tells_its_backend_of_is_not_ours() -> None:
    kept = Kept()
    watch = kept.begun()
    watch.outgoing = None
    assert kept.ended(watch) == []
