"""How much each tenant may ask for in a minute (P08).

Each tenant has two token buckets, each of the size of a minute's limit. A request is charged when it comes. Its tool
calls are known only from its reply: a request that declares tools is charged one call ahead, so that it is refused
while none is left, and the rest afterwards, if need be on credit.
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
"""The shortest wait that a client is told: less is only the rounding of clocks."""


@dataclass(slots=True, frozen=True)
class _Unit:
    plural: str
    limit: Callable[[Tenant], int | None]


REQUESTS = "requests"
TOOL_CALLS = "tool-calls"
UNITS = {
    REQUESTS: _Unit("requests", attrgetter("requests_per_minute")),
    TOOL_CALLS: _Unit("tool calls", attrgetter("tool_calls_per_minute")),
}


class Bucket:
    """A bucket that fills evenly within a minute. It stores one number: the time at which it was or will be full."""

    __slots__ = ("_full_at", "_per_unit", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._per_unit = MINUTE / size
        self._full_at = -math.inf

    def take(self, units: int, now: float) -> None:
        """Takes so many. More than there is leaves a debt; a negative amount is given back."""
        self._full_at = max(self._full_at, now) + units * self._per_unit

    def wait(self, units: int, now: float) -> float:
        """Returns the seconds until it holds so many; zero or less if it does now."""
        return self.refill(now) - (self.size - units) * self._per_unit

    def refill(self, now: float) -> float:
        """Returns the seconds until it is full."""
        return max(self._full_at - now, 0.0)

    def left(self, now: float) -> int:
        return max(0, math.floor(self.size - self.refill(now) / self._per_unit + MILLISECOND))


class Quota:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, dict[str, Bucket]] = {}
        """The buckets by the name of the tenant and of the unit."""

    def admit(self, tenant: Tenant) -> None:
        """Charges a request, or raises TooMany with the time after which it would be admitted."""
        bucket = self._of(tenant).get(REQUESTS)
        if bucket is None:
            return
        now = self._clock()
        if bucket.wait(1, now) >= MILLISECOND:
            raise self._exceeded(tenant, now)
        bucket.take(1, now)

    def reserve(self, tenant: Tenant, request: Request) -> bool:
        """Charges a call ahead to a request that declares tools, or refuses it as `admit` does, and then charges
        nothing. Says whether anything was charged, for `charge_reply`."""
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
        """Charges what a reply cost, however it ended, less what was charged ahead."""
        if bucket := self._of(tenant).get(TOOL_CALLS):
            bucket.take(
                len([ended for ended in reply.parts if isinstance(ended.part, Call)]) - reserved,
                self._clock(),
            )

    def _exceeded(self, tenant: Tenant, now: float) -> TooMany:
        """A client above both limits is told the longer wait, because it will need both again."""
        buckets = self._of(tenant)
        waits = {unit: bucket.wait(1, now) for unit, bucket in buckets.items()}
        longest = max(waits, key=waits.__getitem__)
        return TooMany(
            f"The limit of {buckets[longest].size} {UNITS[longest].plural} per minute is reached. "
            f"Try again in {math.ceil(waits[longest])} s.",
            retry_after=math.ceil(waits[longest] * 1000) / 1000,
        )

    def remaining(self, tenant: Tenant) -> Mapping[str, str]:
        """Returns the headers that tell a client what is left, under OpenAI's names. None without a limit."""
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
        """Returns the buckets of the limits that the tenant has."""
        buckets = self._buckets.get(tenant.name)
        if buckets is None:
            limits = {name: unit.limit(tenant) for name, unit in UNITS.items()}
            buckets = {name: Bucket(size) for name, size in limits.items() if size is not None}
            self._buckets[tenant.name] = buckets
        return buckets
