"""The step that counts what is kept, for people: by status, of all tenants or of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proxy.shell.stores.sql import statements as sql
from proxy.shell.stores.sql.sealing_steps import SealingSteps
from proxy.shell.stores.sql.step import Step


@dataclass(slots=True, frozen=True)
class Census:
    statuses: Mapping[str, int]
    """How many responses there are of each."""
    conversations: int
    oldest: int | None
    """When the oldest response was made, in seconds since 1970."""
    tenants: Sequence[str]
    workers: int
    """Processes that use the store now."""
    sealed_by: Mapping[str, int]
    """How many rows of both there are, deleted ones among them, by the id of their key; "" for those without."""

    @property
    def responses(self) -> int:
        return sum(self.statuses.values())


@dataclass(slots=True, frozen=True)
class Inspected:
    version: int
    """Of the tables."""
    bytes: int
    """What is used by what is kept."""
    census: Census
    engine: str
    """With its version."""
    on_disk: int = 0
    """If the engine knows it."""


class CensusSteps(SealingSteps):
    def census(self, tenant: str | None) -> Step[Census]:
        """None: all tenants."""
        rows = yield sql.CENSUS, (self._horizon(True), self._horizon(False), tenant)
        talks = yield sql.CENSUS_OF_TALKS, (self._talk_horizon(), tenant)
        living = yield sql.LIVING, self._lease()
        statuses: dict[str, int] = {}
        for _, status, number, _ in rows:
            statuses[status] = statuses.get(status, 0) + number
        return Census(
            statuses,
            conversations=sum(number for _, number in talks),
            oldest=min((oldest for *_, oldest in rows), default=None),
            tenants=sorted({row[0] for row in rows + talks}),
            workers=living[0][0],
            sealed_by=(yield from self.sealed_by(tenant)),
        )
