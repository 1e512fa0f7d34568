"""V20: whose failures are held against a backend, and how often."""

import pytest

from proxy.core.errors import BackendFault, ClientFault, Fault, Spared
from proxy.core.events import Ending, ReplyEnded
from proxy.core.policy.breaker import LONGEST_ALONE, AttemptOutcome, Breaker, BreakerRules, State
from proxy.core.policy.doubts import ALONE_SECONDS, Doubts, RecentAskers
from tests.core.policy.breaking import RULES, breaker, settle, trip
from tests.support.clocks import Clock, clock

__all__ = ["breaker", "clock"]


def test_whoever_asks_first_is_alone() -> None:
    company = RecentAskers()
    assert company.is_alone("ann", 0)
    company.note("ann", 0)
    assert company.is_alone("ann", 0)


def test_whoever_has_been_asking_too_is_company() -> None:
    company = RecentAskers()
    for owner, when in (("ann", 0), ("bob", 1), ("bob", 2), ("cid", 3), ("cid", 4)):
        company.note(owner, when)
    assert not company.is_alone("cid", 4)
    assert not company.is_alone("ann", 4)
    assert not company.is_alone("cid", 1 + ALONE_SECONDS)
    assert company.is_alone("cid", 2 + ALONE_SECONDS), "bob asked then for the last time"
    assert not company.is_alone("bob", 2 + ALONE_SECONDS)


def test_the_same_request_is_one() -> None:
    doubts = Doubts()
    assert doubts.weight(alone=True) == 0
    assert doubts.add("ann", b"1", 5)
    assert not doubts.add("ann", b"1", 5)
    assert doubts.add("ann", b"2", 5)
    assert (doubts.weight(alone=True), doubts.weight(alone=False), doubts.several) == (2, 1, False)
    assert doubts.add("bob", b"1", 5)
    assert (doubts.weight(alone=False), doubts.several) == (3, True)


def test_no_more_are_known_than_matter() -> None:
    """E7."""
    doubts = Doubts()
    assert [doubts.add("ann", bytes([number]), 3) for number in range(5)] == [True] * 3 + [False] * 2


def test_earlier_ones_can_be_taken_back() -> None:
    earlier, doubts = Doubts(), Doubts()
    earlier.add("ann", b"1", 5)
    doubts.add("ann", b"2", 5)
    doubts.join(earlier)
    assert doubts.weight(alone=True) == 2


# ── what they do to the breaker ──


def doubt(breaker: Breaker, request: str, owner: str = "ann") -> None:
    breaker.admit(owner).settle(AttemptOutcome.DOUBT, "500", request.encode())


def test_the_same_request_that_fails_again_and_again_is_one_failure(breaker: Breaker) -> None:
    for _ in range(100):
        doubt(breaker, "poison")
    assert breaker.state is State.CLOSED


def test_different_requests_that_fail_are_as_many_failures(breaker: Breaker) -> None:
    for number in range(RULES.consecutive):
        assert breaker.state is State.CLOSED
        doubt(breaker, str(number))
    with pytest.raises(Spared, match=r"failed 5 times in a row \(last: 500\)"):
        breaker.admit("ann")


def test_what_one_owner_s_requests_meet_is_not_held_against_the_backend_of_all(breaker: Breaker) -> None:
    """Small variations of one poisoned request are different requests too."""
    breaker.admit("bob").settle(AttemptOutcome.SUCCESS)
    for number in range(100):
        doubt(breaker, str(number))
    assert breaker.state is State.CLOSED
    doubt(breaker, "another", "bob")
    assert breaker.state is State.OPEN


def test_who_was_there_long_ago_is_there_no_more(breaker: Breaker, clock: Clock) -> None:
    breaker.admit("bob").settle(AttemptOutcome.SUCCESS)
    clock.now += ALONE_SECONDS
    for number in range(RULES.consecutive):
        doubt(breaker, str(number))
    assert breaker.state is State.OPEN


def test_doubts_and_failures_are_counted_together(breaker: Breaker) -> None:
    doubt(breaker, "poison")
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 2)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_doubts_do_not_count_for_the_share_of_failures(clock: Clock) -> None:
    """Whoever serves every other request is not sick."""
    breaker = Breaker(BreakerRules(volume=4), clock)
    for number in range(20):
        settle(breaker, AttemptOutcome.SUCCESS)
        doubt(breaker, str(number))
    assert breaker.state is State.CLOSED


