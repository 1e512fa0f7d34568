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


def observing(*attempts: list[Told]) -> list[Told]:
    events: list[Told] = []
    reply = OneReply(recorder(events))
    feed = into(reply.sink)
    for attempt in attempts:
        for event in (ReplyStarted(), *attempt):
            feed(event)
    reply.settle()
    return events


def test_a_reply_passes_as_it_is() -> None:
    assert observing([*SAID, COMPLETED]) == [ReplyStarted(), *SAID, COMPLETED]


def test_a_reply_may_have_nothing_in_it() -> None:
    assert observing([COMPLETED]) == [ReplyStarted(), COMPLETED]


def test_what_failed_before_it_leaves_no_trace() -> None:
    assert observing([FAILED], [FAILED], [*SAID, COMPLETED]) == [ReplyStarted(), *SAID, COMPLETED]


def test_the_last_failure_is_told_when_nothing_follows() -> None:
    last = ReplyEnded(Ending.FAILED, fault=Unreachable("Still no connection."))
    assert observing([FAILED], [last]) == [ReplyStarted(), last]


def test_a_failure_after_the_first_word_is_told_at_once_and_only_once() -> None:
    events: list[Told] = []
    reply = OneReply(recorder(events))
    feed = into(reply.sink)
    broken = ReplyEnded(Ending.FAILED, fault=Truncated("Broken off."))
    for event in (ReplyStarted(), *SAID, broken):
        feed(event)
    assert events == [ReplyStarted(), *SAID, broken]
    reply.settle()
    assert events == [ReplyStarted(), *SAID, broken]
