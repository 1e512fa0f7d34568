"""Who looks on is shown each thing once, just before it goes on."""

from proxy.core.events import ReplyStarted
from proxy.core.stream.observer import Observer, observing, observing_sink
from tests.support.assembling import PartDelta, Told, recorder
from tests.support.observers import Seen


def test_it_is_shown_before_it_goes_on() -> None:
    order: list[str] = []
    observing(lambda item: order.append(f"seen {item}"), lambda item: order.append(f"taken {item}"))(1)
    assert order == ["seen 1", "taken 1"]


def test_an_outlet_has_two_ways_in_and_both_are_shown() -> None:
    seen = Seen()
    went: list[Told] = []
    observer: Observer = seen
    sink = observing_sink(observer, recorder(went))
    sink.feed(ReplyStarted())
    sink.delta("Hi", None)
    assert seen.events == went == [ReplyStarted(), PartDelta("Hi", None)]
