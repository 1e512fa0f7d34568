"""What may follow a failed attempt: the same backend again after a pause, or another one (E6).

Both are allowed only while the client has seen nothing of a reply, which the caller makes sure of. The same backend is
asked again only if it cannot have begun to work, if what its model made cannot be used by anybody, or if its operator
wants it: otherwise a model could be paid for twice. A random pause before it, on average twice as long each time, keeps
clients that failed together from returning together.

Each backend has one budget of retries, so that they never make an outage worse (F81): however many requests fail, the
backend gets at most a fifth more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from proxy.core.errors import (
    BackendFault,
    Empty,
    Fault,
    GatewayFault,
    Miscalled,
    OutOfQuota,
    Overloaded,
    RateLimited,
    Spared,
    Timeout,
    Truncated,
    Unreachable,
)
from proxy.core.policy.window import Window

FIRST_PAUSE_SECONDS = 0.25
PAUSE_GROWTH = 2
CREDIT_SECONDS = 10.0
"""What requests have earned lasts so long: it is for an outage now, not for a later one."""

RESERVE = 3
"""Retries within that time that need not be earned: otherwise a proxy with few requests would never have one."""


@dataclass(slots=True, frozen=True)
class RetryRules:
    attempts: int = 2
    """Attempts at one backend, including the first."""
    after_errors: bool = False
    """Retry also where the backend may have done its work already?"""
    longest_wait: float = 2
    """In seconds. A backend that asks for a longer pause is not asked again."""


class Again(Enum):
    """May the same backend be asked again?"""

    YES = "it has not begun to work, or only another try can help"
    IF_IT_SAYS_WHEN = "it has not begun to work, but a retry is of use only if it sent Retry-After"
    IF_WANTED = "it may have done its work"
    NO = "it would help nobody"


ASK_AGAIN: Mapping[type[Fault], Again] = {
    Unreachable: Again.YES,
    Overloaded: Again.YES,
    Miscalled: Again.YES,
    RateLimited: Again.IF_IT_SAYS_WHEN,
    BackendFault: Again.IF_WANTED,
    GatewayFault: Again.IF_WANTED,
    Timeout: Again.IF_WANTED,
    Empty: Again.IF_WANTED,
    Truncated: Again.IF_WANTED,
    Spared: Again.NO,
    OutOfQuota: Again.NO,
}
"""The faults that another backend may not have. A fault that is missing here would happen there too, would hide a
mistake in the configuration, or may still be under way (`Silent`, F05)."""


def pause(fault: Fault, retries: int, rules: RetryRules, chance: float) -> float | None:
    """Returns the seconds until the same backend is asked again; None if it is not. `chance` is between 0 and 1."""
    again = ASK_AGAIN.get(type(fault), Again.NO)
    allowed = (
        again is Again.YES
        or (again is Again.IF_IT_SAYS_WHEN and fault.retry_after is not None)
        or (again is Again.IF_WANTED and rules.after_errors)
    )
    wished = fault.retry_after or 0.0
    if not (allowed and fault.retryable) or retries + 1 >= rules.attempts or wished > rules.longest_wait:
        return None
    longest = min(FIRST_PAUSE_SECONDS * float(PAUSE_GROWTH) ** retries, rules.longest_wait)
    return wished + chance * longest


def passes_on(fault: Fault) -> bool:
    """May another backend be asked instead? A backend that works must not hide the wrong key or address of another."""
    misconfigured = type(fault) is BackendFault and not fault.retryable
    return type(fault) in ASK_AGAIN and not misconfigured


class Budget:
    """What the requests to one backend earn, and retries to it spend."""

    def __init__(self, share: float, clock: Callable[[], float]) -> None:
        self._share = share
        self._clock = clock
        self._window = Window(CREDIT_SECONDS)  # of requests, retries among them, and of retries

    def earn(self) -> None:
        """Notes that a request has gone out, a retry or not."""
        self._window.add(self._clock(), 1, 0)

    def spend(self) -> bool:
        """May there be one more retry? If so, it is charged, whether it goes out or not."""
        now = self._clock()
        requests, retries = self._window.totals(now)
        if retries + 1 > RESERVE + self._share * max(requests - retries, 0):
            return False
        self._window.add(now, 0, 1)
        return True
