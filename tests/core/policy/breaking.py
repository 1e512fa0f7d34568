"""A circuit breaker with a clock of its own, and what makes it break."""

import pytest

from proxy.core.policy.breaker import (
    AttemptOutcome,
    Breaker,
    BreakerRules,
)

RULES = BreakerRules()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(RULES, clock)


def settle(breaker: Breaker, outcome: AttemptOutcome, times: int = 1) -> None:
    for _ in range(times):
        breaker.admit().settle(outcome)


def trip(breaker: Breaker) -> None:
    settle(breaker, AttemptOutcome.FAILURE, RULES.consecutive)
