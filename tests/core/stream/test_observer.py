"""Who looks on is shown each thing once, just before it goes on."""

from typing import Any

from proxy.core.events import Event, ReplyStarted
from proxy.core.sink import Sink
from proxy.core.stream.observer import Observer, observing, observing_sink


class Seen:
    """An observer that writes down what it is shown."""

    def __init__(self) -> None:
        self.bytes: list[bytes] = []
        self.deltas: list[Any] = []
        self.events: list[Any] = []
        self.frames: list[bytes] = []
        self.received = self.bytes.append
        self.decoded = self.deltas.append
        self.ordered = self.events.append
        self.sent = self.frames.append

    def text(self, text: str, logprobs: list[Any] | None) -> None:
        self.events.append((text, logprobs))


def test_it_is_shown_before_it_goes_on() -> None:
    order: list[str] = []
    observing(lambda item: order.append(f"seen {item}"), lambda item: order.append(f"taken {item}"))(1)
    assert order == ["seen 1", "taken 1"]


def test_an_outlet_has_two_ways_in_and_both_are_shown() -> None:
    seen: Observer = Seen()
    went: list[Any] = []

    def feed(event: Event) -> None:
        went.append(event)

    sink = observing_sink(seen, Sink(feed, lambda text, logprobs: went.append((text, logprobs))))
    sink.feed(ReplyStarted())
    sink.delta("Hi", None)
    assert isinstance(seen, Seen)
    assert seen.events == went == [ReplyStarted(), ("Hi", None)]