def test_what_a_reply_had_cleared_counts_again_if_it_breaks_off(breaker: Breaker) -> None:
    for number in range(RULES.consecutive - 1):
        doubt(breaker, str(number))
    reply = breaker.admit("ann")
    reply.reply_began()
    assert breaker.state is State.CLOSED
    reply.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_a_poisoned_probe_neither_opens_nor_closes_it(breaker: Breaker, clock: Clock) -> None:
    """Of an owner that is not alone there."""
    trip(breaker)
    clock.now += RULES.open_seconds
    for number in range(10):
        doubt(breaker, str(number))
    assert breaker.state is State.HALF_OPEN
    settle(breaker, AttemptOutcome.SUCCESS)
    assert breaker.state is State.CLOSED


def test_a_probe_that_fails_as_no_other_did_opens_it_again(breaker: Breaker, clock: Clock) -> None:
    for number in range(RULES.consecutive):
        doubt(breaker, str(number))
    clock.now += RULES.open_seconds
    doubt(breaker, "0")
    assert breaker.state is State.HALF_OPEN
    doubt(breaker, "another")
    assert breaker.state is State.HALF_OPEN, "more of one owner are not counted"
    doubt(breaker, "another", "bob")
    assert breaker.state is State.OPEN


def failed(fault: Fault) -> ReplyEnded:
    return ReplyEnded(Ending.FAILED, fault=fault)


def test_a_reply_that_ended_is_judged_by_its_fault(breaker: Breaker) -> None:
    """The digest of a request is made only where it is needed: it may be long."""

    def never() -> bytes:
        raise AssertionError

    for number in range(RULES.consecutive - 1):
        breaker.admit().conclude(None, never)
        breaker.admit().conclude(failed(ClientFault("no")), never)
        breaker.admit().conclude(failed(BackendFault("crash")), str(number).encode)
    assert breaker.state is State.CLOSED
    breaker.admit().conclude(failed(BackendFault("crash")), b"last".upper)
    assert breaker.state is State.OPEN


# ── where nobody else can answer (V20) ──


def test_a_backend_without_a_stand_in_is_tried_every_second(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    for _ in range(10):
        with pytest.raises(Spared) as refusal:
            breaker.admit(only=True)
        assert refusal.value.retry_after == 1
        clock.now += LONGEST_ALONE
        breaker.admit(only=True).settle(AttemptOutcome.FAILURE)
        assert breaker.state is State.OPEN


def test_so_is_one_whose_probe_hangs(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    clock.now += LONGEST_ALONE
    breaker.admit(only=True)
    with pytest.raises(Spared):
        breaker.admit(only=True)
    clock.now += LONGEST_ALONE
    breaker.admit(only=True)
    with pytest.raises(Spared):
        breaker.check()


# ── what it says (V20, V47) ──


def told(breaker: Breaker) -> str:
    with pytest.raises(Spared) as refusal:
        breaker.check()
    return refusal.value.message


def test_it_says_what_was_seen_last_and_for_how_long_it_stays_open(clock: Clock) -> None:
    breaker = Breaker(RULES, clock, "chat")
    settle(breaker, AttemptOutcome.FAILURE, 4)
    breaker.admit().settle(AttemptOutcome.FAILURE, "503")
    clock.now += 1.5
    assert told(breaker) == (
        "The backend 'chat' failed 5 times in a row (last: 503) and is left alone for 4 s more."
    )
    clock.now += 3.5
    breaker.admit().settle(AttemptOutcome.FAILURE, "no connection")
    assert told(breaker) == (
        "The backend 'chat' failed 6 times in a row (last: no connection) and is left alone for 10 s more."
    )


def test_it_says_so_in_other_words_after_one_failure_or_many(clock: Clock) -> None:
    breaker = Breaker(BreakerRules(consecutive=1), clock)
    breaker.admit().settle(AttemptOutcome.FAILURE, "504")
    assert told(breaker) == "The backend failed once (last: 504) and is left alone for 5 s more."
    breaker = Breaker(BreakerRules(consecutive=100, volume=4), clock)
    settle(breaker, AttemptOutcome.SUCCESS, 2)
    breaker.admit().settle(AttemptOutcome.FAILURE, "504")
    breaker.admit().settle(AttemptOutcome.FAILURE, "503")
    assert told(breaker) == (
        "The backend failed 2 of 4 times lately (last: 503) and is left alone for 5 s more."
    )
