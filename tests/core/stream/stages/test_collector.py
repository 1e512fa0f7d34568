"""The same events, folded into one reply while they pass."""

from proxy.core.events import (
    Ending,
    Event,
    PartEnded,
    PartKind,
    PartStarted,
    Reply,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Text
from proxy.core.stream.stages.collector import Collector

PART = PartEnded(Text("Hi"), complete=True)
END = ReplyEnded(Ending.COMPLETED)
EVENTS: list[Event] = [ReplyStarted(), PartStarted(PartKind.TEXT), PART, END]


def fold(events: list[Event]) -> tuple[Reply, list[Event]]:
    passed: list[Event] = []
    collector = Collector(passed.append)
    for event in events:
        collector.feed(event)
    return collector.reply, passed


def test_every_event_passes_unchanged() -> None:
    assert fold(EVENTS)[1] == EVENTS


def test_the_reply_holds_the_parts_and_the_ending() -> None:
    assert fold(EVENTS)[0] == Reply([PART], END)


def test_a_reply_that_is_still_coming_has_no_ending() -> None:
    assert fold(EVENTS[:-1])[0] == Reply([PART], None)


def test_the_reply_is_folded_before_the_event_is_passed_on() -> None:
    """Whoever is told of the end may read the whole reply at once."""
    seen: list[Reply] = []
    collector = Collector(
        lambda event: seen.append(Reply(list(collector.reply.parts), collector.reply.ended))
    )
    for event in (PART, END):
        collector.feed(event)
    assert seen == [Reply([PART], None), Reply([PART], END)]
