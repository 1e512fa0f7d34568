"""A circuit breaker with a clock of its own, and what makes it break."""

import pytest

from proxy.core.policy.breaker import (
    AttemptOutcome,
    Breaker,
    BreakerRules,
)
from tests.support.clocks import Clock

RULES = BreakerRules()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(RULES, clock)


def settle(breaker: Breaker, outcome: AttemptOutcome, times: int = 1) -> None:
    for _ in range(times):
        breaker.admit().settle(outcome)


def trip(breaker: Breaker) -> None:
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive)
