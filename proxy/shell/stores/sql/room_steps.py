"""The step that makes room where too much is kept, and what the process that sweeps knows of who has how much.

Nobody counts that when something is saved. Once the store is full, the process walks through all rows to count it, then
through what has ended, the oldest first, to find what belongs to those who have most: some hundred rows at a time.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from proxy.shell.stores.shares import fair_level
from proxy.shell.stores.sql import statements as sql
from proxy.shell.stores.sql.shared_steps import NEVER, RowBudget, StepsBase
from proxy.shell.stores.sql.step import Ask, Rows, Step

LOOKED_AT: Final = 500
"""Rows at a time: some milliseconds."""

SLACK: Final = 64
"""This part of the whole is made free besides, so that all is not counted again a minute later."""

HOLDS: Final = 32
"""What was counted holds until this part of the whole was deleted: others may have deleted it."""


@dataclass(slots=True, frozen=True)
class Room:
    """How far the making of room has come. Never changed: a step may be done again."""

    used: int
    """When it began."""
    most: int
    """As much there may be."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """What each tenant has, as far as it is counted."""
    level: int | None = None
    """As much each may have. None: it is not counted yet."""
    last: tuple[Any, ...] = ("", "")
    """The row behind which to look on: of all, then of what has ended."""
    found: Rows = field(default_factory=list)
    """Of who has more: tenant, tail and weight, oldest first."""
    is_through: bool = False
    """There are no more to be found."""
    has_found: bool = False
    """Ever."""

    @property
    def enough(self) -> int:
        return self.most - self.most // SLACK

    @property
    def question(self) -> Ask | None:
        """What to ask before anything can be deleted."""
        if self.found or self.is_through:
            return None
        if self.level is None:
            return sql.WEIGHTS_AFTER, (*self.last, LOOKED_AT)
        return sql.OLDEST_AFTER, (self.last[0], *self.last, LOOKED_AT)

    def told(self, rows: Rows) -> "Room":
        """After the answer."""
        return self._counted(rows) if self.level is None else self._looked(rows, self.level)

    def _counted(self, rows: Rows) -> "Room":
        weights = Counter(self.weights)
        for tenant, _, _, weight in rows:
            weights[tenant] += weight
        if sum(number for _, _, number, _ in rows) == LOOKED_AT:
            return replace(self, weights=weights, last=rows[-1][:2])
        level = fair_level(weights.values(), weights.total() - (self.used - self.enough))
        return replace(self, weights=weights, level=level, last=(NEVER, "", ""))

    def _looked(self, rows: Rows, level: int) -> "Room":
        """A tenant that was not there when it was counted has nothing."""
        found = [row[1:] for row in rows if self.weights.get(row[1], 0) > level]
        last = rows[-1][:3] if rows else self.last
        has_found = self.has_found or bool(found)
        return replace(self, found=found, last=last, is_through=len(rows) < LOOKED_AT, has_found=has_found)

    @property
    def target(self) -> int:
        """Where there is so much, nothing more is deleted."""
        return self.most if self.is_at_end else self.enough

    @property
    def is_at_end(self) -> bool:
        return self.is_through and not self.found

    def is_outdated(self, used: int) -> bool:
        """Is it to be counted anew?"""
        return (self.is_at_end and self.has_found) or self.used - used > self.used // HOLDS


@dataclass(slots=True, frozen=True)
class Made:
    deleted: int
    room: Room | None = None
    """Where there is more to do."""


class RoomSteps(StepsBase):
    def _make_room(self, used: int, most: int, budget: RowBudget, room: Room | None) -> Step[Made]:
        """Deletes the oldest that have ended, of who has most, until there is enough room. Where nothing of theirs can
        be deleted, the oldest of all."""
        limit = self._keeping.most_bytes
        if used <= (limit if room is None else room.target):
            return Made(0)
        if room is None:
            oldest = yield sql.OLDEST, (most,)
            if oldest and (yield sql.SHARED, ()):
                return Made(0, Room(used, limit))
            return Made((yield from self._delete(oldest, used - limit, budget)))
        if room.is_outdated(used):
            return Made(0, Room(used, room.most))
        if room.is_at_end:
            oldest = yield sql.OLDEST, (most,)
            deleted = yield from self._delete(oldest, used - limit, budget)
            return Made(deleted, room if deleted == most else None)
        return (yield from self._delete_found(room, used, most, budget))

    def _delete(self, rows: Rows, excess: int, budget: RowBudget) -> Step[int]:
        deleted = 0
        for tenant, tail, weight in rows:
            if excess <= 0:
                break
            yield from self._bury(tenant, tail, budget)
            excess -= weight
            deleted += 1
        return deleted

    def _delete_found(self, room: Room, used: int, most: int, budget: RowBudget) -> Step[Made]:
        """Somebody else may have deleted some of them."""
        assert room.level is not None, "nothing is found before"
        weights, excess, looked_at, deleted = Counter(room.weights), used - room.enough, 0, 0
        for tenant, tail, weight in room.found[:most]:
            if excess <= 0 or budget.left <= 0:
                break
            looked_at += 1
            rows = yield sql.STATE, (tenant, tail)
            if rows and not rows[0][1] and weights[tenant] > room.level:
                freed_before = budget.freed
                yield from self._bury(tenant, tail, budget)
                weights[tenant] -= budget.freed - freed_before
                excess -= weight
                deleted += 1
        return Made(deleted, replace(room, weights=weights, found=room.found[looked_at:]))
