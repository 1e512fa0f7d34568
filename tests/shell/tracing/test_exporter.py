"""What a collector gets, and what its answers mean."""

from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1 import trace_pb2

from proxy.core.backends.post import Post
from proxy.core.errors import BackendFault, Fault, OwnWords
from proxy.shell.http.transport import Timeouts
from proxy.shell.tracing import exporter as module
from proxy.shell.tracing.exporter import Exporter, encoder, is_installed
from proxy.shell.tracing.span_queue import CollectorAway, CollectorRefused
from proxy.shell.tracing.spans import Span

RESOURCE = {"service.name": "mine", "service.version": "1", "service.instance.id": "i"}


def span(**fields: Any) -> Span:
    usual: dict[str, Any] = {"name": "chat m", "kind": "client", "trace_id": 1, "span_id": 2, "parent_id": 3}
    usual |= {
        "parent_is_remote": True,
        "state": "a=1",
        "start": 5,
        "end": 9,
        "attributes": {"k": ["v"], "n": 1},
    }
    return Span(**usual | fields)


def test_it_gets_spans_as_opentelemetry_writes_them() -> None:
    data = encoder(RESOURCE)(
        [span(events=(("first byte", 7),)), span(error="gone", parent_id=0, state="", kind="server")]
    )
    (resource,) = ExportTraceServiceRequest.FromString(data).resource_spans
    about = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert about == RESOURCE
    (scope,) = resource.scope_spans
    first, second = scope.spans
    assert (first.trace_id, first.span_id, first.parent_span_id) == (
        (1).to_bytes(16), (2).to_bytes(8), (3).to_bytes(8),
    )  # fmt: skip
    assert (first.name, first.kind, first.trace_state) == ("chat m", trace_pb2.Span.SPAN_KIND_CLIENT, "a=1")
    assert (first.start_time_unix_nano, first.end_time_unix_nano) == (5, 9)
    assert [(event.name, event.time_unix_nano) for event in first.events] == [("first byte", 7)]
    assert first.attributes[0].value.array_value.values[0].string_value == "v"
    assert (second.parent_span_id, second.trace_state, second.kind) == (
        b"",
        "",
        trace_pb2.Span.SPAN_KIND_SERVER,
    )
    assert (second.status.code, second.status.message) == (trace_pb2.Status.STATUS_CODE_ERROR, "gone")
    assert first.status.code == trace_pb2.Status.STATUS_CODE_UNSET


class Exchange:
    def __init__(self, status: int) -> None:
        self.status = status
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Transport:
    def __init__(self, answer: int | Fault) -> None:
        self._answer = answer
        self.posts: list[Post] = []
        self.timeouts: list[Timeouts] = []

    async def send(self, post: Post, timeouts: Timeouts) -> Exchange:
        self.posts.append(post)
        self.timeouts.append(timeouts)
        if isinstance(self._answer, Fault):
            raise self._answer
        self.exchange = Exchange(self._answer)
        return self.exchange


def asking(answer: int | Fault) -> tuple[Transport, Exporter]:
    transport = Transport(answer)
    made = Exporter("http://c/v1/traces", {"X-Key": "k"}, transport, lambda spans: b"spans", 2)  # type: ignore[arg-type]
    return transport, made


async def test_it_is_asked_with_its_headers_and_within_a_time() -> None:
    transport, exporter = asking(200)
    await exporter.send([span()])
    (post,) = transport.posts
    assert (post.url, post.body) == ("http://c/v1/traces", b"spans")
    assert post.headers == {"X-Key": "k", "Content-Type": "application/x-protobuf"}
    assert transport.timeouts == [Timeouts(2, 2, 2, 2)]
    assert transport.exchange.closed


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504, 101])
async def test_after_some_answers_it_is_asked_again(status: int) -> None:
    with pytest.raises(CollectorAway, match=str(status)):
        await asking(status)[1].send([span()])


@pytest.mark.parametrize("status", [302, 400, 401, 404, 413, 500])
async def test_after_others_it_will_never_take_them(status: int) -> None:
    with pytest.raises(CollectorRefused, match=str(status)):
        await asking(status)[1].send([span()])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (BackendFault(OwnWords("No answer.")), "No answer"),
        (BackendFault("secret"), "BackendFault"),
        (BackendFault(OwnWords("The backend's name cannot be resolved.")), "^The collector's name cannot be resolved"),
    ],
)  # fmt: skip
async def test_no_connection_is_told_in_our_own_words(fault: Fault, words: str) -> None:
    with pytest.raises(CollectorAway, match=words):
        await asking(fault)[1].send([span()])


async def test_what_cannot_be_written_is_lost_and_ends_nothing() -> None:
    def broken(spans: Sequence[Span]) -> bytes:
        raise ValueError("secret")

    exporter = Exporter("http://c", {}, Transport(200), broken, 2)  # type: ignore[arg-type]
    with pytest.raises(CollectorRefused, match=r"^the spans cannot be written: ValueError$"):
        await exporter.send([span()])


@pytest.mark.parametrize("missing", ["all of it", "its part"])
def test_what_is_not_installed_is_noticed(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_installed()

    def find(name: str) -> None:
        if missing == "all of it":
            raise ModuleNotFoundError(name)

    monkeypatch.setattr(module, "find_spec", find)
    assert not is_installed()
