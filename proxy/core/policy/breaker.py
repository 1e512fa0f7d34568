"""The circuit breaker: while a backend keeps failing, its clients are refused at once (R12, F08).

    CLOSED ──tripped──▶ OPEN ──cooled──▶ HALF_OPEN ──recovered──▶ CLOSED
                         ▲                   │
                         └─────relapsed──────┘

To wait for a dead backend only makes the error slower. While the breaker is open, every request is refused with the
time after which to try again. Then a few probes are let through, and the first answer to one of them closes the
breaker. Each relapse doubles the pause, up to a limit. A request that no other backend can answer waits less: one such
request is let through every second.

A reply proves health as soon as it begins, because its end may be an hour away: otherwise quick failures would outweigh
all streams that go well meanwhile, and all clients would wait for a probe. A reply that breaks off later is a failure
then, and its proof is withdrawn.

Only failures that no request can cause count against a backend. One request may cause a crash, so a crash is only a
doubt: see `doubts`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from proxy.core.errors import (
    BackendFault,
    Empty,
    Fault,
    GatewayFault,
    Miscalled,
    Overloaded,
    OwnWords,
    RateLimited,
    Spared,
    Timeout,
    Truncated,
    Unfit,
    Unreachable,
)
from proxy.core.events import ReplyEnded
from proxy.core.policy.doubts import Doubts, RecentAskers
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


TRANSITIONS: dict[tuple[State, Signal], State] = {
    (State.CLOSED, Signal.TRIPPED): State.OPEN,
    (State.OPEN, Signal.COOLED): State.HALF_OPEN,
    (State.HALF_OPEN, Signal.RECOVERED): State.CLOSED,
    (State.HALF_OPEN, Signal.RELAPSED): State.OPEN,
}


class AttemptOutcome(Enum):
    SUCCESS = "success"
    FAILURE = "failure"
    DOUBT = "doubt"
    """A failure that the request itself may have caused."""
    NEUTRAL = "neutral"
    """Says nothing of the backend's health: the client left, or asked for something impossible."""


CLOSED, OPEN, HALF_OPEN = State
SUCCESS, FAILURE, DOUBT, NEUTRAL = AttemptOutcome
"""Needed with every request: Python 3.11 is slow to find a member in its enumeration."""

EVIDENCE = (Unreachable, Timeout, Truncated, Overloaded, GatewayFault)
MODEL_S_OWN = (RateLimited, Unfit, Miscalled, Empty)
"""A backend that limits our requests works. So does one whose model says nothing, or calls what it should not."""


def outcome(fault: Fault | None) -> AttemptOutcome:
    """Judges the backend's health by an ending. A refusal that names our mistake, or a limit, comes from a healthy
    backend, and so does a reply with a mistake of the model. A failure that no retry can cure (a wrong key, a redirect)
    must not be hidden by "try again later".
    """
    if fault is None:
        return SUCCESS
    if not isinstance(fault, BackendFault) or not fault.retryable or isinstance(fault, MODEL_S_OWN):
        return NEUTRAL
    return FAILURE if isinstance(fault, EVIDENCE) else DOUBT


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
LONGEST_ALONE = 1.0
"""Seconds between probes of a backend that no other can replace: a longer wait helps no client."""
NOT_BEGUN = -math.inf


class Admission:
    """One request that was let through. Its holder settles it once; to settle it again changes nothing."""

    __slots__ = ("_breaker", "_settled", "began_at", "era", "owner")

    def __init__(self, breaker: "Breaker", era: int, owner: str) -> None:
        self._breaker = breaker
        self._settled = False
        self.era = era
        self.owner = owner
        self.began_at = NOT_BEGUN

    def reply_began(self) -> None:
        """Notes that the backend has begun to answer: not only to keep the connection open."""
        if not self._settled and self.began_at == NOT_BEGUN:
            self._breaker._reply_began(self)

    def conclude(self, ended: ReplyEnded | None, digest: Callable[[], bytes]) -> None:
        """Settles it by the ending of the reply, if there is one. `digest` identifies the request."""
        verdict = outcome(ended.fault) if ended else NEUTRAL
        seen = ended.fault.seen if ended and ended.fault else ""
        self.settle(verdict, seen, digest() if verdict is DOUBT else b"")

    def settle(self, outcome: AttemptOutcome, seen: str = "an error", request: bytes = b"") -> None:
        """`seen` names what was wrong. `request` is the digest that identifies the request behind a doubt."""
        if not self._settled:
            self._settled = True
            self._breaker._settle(self, outcome, seen, request)


@dataclass(slots=True)
class _Streak:
    """The failures since the last success."""

    failures: int = 0
    doubts: Doubts = field(default_factory=Doubts)

    def join(self, earlier: "_Streak") -> None:
        self.failures += earlier.failures
        self.doubts.join(earlier.doubts)


@dataclass(slots=True, frozen=True)
class BreakerStanding:
    state: State
    why: str
    """Why it is not closed."""
    seconds: float
    """Seconds until a request is let through again."""
    requests: int
    """Within the window, and how many of them failed."""
    failures: int


