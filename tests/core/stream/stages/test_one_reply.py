"""E2, E6: however many attempts there are, a client sees one reply."""

from proxy.core.errors import Truncated, Unreachable
from proxy.core.events import (
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Text
from proxy.core.stream.stages.one_reply import OneReply
from tests.support.assembling import PartDelta, Told, into, recorder

FAILED = ReplyEnded(Ending.FAILED, fault=Unreachable("No connection."))
SAID = [PartStarted(PartKind.TEXT), PartDelta("Hi"), PartEnded(Text("Hi"), True)]
COMPLETED = ReplyEnded(Ending.COMPLETED)


def told(*attempts: list[Told], ended: ReplyEnded = COMPLETED) -> list[Told]:
    events: list[Told] = []
    reply = OneReply(recorder(events))
    feed = into(reply.sink)
    for attempt in attempts:
        for event in (ReplyStarted(), *attempt):
            feed(event)
    reply.end(ended)
    return events


def test_a_reply_passes_as_it_is() -> None:
    assert told([*SAID, COMPLETED]) == [ReplyStarted(), *SAID, COMPLETED]


def test_a_reply_may_have_nothing_in_it() -> None:
    assert told([COMPLETED]) == [ReplyStarted(), COMPLETED]


def test_what_failed_before_it_leaves_no_trace() -> None:
    assert told([FAILED], [FAILED], [*SAID, COMPLETED]) == [ReplyStarted(), *SAID, COMPLETED]


def test_the_last_failure_is_told_as_it_is_given() -> None:
    last = ReplyEnded(Ending.FAILED, fault=Unreachable("Still no connection."))
    assert told([FAILED], [FAILED], ended=last) == [ReplyStarted(), last]


def test_an_ending_waits_until_it_may_be_told() -> None:
    """Whoever hears that a reply is complete may continue it at once: it must be kept by then."""
    events: list[Told] = []
    reply = OneReply(recorder(events))
    feed = into(reply.sink)
    broken = ReplyEnded(Ending.FAILED, fault=Truncated("Broken off."))
    for event in (ReplyStarted(), *SAID, broken):
        feed(event)
    assert events == [ReplyStarted(), *SAID]
    reply.end(broken)
    assert events == [ReplyStarted(), *SAID, broken]
