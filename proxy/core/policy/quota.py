"""How much each tenant may ask for in a minute (P08).

Two token buckets for each tenant, both as deep as a minute's allowance. A request is paid for when it comes. What it
will cost in tool calls nobody knows before its reply: one that declares tools pays for a single call ahead, so that it
waits while there is none left, and for the rest afterwards, if need be on credit.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from proxy.core.errors import TooMany
from proxy.core.events import Reply
from proxy.core.model import Call, Request
from proxy.core.tenants import Tenant

MINUTE = 60.0
MILLISECOND = 0.001
"""The finest wait that is asked of anybody: less is only the rounding of clocks."""


@dataclass(slots=True, frozen=True)
class _Unit:
    spelled: str
    limit: Callable[[Tenant], int | None]


REQUESTS = "requests"
TOOL_CALLS = "tool-calls"
UNITS = {
    REQUESTS: _Unit("requests", attrgetter("requests_per_minute")),
    TOOL_CALLS: _Unit("tool calls", attrgetter("tool_calls_per_minute")),
}


class Bucket:
    """Filled evenly within a minute. Its one number is the time at which it is full, or will be again."""

    __slots__ = ("_full_at", "_per_unit", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._per_unit = MINUTE / size
        self._full_at = -math.inf

    def take(self, units: int, now: float) -> None:
        """More than there is leaves a debt; less than nothing is given back."""
        self._full_at = max(self._full_at, now) + units * self._per_unit

    def wait(self, units: int, now: float) -> float:
        """Seconds until it holds so many; none or less if it does."""
        return self.refill(now) - (self.size - units) * self._per_unit

    def refill(self, now: float) -> float:
        """Seconds until it is full."""
        return max(self._full_at - now, 0.0)

    def left(self, now: float) -> int:
        return max(0, math.floor(self.size - self.refill(now) / self._per_unit + MILLISECOND))


class Quota:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, dict[str, Bucket]] = {}
        """By the tenant's name, and the unit's."""

    def admit(self, tenant: Tenant) -> None:
        """Charges a request, or raises TooMany with the time after which it would be let in."""
        bucket = self._of(tenant).get(REQUESTS)
        if bucket is None:
            return
        now = self._clock()
        if bucket.wait(1, now) >= MILLISECOND:
            raise self._exceeded(tenant, now)
        bucket.take(1, now)

    def reserve(self, tenant: Tenant, request: Request) -> bool:
        """Charges a call ahead to a request that declares tools, or refuses it as `admit` does; it then costs nothing.
        Was there anything to charge? `charge_reply` wants to know."""
        buckets = self._of(tenant)
        bucket = buckets.get(TOOL_CALLS)
        if bucket is None or not request.tools:
            return False
        now = self._clock()
        if bucket.wait(1, now) >= MILLISECOND:
            if REQUESTS in buckets:
                buckets[REQUESTS].take(-1, now)
            raise self._exceeded(tenant, now)
        bucket.take(1, now)
        return True

    def charge_reply(self, tenant: Tenant, reply: Reply, *, reserved: bool) -> None:
        """Charges what a reply, however it ended, came to, less what was charged ahead."""
        if bucket := self._of(tenant).get(TOOL_CALLS):
            bucket.take(
                len([ended for ended in reply.parts if isinstance(ended.part, Call)]) - reserved,
                self._clock(),
            )

    def _exceeded(self, tenant: Tenant, now: float) -> TooMany:
        """Whoever is over both limits is told the longer wait: what called so much will call again."""
        buckets = self._of(tenant)
        waits = {unit: bucket.wait(1, now) for unit, bucket in buckets.items()}
        longest = max(waits, key=waits.__getitem__)
        return TooMany(
            f"The limit of {buckets[longest].size} {UNITS[longest].spelled} per minute is reached. "
            f"Try again in {math.ceil(waits[longest])} s.",
            retry_after=math.ceil(waits[longest] * 1000) / 1000,
        )

    def remaining(self, tenant: Tenant) -> Mapping[str, str]:
        """Headers that tell a client how it stands, named as OpenAI names them. None without a limit."""
        headers: dict[str, str] = {}
        buckets = self._of(tenant)
        if not buckets:
            return headers
        now = self._clock()
        for unit, bucket in buckets.items():
            headers[f"x-ratelimit-limit-{unit}"] = str(bucket.size)
            headers[f"x-ratelimit-remaining-{unit}"] = str(bucket.left(now))
            headers[f"x-ratelimit-reset-{unit}"] = f"{bucket.refill(now):.3f}s"
        return headers

    def _of(self, tenant: Tenant) -> Mapping[str, Bucket]:
        """The buckets of those limits that the tenant has."""
        buckets = self._buckets.get(tenant.name)
        if buckets is None:
            limits = {name: unit.limit(tenant) for name, unit in UNITS.items()}
            buckets = {name: Bucket(size) for name, size in limits.items() if size is not None}
            self._buckets[tenant.name] = buckets
        return buckets
