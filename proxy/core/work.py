"""What one request may cost before its backend is asked: one budget, drawn from by all who work on it.

Bytes say little of what a request costs: a schema of a kilobyte can ask for seconds. So whoever loops over what a
client wrote, more often than once, counts what it loops over and spends it here, before or while it does. What is
remembered from an earlier request costs nothing, and so the usual agent pays once for its tools.

The prices are units, ten of which take about a microsecond on a fast machine, and four on a slow one. They need not be
exact: they have to grow as the work does.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from proxy.core.errors import ClientFault

UNITS_PER_REQUEST = 2_500_000
"""Between a quarter of a second and more than half of one. The first request of an agent with a hundred tools takes
a tenth of it."""

BRIEF_UNITS = 25_000
"""So much of it may be done where everybody else waits: 3 to 6 ms. After its first request an agent needs none."""

MAX_GROWTH = 4 << 20
"""Bytes by which all schemas of a request may grow together, when references are replaced by what they point at and
constraints are put into words. The largest honest ones grow by some hundred KiB."""

TOO_COMPLEX = "request_too_complex"

Returned = TypeVar("Returned")


class Purse(Protocol):
    """What is spent from, by those who need not know what happens when it is empty."""

    def spend(self, units: int) -> None: ...


class Dear(Exception):
    """This takes longer than everybody else should wait: begin it again where nobody does."""


class Allowance:
    """So many units and no more, for what may also be left undone: Dear when they are spent."""

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise Dear


class Work:
    """One per request."""

    __slots__ = ("_floor", "_growth", "dear", "left", "measured", "on", "owner")

    def __init__(self) -> None:
        self.owner = ""
        """Whose request it is, and in whose turn what is dear is done."""
        self.left = UNITS_PER_REQUEST
        self.on: str | None = None
        """The field that is being worked on; None: the whole body."""
        self.dear = False
        """Is it known that this request takes longer than everybody else should wait?"""
        self.measured: tuple[object, int | None] = None, None
        """A body, and on how many levels its values stand, if that is known."""
        self._floor = 0
        self._growth = MAX_GROWTH

    def levels(self, body: object) -> int | None:
        """Of lists and objects inside one another, where they were counted."""
        measured, levels = self.measured
        return levels if body is measured else None

    def spend(self, units: int) -> None:
        """Raises the ClientFault that names what was worked on when nothing is left."""
        self.left -= units
        if self.left < self._floor:
            raise self.too_much() if self.left < 0 else Dear

    def grow(self, size: int) -> None:
        """The same for bytes that a schema has now, and had not when it came."""
        self._growth -= size
        if self._growth < 0:
            raise self.too_much()

    def briefly(self, job: Callable[[], Returned]) -> Returned:
        """Does what can be done in short; raises Dear, and is as before, where that is not possible."""
        left, growth = self.left, self._growth
        self._floor = max(0, left - BRIEF_UNITS)
        try:
            return job()
        except Dear:
            self.left, self._growth, self.dear = left, growth, True
            raise
        finally:
            self._floor = 0

    def too_much(self) -> ClientFault:
        what = self.on or "The request body"
        return ClientFault(
            f"{what} brings the work on this request above what one may cost: send less, or write it in a simpler way, "
            "with fewer alternatives and references in schemas.",
            param=self.on,
            code=TOO_COMPLEX,
        )
