"""How much each tenant may ask for in a minute (P08), as far as this process knows.

Each tenant has two token buckets, each of the size of a minute's limit. A request is charged when it comes. Its tool
calls are known only from its reply: a request that declares tools is charged one call ahead, so that it is refused
while none is left, and the rest afterwards, if need be on credit.

Where several processes share the limits, the store keeps them, and these buckets are what was last heard of it: whoever
must wait is refused by them without another question. While the store is away each process goes by its share. Who has
begun without the store knows of nothing that was taken before: it has one unit, and then what flows into its share.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from proxy.core.errors import TooMany
from proxy.core.tenants import Tenant

MINUTE = 60.0
MILLISECOND = 0.001
"""The shortest wait that a client is told: less is only the rounding of clocks."""
TELLING = 5.0
"""Seconds after an outage in which others tell what they took: each asks once a second, or when its part has a unit."""


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

    __slots__ = ("_full_at", "_part", "_whole_at", "is_divided", "owed", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._part = size
        """How much of it is for this process."""
        self._full_at = -math.inf
        self.is_divided = False
        """It goes by its part: the store cannot be asked, or others may not have told it yet what they took."""
        self._whole_at = -math.inf
        """When that is over."""
        self.owed = 0
        """Units that were taken, and that the store does not know of."""

    def _seconds(self, units: int) -> float:
        return units * MINUTE / self._part

    def take(self, units: int, now: float) -> None:
        """Takes these units. More than there are leave a debt; a negative number is given back."""
        self._full_at = max(self._full_at, now) + self._seconds(units)

    def wait(self, units: int, now: float) -> float:
        """Returns the seconds until it holds so many; zero or less if it does now."""
        return self.refill(now) - self._seconds(self._part - units)

    def refill(self, now: float) -> float:
        """Returns the seconds until it is full."""
        return max(self._full_at - now, 0.0)

    def left(self, now: float) -> int:
        return max(0, math.floor((MINUTE - self.refill(now) + MILLISECOND) / self._seconds(1)))

    def divide(self, processes: int) -> None:
        """Nobody knows what the others take: this process goes by its part. As much of that is gone as of all."""
        self._part = max(1, self.size // processes)
        self.is_divided, self._whole_at = True, math.inf

    def begin_low(self, now: float) -> None:
        """Begins with one unit, unless more is known, because it is not known what was taken before."""
        if self._full_at == -math.inf:
            self._full_at = now + self._seconds(self._part - 1)

    def heard(self, refill: float, now: float) -> int:
        """The store says after how long it is full. Returns what has been taken meanwhile and is to be charged there:
        no more than has not flowed in again. After an outage it goes on by its part, until the store has heard of the
        others as well: else the first one would have what they took."""
        unknown = min(self.owed, math.ceil(self.refill(now) / self._seconds(1)))
        self.owed = 0
        if self._part < self.size:
            self._whole_at = min(self._whole_at, now + TELLING)
            if now < self._whole_at:
                return unknown
        self._part, self.is_divided = self.size, False
        self._full_at = now + refill
        self.take(unknown, now)
        return unknown


class Quota:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, dict[str, Bucket]] = {}
        """The buckets by the name of the tenant and of the unit."""

    def has_limits(self, tenant: Tenant) -> bool:
        return bool(self._of(tenant))

    def sizes(self, tenant: Tenant) -> Mapping[str, int]:
        """The limits that the tenant has, by their units."""
        return {unit: bucket.size for unit, bucket in self._of(tenant).items()}

    def limits(self, tenant: Tenant, unit: str) -> bool:
        return unit in self._of(tenant)

    def check(self, tenant: Tenant, unit: str) -> None:
        """Raises TooMany, with the time after which one may be had, while there is none."""
        bucket = self._of(tenant).get(unit)
        if bucket is not None and bucket.wait(1, self._clock()) >= MILLISECOND:
            raise self.exceeded(tenant)

    def charge(self, tenant: Tenant, unit: str, units: int = 1) -> None:
        """Takes so many, on credit if need be; a negative amount is given back."""
        if bucket := self._of(tenant).get(unit):
            bucket.take(units, self._clock())

    def exceeded(self, tenant: Tenant) -> TooMany:
        """A client above both limits is told the longer wait, because it will need both again."""
        now, buckets = self._clock(), self._of(tenant)
        waits = {unit: bucket.wait(1, now) for unit, bucket in buckets.items()}
        longest = max(waits, key=waits.__getitem__)
        wait = max(waits[longest], MILLISECOND)
        return TooMany(
            f"The limit of {buckets[longest].size} {UNITS[longest].plural} per minute is reached. "
            f"Try again in {math.ceil(wait)} s.",
            retry_after=math.ceil(wait * 1000) / 1000,
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

    # ── where the limits are shared ──

    def heard(self, tenant: Tenant, full_in: Mapping[str, float]) -> Mapping[str, int]:
        """The store says after how many seconds each bucket is full. Returns what it is to be charged besides."""
        now, buckets = self._clock(), self._of(tenant)
        unknown = {unit: buckets[unit].heard(seconds, now) for unit, seconds in full_in.items()}
        return {unit: units for unit, units in unknown.items() if units}

    def divide(self, tenant: Tenant, processes: int, *, is_new: bool = False) -> None:
        """The store cannot be asked: from now on this process has its part of the limits, at least 1, until it hears
        of the store again. `is_new`: it has never heard of it."""
        for bucket in self._of(tenant).values():
            bucket.divide(processes)
            if is_new:
                bucket.begin_low(self._clock())

    def is_divided(self, tenant: Tenant) -> bool:
        return any(bucket.is_divided for bucket in self._of(tenant).values())

    def owe(self, tenant: Tenant, units: Mapping[str, int]) -> None:
        """The store does not know that these were taken."""
        buckets = self._of(tenant)
        for unit, many in units.items():
            buckets[unit].owed += many

    def _of(self, tenant: Tenant) -> Mapping[str, Bucket]:
        """Returns the buckets of the limits that the tenant has."""
        buckets = self._buckets.get(tenant.name)
        if buckets is None:
            limits = {name: unit.limit(tenant) for name, unit in UNITS.items()}
            buckets = {name: Bucket(size) for name, size in limits.items() if size is not None}
            self._buckets[tenant.name] = buckets
        return buckets
