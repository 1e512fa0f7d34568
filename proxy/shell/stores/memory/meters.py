"""Meters in the memory of one process."""

from collections.abc import Sequence

from proxy.shell.stores.meters import cost, held, missing, most_missing
from proxy.shell.stores.protocol import Granted, Wait, Want
from proxy.shell.stores.terms import Clock


class MemoryMeters:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[float, float]] = {}
        """When each is full, and when that was said."""

    def take(self, tenant: str, wants: Sequence[Want]) -> Granted | Wait:
        lacks = self._charge(tenant, [want._replace(units=0) for want in wants])
        if any(want.units and lack > most_missing(want) for want, lack in zip(wants, lacks, strict=True)):
            return Wait(lacks)
        return Granted(self._charge(tenant, wants))

    def charge(self, tenant: str, wants: Sequence[Want]) -> None:
        self._charge(tenant, wants)

    def _charge(self, tenant: str, wants: Sequence[Want]) -> list[float]:
        now = self._clock.steady()
        lacks = []
        for want in wants:
            key = tenant, want.unit
            full_at, seen = self._kept.get(key, (now, now))
            lack = missing(full_at, seen, now) + cost(want)
            holds = held(seen, now)
            self._kept[key] = holds + lack, holds
            lacks.append(max(0.0, lack))
        return lacks

    def sweep(self, most: int) -> int:
        """Forgets meters that are full, as they are no different from new ones."""
        now = self._clock.steady()
        full = [key for key, (full_at, seen) in self._kept.items() if full_at <= now and seen <= now][:most]
        for key in full:
            del self._kept[key]
        return len(full)