class Breaker:
    def __init__(self, rules: BreakerRules, clock: Callable[[], float], name: str = "") -> None:
        self.state = CLOSED
        self._rules = rules
        self._clock = clock
        self._name = name
        self._era = 0
        """Counts the changes of state: a request that was admitted in an earlier era says nothing about this one."""
        self._window = Window(rules.window_seconds)
        self._streak: _Streak | None = None
        """None: there were none since the last success."""
        self._cleared: _Streak | None = None
        self._cleared_by: Admission | None = None
        """The admission whose reply alone has cleared the failures by its beginning."""
        self._askers = RecentAskers()
        self._pause = rules.open_seconds
        self._opened_at = 0.0
        self._probed_at = 0.0
        self._probes = 0
        self._why = ""
        """Why it is open."""

    @property
    def standing(self) -> "BreakerStanding":
        """As it is, changing nothing."""
        left = self._pause - (self._clock() - self._opened_at) if self.state is OPEN else 0.0
        closed = self.state is CLOSED
        requests, failures = self._window.totals(self._clock())
        return BreakerStanding(self.state, "" if closed else self._why, max(left, 0.0), requests, failures)

    def check(self, owner: str = "", *, only: bool = False) -> None:
        """Raises what `admit` would raise now, so that no request waits for a slot and is refused then. `owner` asks.
        `only`: no other backend can answer this request.
        """
        now = self._clock()
        self._askers.note(owner, now)
        if self.state is CLOSED:
            return
        longest = LONGEST_ALONE if only else math.inf
        if self.state is OPEN:
            left = min(self._pause, longest) - (now - self._opened_at)
            if left > 0:
                raise self._spared(left)
            self._signal(Signal.COOLED)
        if self._probes >= self._rules.probes and now - self._probed_at < longest:
            raise self._spared(min(self._rules.open_seconds, longest))

    def admit(self, owner: str = "", *, only: bool = False) -> Admission:
        self.check(owner, only=only)
        if self.state is HALF_OPEN:
            self._probes += 1
            self._probed_at = self._clock()
        return Admission(self, self._era, owner)

    def _spared(self, seconds: float) -> Spared:
        name = f" {self._name!r}" if self._name else ""
        seconds = max(seconds, 1.0)
        return Spared(
            f"The backend{name} {self._why} and is left alone for {math.ceil(seconds)} s more.",
            own_words=OwnWords("The backend failed repeatedly and is left alone for a while."),
            retry_after=seconds,
        )

    def _reply_began(self, admission: Admission) -> None:
        if admission.era != self._era:
            return
        if self.state is HALF_OPEN:
            self._recovered()
            admission.era = self._era  # from here on it is a request like the others
        admission.began_at = self._clock()
        self._window.add(admission.began_at, 1, 0)
        self._cleared, self._cleared_by = self._streak, admission
        self._streak = None

    def _settle(self, admission: Admission, outcome: AttemptOutcome, seen: str, request: bytes) -> None:
        if admission.era != self._era:
            return
        if self.state is HALF_OPEN:
            self._settle_probe(admission, outcome, seen, request)
        elif outcome is FAILURE or outcome is DOUBT:
            self._count(admission, outcome, seen, request)
        elif outcome is SUCCESS:
            if admission.began_at == NOT_BEGUN:
                self._reply_began(admission)
            self._streak = self._cleared_by = None

    def _settle_probe(self, admission: Admission, outcome: AttemptOutcome, seen: str, request: bytes) -> None:
        if outcome is SUCCESS:
            self._recovered()
        elif outcome is FAILURE or (outcome is DOUBT and self._doubted(admission, request)):
            self._failing().failures += outcome is FAILURE
            self._pause = min(self._pause * PAUSE_GROWTH, self._rules.open_seconds_limit)
            self._explain(self._in_a_row(admission), seen)
            self._signal(Signal.RELAPSED)
        else:
            self._probes -= 1

    def _recovered(self) -> None:
        self._pause = self._rules.open_seconds
        self._streak = None
        self._signal(Signal.RECOVERED)

    def _failing(self) -> _Streak:
        if self._streak is None:
            self._streak = _Streak()
        return self._streak

    def _doubted(self, admission: Admission, request: bytes) -> bool:
        """Is this doubt new, and not that of one owner against all others?"""
        doubts = self._failing().doubts
        is_new = doubts.add(admission.owner, request, self._rules.consecutive)
        return is_new and (doubts.several or self._is_alone(admission))

    def _is_alone(self, admission: Admission) -> bool:
        return self._askers.is_alone(admission.owner, self._clock())

    def _in_a_row(self, admission: Admission) -> int:
        streak = self._failing()
        return streak.failures + streak.doubts.weight(alone=self._is_alone(admission))

    def _count(self, admission: Admission, outcome: AttemptOutcome, seen: str, request: bytes) -> None:
        if self._cleared_by is admission and self._cleared is not None:
            self._failing().join(self._cleared)
        if outcome is DOUBT:
            self._failing().doubts.add(admission.owner, request, self._rules.consecutive)
        else:
            self._failing().failures += 1
        now = self._clock()
        forgotten = admission.began_at <= now - self._rules.window_seconds
        self._window.add(now, int(forgotten), int(outcome is FAILURE))
        requests, failures = self._window.totals(now)
        in_a_row = self._in_a_row(admission)
        too_many_in_a_row = in_a_row >= self._rules.consecutive
        too_large_a_share = requests >= self._rules.volume and failures >= requests * self._rules.rate
        if too_many_in_a_row:
            self._explain(in_a_row, seen)
            self._signal(Signal.TRIPPED)
        elif too_large_a_share:
            self._why = f"failed {failures} of {requests} times lately (last: {seen})"
            self._signal(Signal.TRIPPED)

    def _explain(self, times: int, seen: str) -> None:
        often = "once" if times == 1 else f"{times} times in a row"
        self._why = f"failed {often} (last: {seen})"

    def _signal(self, signal: Signal) -> None:
        self.state = TRANSITIONS[self.state, signal]
        self._era += 1
        self._probes = 0
        self._opened_at = self._clock()
        self._window = Window(self._rules.window_seconds)
