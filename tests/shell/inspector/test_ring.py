"""The ring: what is under way and what has ended, within bounds."""

import gc
from functools import partial

import pytest

from proxy.core.errors import Fault, Truncated
from proxy.shell.inspector.ring import Ring
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.ops.tracebacks import causes
from proxy.shell.watching.content import Content, ContentRoom
from proxy.shell.watching.watch import Watch
from tests.support.replies import counting_mint
from tests.support.watching import a_watch

ROOM = ContentRoom(1 << 20, 1 << 20)


def watch(*, said: int = 0) -> Watch:
    made = a_watch(lambda: 0.0)
    if said:
        made.content = Content(ROOM, {}, made.seconds, counting_mint(), lambda: 7.0)
        made.content.asked(b"x" * said)
    return made


def ended(ring: Ring, made: Watch) -> None:
    ring.begun(made, {})
    made.end(200, None)
    ring.ended(made)


def numbers(ring: Ring, since: int = -1) -> list[int]:
    return [seen.number for seen in ring.since(since)]


def keep_all(made: Watch) -> bool:
    return True


def test_it_asks_for_no_content() -> None:
    assert Ring(1, 1).wants_content is None


def test_the_oldest_are_forgotten_first() -> None:
    ring = Ring(2, 100)
    for _ in range(4):
        ended(ring, watch())
    live = watch()
    ring.begun(live, {})
    assert numbers(ring) == [3, 4, 5]
    assert ring.find(2) is None
    seen = ring.find(5)
    assert seen is not None
    assert seen.watch is live


def test_what_is_under_way_is_always_new() -> None:
    ring = Ring(10, 100)
    first = watch()
    ring.begun(first, {})
    ended(ring, watch())
    assert numbers(ring, since=ring.changes) == [1]
    first.end(200, None)
    before = ring.changes
    ring.ended(first)
    assert numbers(ring, since=before) == [1]
    assert numbers(ring, since=ring.changes) == []


def test_strangers_drive_nobody_out() -> None:
    ring = Ring(8, 100)
    ended(ring, watch())
    for _ in range(20):
        ended(ring, a_watch(lambda: 0.0, tenant=None))
    assert numbers(ring) == [19, 20, 21, 1]


@pytest.mark.parametrize("keeps", [True, False])
def test_content_is_seen_live_and_later_only_if_the_recorder_keeps_it(keeps: bool) -> None:
    ring = Ring(10, 100, lambda watch: keeps)
    made = watch(said=10)
    ring.begun(made, {})
    seen = ring.find(1)
    assert seen is not None
    assert (seen.said is not None) is keeps
    made.end(200, None)
    ring.ended(made)
    assert (seen.said is not None) is keeps
    assert seen.watch.content is None
    assert made.content is not None  # it is the recorder's, too


def test_content_has_bounds_of_its_own() -> None:
    ring = Ring(3, 25, keep_all)
    for _ in range(3):
        ended(ring, watch(said=10))
    assert [seen.said is not None for seen in ring.since(-1)] == [False, True, True]
    ended(ring, watch(said=100))
    assert [seen.said is not None for seen in ring.since(-1)] == [False, False, False]
    ended(ring, watch())
    ended(ring, watch(said=20))
    assert [seen.size for seen in ring.since(-1)] == [0, 0, 20]


def test_content_goes_with_its_request() -> None:
    ring = Ring(1, 100, keep_all)
    ended(ring, watch(said=60))
    ended(ring, watch(said=60))
    (seen,) = ring.since(-1)
    assert seen.said is not None


def test_what_has_ended_holds_no_key_and_no_frame() -> None:
    """S06. The client's headers are in what hides secrets, and all of a request in the frames of its faults."""
    key = {"authorization": "Bearer sk-secret"}
    made = a_watch(lambda: 0.0, hidden=partial(hidden_by, key))
    ring = Ring(1, 100)
    ring.begun(made, {})
    try:
        raise Truncated("cut")
    except Truncated as fault:
        made.end(502, fault)
    ring.ended(made)
    (seen,) = ring.since(-1)
    assert seen.watch.fault is not None
    assert seen.watch.fault.__traceback__ is None
    assert key not in gc.get_referents(seen.watch.hidden)
    assert made.fault is not None
    assert seen.watch.hidden(made.fault) is made.fault


def test_causes_stay_as_they_are_and_are_told_in_words() -> None:
    """They are others' too: whoever raised them may still want to tell where."""
    made = a_watch(lambda: 0.0)
    ring = Ring(1, 100)
    ring.begun(made, {})
    try:
        raise ConnectionResetError(104, "reset") from ValueError("a prompt")
    except ConnectionResetError as cause:
        fault = Truncated("cut")
        fault.__cause__ = cause
    made.end(502, fault)
    ring.ended(made)
    (seen,) = ring.since(-1)
    assert seen.watch.fault is not None
    assert facts_of(seen.watch.fault) == facts_of(fault)
    assert facts_of(fault)["cause"] == "ConnectionResetError: ECONNRESET < ValueError"
    assert fault.__cause__.__traceback__ is not None
    assert all(cause.__traceback__ is None for cause in causes(seen.watch.fault))


def test_causes_that_go_in_a_circle_have_an_end() -> None:
    """The fault of a store that several wait for is raised from itself."""
    fault, one, other = Truncated("cut"), ValueError("one"), ValueError("other")
    fault.__cause__, one.__cause__, other.__cause__ = one, other, one
    made = a_watch(lambda: 0.0)
    ring = Ring(1, 100)
    ring.begun(made, {})
    made.end(502, fault)
    ring.ended(made)
    (seen,) = ring.since(-1)
    assert seen.watch.fault is not None


def hidden_by(headers: dict[str, str], fault: Fault) -> Fault:
    return fault
