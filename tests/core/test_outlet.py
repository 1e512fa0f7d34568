"""The ways of events: deltas may have one of their own."""

from proxy.core.events import Event, PartDelta, ReplyStarted
from proxy.core.outlet import Outlet
from tests.core.stream.assembling import into

EVENTS: list[Event] = [ReplyStarted(), PartDelta("Hi")]


def test_deltas_go_the_way_of_all_events_unless_there_is_another() -> None:
    events: list[Event] = []
    feed = into(Outlet(events.append))
    for event in EVENTS:
        feed(event)
    assert events == EVENTS


def test_deltas_go_their_own_way_past_whoever_has_no_use_for_them() -> None:
    events: list[Event] = []
    deltas: list[PartDelta] = []
    feed = into(Outlet(events.append, deltas.append))
    for event in EVENTS:
        feed(event)
    assert (events, deltas) == ([ReplyStarted()], [PartDelta("Hi")])
