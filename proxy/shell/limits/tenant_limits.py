"""What a tenant may have in a minute, of all processes together that share a store (P08).

A request is refused at once, and from memory, while it is known that its tenant must wait. Else the store is asked,
once and for all that the request takes, as soon as it is known whether that is a call, too. Nothing is asked twice: a
question without an answer may have been heard, until it turns out that it was not. While the store is away, each
process goes by its part of the limit, and whoever asks whether it is back takes nothing there: what is taken meanwhile
is charged afterwards, and for a while each goes on by its part, until others have told theirs. Without limits nothing
is asked at all.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from proxy.core.errors import TooMany
from proxy.core.events import Reply
from proxy.core.policy.quota import REQUESTS, TOOL_CALLS, Quota
from proxy.core.tenants import Tenant
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.stores.protocol import Granted, Live, NotAsked, StoreDown, StoreLate, Wait, Want


class Charge(Protocol):
    """What one request takes of its tenant's limits."""

    async def take(self, *, calls: bool) -> None:
        """Takes the request, and one call ahead if it declares tools; or nothing, and raises TooMany."""

    def end(self, reply: Reply | None) -> None:
        """Charges what its reply cost, however that ended, less what was charged ahead. A second call changes
        nothing."""


class _Free:
    """Of a tenant without limits."""

    async def take(self, *, calls: bool) -> None:
        pass

    def end(self, reply: Reply | None) -> None:
        pass


FREE: Final[Charge] = _Free()


class TenantLimits:
    def __init__(
        self,
        quota: Quota,
        shared: Live | None,
        living: Callable[[], int],
        was_there: Callable[[], bool],
        tasks: Tasks,
        metrics: Metrics,
    ) -> None:
        """`shared`: None if this process has no others beside it. `living`: how many processes there are, as far as is
        known. `was_there`: has this process ever heard of the store?"""
        self._quota = quota
        self._shared = shared
        self._living = living
        self._was_there = was_there
        self._tasks = tasks
        self._metrics = metrics
        self.remaining = quota.remaining

    def admit(self, tenant: Tenant) -> Charge:
        """Raises TooMany if it is known already that the tenant must wait."""
        if not self._quota.has_limits(tenant):
            return FREE
        self._quota.check(tenant, REQUESTS)
        if self._shared is None:
            self._quota.charge(tenant, REQUESTS)
        return _Charge(self, tenant)

    async def take(self, tenant: Tenant, units: Sequence[str]) -> None:
        """Takes one of each unit; or nothing, and raises TooMany."""
        if self._shared is None:
            self._take_here(tenant, units)
        else:
            for unit in units:
                self._quota.check(tenant, unit)
            await self._ask(self._shared, tenant, units)

    def _take_here(self, tenant: Tenant, units: Sequence[str]) -> None:
        """A request was charged when it was admitted."""
        if TOOL_CALLS in units:
            try:
                self._quota.check(tenant, TOOL_CALLS)
            except TooMany:
                self._quota.charge(tenant, REQUESTS, -1)
                raise self._quota.exceeded(tenant) from None
            self._quota.charge(tenant, TOOL_CALLS)

    async def _ask(self, shared: Live, tenant: Tenant, units: Sequence[str]) -> None:
        sizes, by_part = self._quota.sizes(tenant), self._quota.is_divided(tenant)
        units = [unit for unit in units if unit in sizes]
        wants = [Want(unit, most, int(unit in units and not by_part)) for unit, most in sizes.items()]
        try:
            answer = await shared.take(tenant.name, wants)
        except StoreDown as failure:
            self._take_of_part(tenant, units)
            taken = dict.fromkeys(units, 1)
            if by_part:
                self._quota.owe(tenant, taken)
            else:
                self._owe_if_uncharged(tenant, taken, failure)
            return
        self._tell(tenant, self._quota.heard(tenant, dict(zip(sizes, answer.full_in, strict=True))))
        if isinstance(answer, Wait):
            raise self._quota.exceeded(tenant)
        if by_part:
            for unit in units:
                self._quota.check(tenant, unit)
            for unit in units:
                self.charge(tenant, unit, 1)

    def _take_of_part(self, tenant: Tenant, units: Sequence[str]) -> None:
        self._quota.divide(tenant, self._living(), is_new=not self._was_there())
        for unit in units:
            self._metrics.count("limits_by_share", unit)
            self._quota.check(tenant, unit)
        for unit in units:
            self._quota.charge(tenant, unit)

    def charge_unread(self, tenant: Tenant) -> None:
        """A request that was admitted, and could not even be read."""
        if self._shared is not None:
            self.charge(tenant, REQUESTS, 1)

    def charge(self, tenant: Tenant, unit: str, units: int) -> None:
        """Charges it here and in the store, on credit if need be."""
        self._quota.charge(tenant, unit, units)
        if not self._quota.is_divided(tenant):
            self._tell(tenant, {unit: units})
        elif self._quota.limits(tenant, unit):
            self._quota.owe(tenant, {unit: units})

    def _tell(self, tenant: Tenant, units: Mapping[str, int]) -> None:
        """Charges in the store what was charged here; nobody waits for that."""
        sizes = self._quota.sizes(tenant)
        known = {unit: many for unit, many in units.items() if many and unit in sizes}
        if known and self._shared is not None:
            wants = [Want(unit, sizes[unit], many) for unit, many in known.items()]
            self._tasks.start(self._charge_shared(self._shared, tenant, wants), "charge")

    async def _charge_shared(self, shared: Live, tenant: Tenant, wants: Sequence[Want]) -> None:
        try:
            await shared.charge(tenant.name, wants)
        except StoreDown as failure:
            self._owe_if_uncharged(tenant, {want.unit: want.units for want in wants}, failure)

    def _owe_if_uncharged(self, tenant: Tenant, units: Mapping[str, int], failure: StoreDown) -> None:
        """Charges later what turns out not to have been charged. As long as the store may have done it, nobody pays
        twice."""
        if isinstance(failure, NotAsked):
            self._quota.owe(tenant, units)
        elif isinstance(failure, StoreLate):

            def ended(answer: "asyncio.Future[Granted | Wait | None]") -> None:
                if _charged_nothing(answer):
                    self._quota.owe(tenant, units)

            failure.answer.add_done_callback(ended)


def _charged_nothing(answer: "asyncio.Future[Granted | Wait | None]") -> bool:
    if answer.cancelled():
        return False
    failure = answer.exception()
    return isinstance(failure, NotAsked) if failure else isinstance(answer.result(), Wait)


class _Charge:
    __slots__ = ("_ahead", "_asked", "_ended", "_limits", "_tenant")

    def __init__(self, limits: TenantLimits, tenant: Tenant) -> None:
        self._limits = limits
        self._tenant = tenant
        self._asked = self._ended = False
        self._ahead = 0
        """Calls that were charged ahead."""

    async def take(self, *, calls: bool) -> None:
        self._asked = True
        await self._limits.take(self._tenant, (REQUESTS, TOOL_CALLS) if calls else (REQUESTS,))
        self._ahead = int(calls)

    def end(self, reply: Reply | None) -> None:
        if self._ended:
            return
        self._ended = True
        if not self._asked:
            self._limits.charge_unread(self._tenant)
        calls = 0 if reply is None else len(reply.calls)
        self._limits.charge(self._tenant, TOOL_CALLS, calls - self._ahead)
