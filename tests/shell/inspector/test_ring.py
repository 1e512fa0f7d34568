"""The ring: what is under way and what has ended, within bounds."""

import pytest

from proxy.shell.inspector.ring import Ring
from proxy.shell.watching.content import Content, ContentRoom
from proxy.shell.watching.watch import Notes, Watch
from tests.support.watching import a_content, a_watch, end

ROOM = ContentRoom(1 << 20, 1 << 20)


def watch(name: str = "", *, said: int = 0) -> Watch:
    made = a_watch(lambda: 0.0, request_id=name)
    if said:
        made.content = a_content(ROOM)
        made.content.asked(b"x" * said)
    return made


def none_live() -> list[Watch]:
    return []


def notes(name: str) -> Notes:
    """Of one that has ended."""
    return (
        name,
        "responses",
        "http",
        "POST",
        "/",
        {"status": 200},
        {},
        [],
        0.0,
        lambda: 0.0,
        0.0,
        [],
        1.0,
        None,
    )


def ended(ring: Ring, made: Watch) -> None:
    ring.ended(end(made))


def names(ring: Ring, since: int = -1) -> list[str]:
    return [seen.watch.request_id for seen in ring.since(since)]


def said(ring: Ring) -> list[Content | None]:
    return [seen.said and seen.said.content for seen in ring.since(-1)]


def keep_all(made: Watch) -> bool:
    return True


def test_it_asks_for_no_content_and_has_nothing_to_do_when_a_request_begins() -> None:
    ring = Ring(1, 1, none_live)
    assert (ring.wants_content, ring.begun) == (None, None)


@pytest.mark.parametrize("keeps", [None, keep_all])
def test_the_oldest_are_forgotten_first(keeps: None) -> None:
    live = watch("live")
    ring = Ring(2, 100, lambda: [live], keeps)
    for name in "abcd":
        ended(ring, watch(name))
    assert names(ring) == ["c", "d", "live"]


def test_what_nobody_has_looked_at_yet_is_seen_like_all_else() -> None:
    ring = Ring(2, 100, none_live)
    assert ring.keep is not None
    for name in "abc":
        ring.keep(notes(name))
    assert names(ring) == ["b", "c"]
    ring.keep(notes("d"))
    assert names(ring, since=2) == ["d"]
    assert [(seen.number, seen.watch.request_id) for seen in ring.since(-1)] == [(2, "c"), (3, "d")]


def test_content_is_kept_with_what_was_seen_from_the_beginning() -> None:
    assert Ring(1, 1, none_live, keep_all).keep is None


def test_a_request_keeps_the_number_by_which_it_was_seen() -> None:
    live = [watch("first"), watch("second")]
    ring = Ring(10, 100, lambda: live, keep_all)
    assert [seen.number for seen in ring.since(-1)] == [1, 2]
    second = live.pop()
    second.content = a_content(ROOM)
    ended(ring, second)
    ended(ring, watch("third"))
    assert {seen.watch.request_id: seen.number for seen in ring.since(-1)} == {
        "first": 1,
        "second": 2,
        "third": 3,
    }
    found = ring.find(2)
    assert found is not None
    assert found.watch.request_id == "second"
    assert ring.find(4) is None


def test_what_is_under_way_is_always_new_and_what_has_ended_is_so_once() -> None:
    live = [watch("first")]
    ring = Ring(10, 100, lambda: live)
    ended(ring, watch("second"))
    assert names(ring) == ["second", "first"]
    assert names(ring, since=ring.changes) == ["first"]
    before = ring.changes
    ended(ring, live.pop())
    assert names(ring, since=before) == ["first"]
    assert names(ring, since=ring.changes) == []
    assert names(ring, since=before) == ["first"]  # of somebody else who looks


def test_strangers_drive_nobody_out() -> None:
    ring = Ring(8, 100, none_live)
    ended(ring, watch("ann's"))
    for number in range(20):
        ring.refused(a_watch(lambda: 0.0, tenant=None, request_id=str(number)), {})
    assert names(ring) == ["17", "18", "19", "ann's"]


@pytest.mark.parametrize("keeps", [True, False])
def test_content_is_seen_live_and_later_only_if_the_recorder_keeps_it(keeps: bool) -> None:
    made = watch(said=10)
    live = [made]
    ring = Ring(10, 100, lambda: live, lambda watch: keeps)
    (seen,) = ring.since(-1)
    assert (seen.said is not None) is keeps
    ended(ring, live.pop())
    (seen,) = ring.since(-1)
    assert (seen.said is not None) is keeps
    assert seen.watch.content is None
    assert made.content is not None  # it is the recorder's, too


def test_content_has_bounds_of_its_own() -> None:
    ring = Ring(3, 25, none_live, keep_all)
    for _ in range(3):
        ended(ring, watch(said=10))
    assert [content is not None for content in said(ring)] == [False, True, True]
    ended(ring, watch(said=100))
    assert said(ring) == [None, None, None]
    ended(ring, watch())
    ended(ring, watch(said=20))
    assert [content and content.size for content in said(ring)] == [None, None, 20]


def test_content_goes_with_its_request() -> None:
    ring = Ring(1, 100, none_live, keep_all)
    for _ in range(2):
        ended(ring, watch(said=60))
    assert None not in said(ring)
    ended(ring, watch())
    ended(ring, watch(said=100))
    assert None not in said(ring)
