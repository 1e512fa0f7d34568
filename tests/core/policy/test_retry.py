"""E6: what may follow a failed attempt, when, and how often in all (F81)."""

import pytest

from proxy.core.errors import (
    BackendFault,
    ClientFault,
    Empty,
    Fault,
    Garbled,
    Miscalled,
    OutOfQuota,
    Overloaded,
    ProxyFault,
    RateLimited,
    Silent,
    Spared,
    Timeout,
    Truncated,
    Unfit,
    Unreachable,
)
from proxy.core.policy.retry import (
    CREDIT_SECONDS,
    FIRST_PAUSE_SECONDS,
    RESERVE,
    Budget,
    RetryRules,
    passes_on,
    pause,
)
from tests.support.clocks import Clock, clock
from tests.support.tables import table

__all__ = ["clock"]

RULES = RetryRules()
BOLD = RetryRules(after_errors=True)
NEVER_AGAIN = BackendFault("Wrong key.", code="upstream_auth", retryable=False)


@table(
    ("fault", "again", "if_wanted", "elsewhere"),
    [
        # the backend cannot have begun to work
        (Unreachable("F01, F02"), True, True, True),
        (Unreachable("F03: TLS", retryable=False), False, False, True),
        (Overloaded("503 or 529"), True, True, True),
        (Overloaded("503 and a time", retry_after=1), True, True, True),
        (Overloaded("503 and too long a time", retry_after=30), False, False, True),
        (RateLimited("429"), False, False, True),
        (RateLimited("429 and a time", retry_after=1), True, True, True),
        (RateLimited("429 and too long a time", retry_after=30), False, False, True),
        (Spared("F07, F08", retry_after=1), False, False, True),
        (OutOfQuota("no money"), False, False, True),
        # what its model made is of no use to anybody
        (Miscalled("no call at all"), True, True, True),
        # it may have begun
        (BackendFault("F12: 500"), False, True, True),
        (Timeout("F04, or 504"), False, True, True),
        (Empty("closed"), False, True, True),
        (Truncated("broken off"), False, True, True),
        # it may still be at work
        (Silent("F05"), False, False, False),
        # it would be the same again
        (NEVER_AGAIN, False, False, False),
        (Garbled("F16"), False, False, False),
        (Unfit("the model's mistake"), False, False, False),
        (ClientFault("F14"), False, False, False),
        (ClientFault("F13", code="context_length_exceeded"), False, False, False),
        (ClientFault("408", status=408, retryable=True), False, False, False),
        (ProxyFault("stopping", retryable=True), False, False, False),
    ],
)
def test_who_is_asked_after_which_failure(
    fault: Fault, again: bool, if_wanted: bool, elsewhere: bool
) -> None:
    assert (pause(fault, 0, RULES, 0.5) is not None) is again
    assert (pause(fault, 0, BOLD, 0.5) is not None) is if_wanted
    assert passes_on(fault) is elsewhere


def test_the_pause_is_drawn_from_all_up_to_a_limit_that_doubles() -> None:
    """Full jitter: two that failed together do not come back together."""
    rules = RetryRules(attempts=9, longest_wait=1.0)
    longest = [pause(Unreachable("down"), retries, rules, 1.0) for retries in range(4)]
    assert longest == [FIRST_PAUSE_SECONDS, 2 * FIRST_PAUSE_SECONDS, 1.0, 1.0]
    assert pause(Unreachable("down"), 3, rules, 0.0) == 0.0


def test_nobody_comes_back_before_the_time_that_was_told() -> None:
    assert pause(Overloaded("busy", retry_after=1.5), 0, RULES, 0.0) == 1.5
    assert pause(Overloaded("busy", retry_after=1.5), 0, RULES, 1.0) == 1.5 + FIRST_PAUSE_SECONDS


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_the_number_of_attempts_includes_the_first(attempts: int) -> None:
    rules = RetryRules(attempts=attempts)
    retries = 0
    while pause(Unreachable("down"), retries, rules, 0.5) is not None:
        retries += 1
    assert retries + 1 == attempts


# ── the budget ──


def storm(budget: Budget, requests: int) -> int:
    """All requests fail, and whoever may asks again. How many reach the backend?"""
    reached = 0
    for _ in range(requests):
        budget.earn()
        reached += 1
        while budget.spend():
            budget.earn()
            reached += 1
    return reached


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_f81_an_outage_is_never_made_worse_than_by_the_share(clock: Clock, share: float) -> None:
    """Besides the few that need not be earned. What retries earn is not spent again."""
    assert storm(Budget(share, clock), 1000) == 1000 + 1000 * share + RESERVE


def test_a_quiet_proxy_may_ask_again_a_few_times(clock: Clock) -> None:
    budget = Budget(0.2, clock)
    assert [budget.spend() for _ in range(RESERVE + 1)] == [True] * RESERVE + [False]


def test_credits_expire(clock: Clock) -> None:
    budget = Budget(0.2, clock)
    for _ in range(100):
        budget.earn()
    clock.now += CREDIT_SECONDS + 1
    assert sum(budget.spend() for _ in range(50)) == RESERVE


def test_debts_do_too(clock: Clock) -> None:
    budget = Budget(0.0, clock)
    storm(budget, 10)
    assert not budget.spend()
    clock.now += CREDIT_SECONDS + 1
    assert budget.spend()
