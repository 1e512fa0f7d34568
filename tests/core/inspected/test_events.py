"""Streams as they came."""

from proxy.core.inspected.events import MOST_CHARACTERS, MOST_EVENTS, Events, TimedEvent, events
from proxy.core.sse import MAX_EVENT_BYTES
from tests.support.tables import table


@table(
    "parts, expected",
    [
        ([], Events([], 0, "")),
        ([(0.5, b"data: a\n\ndata: b\n\n")], Events([TimedEvent(0.5, "", "a"), TimedEvent(0.5, "", "b")], 0, "")),
        ([(1.0, b"event: x\nda"), (2.0, b"ta: a\r\n\r\n")], Events([TimedEvent(2.0, "x", "a")], 0, "")),
        ([(1.0, b"data: a\n\nda"), (2.0, b'ta: {"b')], Events([TimedEvent(1.0, "", "a")], 0, 'data: {"b')),
        ([(1.0, b"{1}"), (2.0, b"{2}")], Events([TimedEvent(1.0, "", "{1}"), TimedEvent(2.0, "", "{2}")], 0, "")),
        ([(1.0, b"<html>")], Events([TimedEvent(1.0, "", "<html>")], 0, "")),
        ([(1.0, b"\n"), (2.0, b"data: a\n\n")], Events([TimedEvent(2.0, "", "a")], 0, "")),
    ],
)  # fmt: skip
def test_each_event_has_the_time_at_which_it_was_whole(
    parts: list[tuple[float, bytes]], expected: Events
) -> None:
    assert events(parts) == expected


def test_more_than_can_be_shown_is_counted() -> None:
    found = events([(0.0, b"data: a\n\n" * (MOST_EVENTS + 5))])
    assert (len(found.events), found.left_out) == (MOST_EVENTS, 5)


def test_a_long_event_is_cut() -> None:
    (found,) = events([(0.0, b"data: " + b"x" * (MOST_CHARACTERS + 1) + b"\n\n")]).events
    assert found.data == "x" * MOST_CHARACTERS + "… and more"


def test_an_event_beyond_all_limits_is_shown_as_it_came() -> None:
    found = events([(0.0, b"data: "), (1.0, b"x" * (MAX_EVENT_BYTES + 1))])
    assert found.events[-1].seconds == 1.0
