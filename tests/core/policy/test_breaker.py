"""R12, F08: a failing backend is spared, and its clients are told at once when to come back."""

import pytest

from proxy.core.errors import (
    BackendFault,
    ClientFault,
    Empty,
    Fault,
    Garbled,
    GatewayFault,
    Miscalled,
    Overloaded,
    ProxyFault,
    RateLimited,
    Spared,
    Timeout,
    Truncated,
    Unfit,
    Unreachable,
)
from proxy.core.policy.breaker import (
    TRANSITIONS,
    Admission,
    AttemptOutcome,
    Breaker,
    BreakerRules,
    BreakerStanding,
    Signal,
    State,
    outcome,
)
from tests.core.policy.breaking import RULES, breaker, settle, trip
from tests.support.clocks import Clock, clock
from tests.support.tables import table

__all__ = ["breaker", "clock"]


def test_every_state_can_be_left() -> None:
    assert {state for state, _ in TRANSITIONS} == set(State)
    assert {signal for _, signal in TRANSITIONS} == set(Signal)


def test_failures_in_a_row_open_it(breaker: Breaker) -> None:
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_a_success_between_failures_starts_the_count_again(breaker: Breaker) -> None:
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    settle(breaker, AttemptOutcome.SUCCESS)
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    assert breaker.state is State.CLOSED


