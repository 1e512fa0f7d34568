"""The circuit breaker: a backend that keeps failing is spared, and its clients hear so at once (R12, F08).

    CLOSED ──tripped──▶ OPEN ──cooled──▶ HALF_OPEN ──recovered──▶ CLOSED
                         ▲                   │
                         └─────relapsed──────┘

Waiting does not make a dead backend well: it only makes the error slower. While the breaker is open every
request is refused with the time to come back; when that has passed, a few probes are let through, and the
first of them to be answered closes it again. Each relapse doubles the pause, up to a cap.

A reply is a proof of health as soon as it begins, because its end may be an hour away: failures that come at once
would outweigh all the streams that go well meanwhile, and a probe would keep everybody waiting. If it is broken off
it is a failure then, and its proof is taken back.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from proxy.core.errors import BackendFault, Fault, RateLimited, Spared, Unfit
from proxy.core.policy.window import Window


class State(Enum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Signal(Enum):
    TRIPPED = "too many failures"
    COOLED = "the pause is over"
    RECOVERED = "a probe was answered"
    RELAPSED = "a probe failed"


CLOSED, OPEN, HALF_OPEN = State.CLOSED, State.OPEN, State.HALF_OPEN

TRANSITIONS: dict[tuple[State, Signal], State] = {
    (State.CLOSED, Signal.TRIPPED): State.OPEN,
    (State.OPEN, Signal.COOLED): State.HALF_OPEN,
    (State.HALF_OPEN, Signal.RECOVERED): State.CLOSED,
    (State.HALF_OPEN, Signal.RELAPSED): State.OPEN,
}


class Outcome(Enum):
    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"
    """Says nothing of the backend's health: the client left, or asked for something impossible."""


SUCCESS, FAILURE, NEUTRAL = Outcome.SUCCESS, Outcome.FAILURE, Outcome.NEUTRAL


def outcome(fault: Fault | None) -> Outcome:
    """What an ending says of the backend's health.

    A refusal that names our mistake, or a limit, comes from a healthy backend, and so does a call that the model
    got wrong. And a failure that no retry can cure (a wrong key, a redirect) must not hide behind "try again later".
    """
    if fault is None:
        return SUCCESS
    if isinstance(fault, BackendFault) and fault.retryable and not isinstance(fault, RateLimited | Unfit):
        return FAILURE
    return NEUTRAL


@dataclass(slots=True, frozen=True)
class BreakerRules:
    """Consecutive failures as in Envoy and Finagle; rate with a minimum volume as in Hystrix."""

    consecutive: int = 5
    rate: float = 0.5
    volume: int = 20
    window_seconds: float = 10
    open_seconds: float = 5
    open_seconds_limit: float = 60
    probes: int = 1


PAUSE_GROWTH = 2
NEVER = -math.inf


class Admission:
    """One request that was let through. Whoever holds it settles it, once; settling again changes nothing."""

    __slots__ = ("_breaker", "_settled", "answered_at", "era")

    def __init__(self, breaker: "Breaker", era: int) -> None:
        self._breaker = breaker
        self._settled = False
        self.era = era
        self.answered_at = NEVER

    def answered(self) -> None:
        """The backend has begun to answer, and not just to keep the line busy."""
        if not self._settled and self.answered_at == NEVER:
            self._breaker._answered(self)

    def settle(self, outcome: Outcome) -> None:
        if not self._settled:
            self._settled = True
            self._breaker._settle(self, outcome)


class Breaker:
    def __init__(self, rules: BreakerRules, clock: Callable[[], float]) -> None:
        self.state = CLOSED
        self._rules = rules
        self._clock = clock
        self._era = 0
        """Counts the changes of state: what was admitted in an earlier era says nothing of this one."""
        self._window = Window(rules.window_seconds)
        self._consecutive = 0
        self._cleared = 0
        self._cleared_by: Admission | None = None
        """Failures in a row that the beginning of this reply has cleared, as long as nothing else did."""
        self._pause = rules.open_seconds
        self._opened_at = 0.0
        self._probes = 0

    def check(self) -> None:
        """Raises what `admit` would raise now: nobody queues for a place only to be refused there."""
        if self.state is OPEN and self._clock() - self._opened_at >= self._pause:
            self._signal(Signal.COOLED)
        if self.state is OPEN:
            raise self._refusal(self._pause - (self._clock() - self._opened_at))
        if self.state is HALF_OPEN and self._probes >= self._rules.probes:
            raise self._refusal(self._rules.open_seconds)

    def admit(self) -> Admission:
        self.check()
        if self.state is HALF_OPEN:
            self._probes += 1
        return Admission(self, self._era)

    def _refusal(self, seconds: float) -> Spared:
        return Spared(
            "The backend has failed repeatedly and is being spared; try again later.",
            retry_after=max(seconds, 1.0),
        )

    def _answered(self, admission: Admission) -> None:
        if admission.era != self._era:
            return
        if self.state is HALF_OPEN:
            self._settle_probe(SUCCESS)
            admission.era = self._era  # from here on it is a request like the others
        admission.answered_at = self._clock()
        self._window.add(admission.answered_at, 1, 0)
        self._cleared, self._cleared_by = self._consecutive, admission
        self._consecutive = 0

    def _settle(self, admission: Admission, outcome: Outcome) -> None:
        if admission.era != self._era:
            return
        if self.state is HALF_OPEN:
            self._settle_probe(outcome)
        elif outcome is FAILURE:
            self._count_failure(admission)
        elif outcome is SUCCESS:
            if admission.answered_at == NEVER:
                self._answered(admission)
            self._consecutive = 0
            self._cleared_by = None

    def _settle_probe(self, outcome: Outcome) -> None:
        if outcome is SUCCESS:
            self._pause = self._rules.open_seconds
            self._signal(Signal.RECOVERED)
        elif outcome is FAILURE:
            self._pause = min(self._pause * PAUSE_GROWTH, self._rules.open_seconds_limit)
            self._signal(Signal.RELAPSED)
        else:
            self._probes -= 1

    def _count_failure(self, admission: Admission) -> None:
        if self._cleared_by is admission:
            self._consecutive += self._cleared
        self._consecutive += 1
        now = self._clock()
        forgotten = admission.answered_at <= now - self._rules.window_seconds
        self._window.add(now, int(forgotten), 1)
        requests, failures = self._window.totals(now)
        too_many_in_a_row = self._consecutive >= self._rules.consecutive
        too_large_a_share = requests >= self._rules.volume and failures >= requests * self._rules.rate
        if too_many_in_a_row or too_large_a_share:
            self._signal(Signal.TRIPPED)

    def _signal(self, signal: Signal) -> None:
        self.state = TRANSITIONS[self.state, signal]
        self._era += 1
        self._probes = 0
        self._consecutive = 0
        self._opened_at = self._clock()
        self._window = Window(self._rules.window_seconds)