def test_a_large_share_of_failures_opens_it_only_with_enough_requests(breaker: Breaker) -> None:
    for _ in range(RULES.volume // 2 - 1):
        settle(breaker, AttemptOutcome.SUCCESS)
        settle(breaker, AttemptOutcome.FAILURE)
    settle(breaker, AttemptOutcome.SUCCESS)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_a_success_never_opens_it_though_the_share_of_failures_is_large(clock: Clock) -> None:
    breaker = Breaker(BreakerRules(consecutive=100, volume=4), clock)
    settle(breaker, AttemptOutcome.FAILURE, 3)
    settle(breaker, AttemptOutcome.SUCCESS)
    assert breaker.state is State.CLOSED


def test_failures_older_than_the_window_are_forgotten(breaker: Breaker, clock: Clock) -> None:
    for _ in range(RULES.volume // 2 - 1):
        settle(breaker, AttemptOutcome.SUCCESS)
        settle(breaker, AttemptOutcome.FAILURE)
    clock.now += RULES.window_seconds + 1
    settle(breaker, AttemptOutcome.SUCCESS)
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED


def test_neither_client_faults_nor_cancelled_requests_count(breaker: Breaker) -> None:
    settle(breaker, AttemptOutcome.NEUTRAL, 100)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    settle(breaker, AttemptOutcome.NEUTRAL)
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_open_refuses_at_once_and_says_when_to_come_back(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    clock.now += 2
    with pytest.raises(Overloaded) as refusal:
        breaker.admit()
    assert refusal.value.status == 503
    assert refusal.value.retry_after == RULES.open_seconds - 2
    assert refusal.value.retryable


def test_the_time_to_come_back_is_never_less_than_a_second(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    clock.now += RULES.open_seconds - 0.1
    with pytest.raises(Overloaded) as refusal:
        breaker.admit()
    assert refusal.value.retry_after == 1


def test_after_the_pause_a_bounded_number_of_probes_passes(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    clock.now += RULES.open_seconds
    breaker.admit()
    assert breaker.state is State.HALF_OPEN
    with pytest.raises(Overloaded):
        breaker.admit()


def test_who_only_looks_is_refused_likewise_but_takes_no_probe(breaker: Breaker, clock: Clock) -> None:
    """Whoever must queue for a place asks before and after."""
    breaker.check()
    trip(breaker)
    with pytest.raises(Spared):
        breaker.check()
    clock.now += RULES.open_seconds
    breaker.check()
    breaker.check()
    breaker.admit()
    with pytest.raises(Spared):
        breaker.check()


def test_an_answered_probe_closes_it_before_its_stream_has_ended(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    clock.now += RULES.open_seconds
    breaker.admit().reply_began()
    assert breaker.state is State.CLOSED


def test_a_failed_probe_opens_it_again_for_twice_as_long_up_to_the_cap(
    breaker: Breaker, clock: Clock
) -> None:
    trip(breaker)
    pauses = []
    pause = RULES.open_seconds
    for _ in range(6):
        clock.now += pause
        settle(breaker, AttemptOutcome.FAILURE)
        assert breaker.state is State.OPEN
        with pytest.raises(Overloaded) as refusal:
            breaker.admit()
        pause = refusal.value.retry_after or 0
        pauses.append(pause)
    assert pauses == [10, 20, 40, 60, 60, 60]


def test_recovery_resets_the_pause(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    clock.now += RULES.open_seconds
    settle(breaker, AttemptOutcome.FAILURE)
    clock.now += 2 * RULES.open_seconds
    settle(breaker, AttemptOutcome.SUCCESS)
    trip(breaker)
    with pytest.raises(Overloaded) as refusal:
        breaker.admit()
    assert refusal.value.retry_after == RULES.open_seconds


def test_a_probe_that_proves_nothing_gives_its_place_to_the_next(breaker: Breaker, clock: Clock) -> None:
    trip(breaker)
    clock.now += RULES.open_seconds
    settle(breaker, AttemptOutcome.NEUTRAL)
    assert breaker.state is State.HALF_OPEN
    breaker.admit()


def test_what_was_admitted_before_a_change_of_state_does_not_count_after_it(
    breaker: Breaker, clock: Clock
) -> None:
    old = breaker.admit()
    trip(breaker)
    clock.now += RULES.open_seconds
    probe = breaker.admit()
    old.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.HALF_OPEN
    probe.settle(AttemptOutcome.SUCCESS)
    assert breaker.state is State.CLOSED


def test_settling_twice_counts_once(breaker: Breaker) -> None:
    admissions = [breaker.admit() for _ in range(RULES.consecutive - 1)]
    for admission in admissions:
        admission.settle(AttemptOutcome.FAILURE)
        admission.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED


# ── replies that have begun ──


def begin(breaker: Breaker, times: int = 1) -> list[Admission]:
    admissions = [breaker.admit() for _ in range(times)]
    for admission in admissions:
        admission.reply_began()
    return admissions


def test_a_reply_that_has_begun_is_a_proof_of_health_though_it_goes_on_for_long(breaker: Breaker) -> None:
    """Else a handful of quick failures would outweigh all the streams that go well meanwhile."""
    for _ in range(3):
        settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
        begin(breaker)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    assert breaker.state is State.CLOSED


def test_it_does_not_outweigh_what_comes_after_it(breaker: Breaker) -> None:
    """Of a backend that still streams, but takes nothing new, clients must hear at once."""
    begin(breaker, 10)
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive)
    assert breaker.state is State.OPEN


def test_replies_that_begin_and_are_broken_off_one_after_the_other_open_it(breaker: Breaker) -> None:
    """A broken word is no proof: what its beginning had cleared counts again."""
    settle(breaker, AttemptOutcome.FAILURE)
    for _ in range(RULES.consecutive - 2):
        (reply,) = begin(breaker)
        reply.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED
    (reply,) = begin(breaker)
    reply.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_a_reply_that_is_broken_off_takes_back_its_own_proof_and_no_other(breaker: Breaker) -> None:
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    first, second = begin(breaker, 2)
    first.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 3)
    second.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_its_end_is_another_proof(breaker: Breaker) -> None:
    (reply,) = begin(breaker)
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    reply.settle(AttemptOutcome.SUCCESS)
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED


def test_a_whole_reply_is_a_proof_that_nothing_takes_back(breaker: Breaker) -> None:
    (first,) = begin(breaker)
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    (second,) = begin(breaker)
    first.settle(AttemptOutcome.SUCCESS)
    second.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED


def test_each_reply_counts_once_for_the_rate(clock: Clock) -> None:
    """When it begins, and not again when it ends."""
    breaker = Breaker(BreakerRules(consecutive=100, volume=4), clock)
    (reply,) = begin(breaker)
    reply.reply_began()
    reply.settle(AttemptOutcome.SUCCESS)
    settle(breaker, AttemptOutcome.FAILURE, 2)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_one_that_is_broken_off_counts_once_too_and_as_a_failure(clock: Clock) -> None:
    breaker = Breaker(BreakerRules(consecutive=100, rate=1, volume=4), clock)
    for reply in begin(breaker, 4):
        assert breaker.state is State.CLOSED
        reply.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_it_is_a_request_of_the_time_in_which_it_fails(clock: Clock) -> None:
    """Many that began long ago and break off together are many, though their beginnings are forgotten."""
    breaker = Breaker(BreakerRules(consecutive=100, volume=4), clock)
    replies = begin(breaker, 4)
    clock.now += 10 * RULES.window_seconds
    for reply in replies:
        assert breaker.state is State.CLOSED
        reply.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_a_client_that_leaves_does_not_unsay_what_has_begun(breaker: Breaker) -> None:
    """E5."""
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    (reply,) = begin(breaker)
    reply.settle(AttemptOutcome.NEUTRAL)
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.CLOSED


def test_what_begins_after_its_end_says_nothing(breaker: Breaker) -> None:
    admission = breaker.admit()
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 2)
    admission.settle(AttemptOutcome.FAILURE)
    admission.reply_began()
    settle(breaker, AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_a_probe_that_begins_closes_it_and_counts_as_a_failure_if_it_is_broken_off(
    breaker: Breaker, clock: Clock
) -> None:
    """Its end may be an hour away, and only a bounded number is let through until then (F08). But it is a request
    like the others from there on."""
    trip(breaker)
    clock.now += RULES.open_seconds
    (probe,) = begin(breaker)
    assert breaker.state is State.CLOSED
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive - 1)
    assert breaker.state is State.CLOSED
    probe.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.OPEN


def test_what_began_before_a_change_of_state_does_not_count_after_it(breaker: Breaker, clock: Clock) -> None:
    (old,) = begin(breaker)
    late, later = breaker.admit(), breaker.admit()
    trip(breaker)
    late.reply_began()
    assert breaker.state is State.OPEN
    clock.now += RULES.open_seconds
    probe = breaker.admit()
    later.reply_began()
    old.settle(AttemptOutcome.FAILURE)
    assert breaker.state is State.HALF_OPEN
    probe.settle(AttemptOutcome.SUCCESS)
    assert breaker.state is State.CLOSED


@table(
    ("fault", "expected"),
    [
        (None, AttemptOutcome.SUCCESS),
        (Unreachable("no connection"), AttemptOutcome.FAILURE),
        (Timeout("no answer"), AttemptOutcome.FAILURE),
        (Truncated("cut"), AttemptOutcome.FAILURE),
        (GatewayFault("502"), AttemptOutcome.FAILURE),
        (Overloaded("busy"), AttemptOutcome.FAILURE),
        (BackendFault("it crashed"), AttemptOutcome.DOUBT),
        (Garbled("nonsense"), AttemptOutcome.DOUBT),
        (Empty("nothing"), AttemptOutcome.NEUTRAL),
        (Unfit("no call"), AttemptOutcome.NEUTRAL),
        (Miscalled("no call at all"), AttemptOutcome.NEUTRAL),
        (RateLimited("slow down"), AttemptOutcome.NEUTRAL),
        (BackendFault("our key is wrong", retryable=False), AttemptOutcome.NEUTRAL),
        (ClientFault("bad request"), AttemptOutcome.NEUTRAL),
        (ProxyFault("a bug of ours"), AttemptOutcome.NEUTRAL),
    ],
)
def test_only_a_sick_backend_counts_as_a_failure(fault: Fault | None, expected: AttemptOutcome) -> None:
    """V20."""
    assert outcome(fault) is expected


def test_it_says_how_it_stands_and_changes_nothing() -> None:
    now = [0.0]
    breaker = Breaker(BreakerRules(consecutive=1, open_seconds=5), lambda: now[0])
    assert breaker.standing == BreakerStanding(State.CLOSED, "", 0.0, 0, 0)
    breaker.admit().settle(AttemptOutcome.FAILURE, "no answer in time")
    now[0] = 2.0
    assert breaker.standing == BreakerStanding(State.OPEN, "failed once (last: no answer in time)", 3.0, 0, 0)
    now[0] = 9.0
    assert breaker.standing.seconds == 0.0
    assert breaker.state is State.OPEN
