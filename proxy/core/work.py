"""What one request may cost before its backend is asked: one budget for all work on it.

Bytes say little about the cost of a request: a schema of a kilobyte can take seconds. So code that loops more than once
over what a client wrote counts what it loops over, and spends it here, before or while it does. What is remembered from
an earlier request costs nothing, so the usual agent pays once for its tools.

The prices are units, ten of which take about a microsecond on a fast machine, and four on a slow one. They need not be
exact, but must grow as the work does.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from proxy.core.errors import ClientFault

UNITS_PER_REQUEST = 2_500_000
"""Between a quarter of a second and more than half of one. The first request of an agent with a hundred tools takes
a tenth of it."""

BRIEF_UNITS = 25_000
"""Work that may be done while all others wait: 3 to 6 ms. After its first request an agent needs none."""

MAX_GROWTH = 4 << 20
"""Bytes by which all schemas of a request may grow together, when references are replaced by what they point at and
constraints are put into words. The largest honest ones grow by some hundred KiB."""

TOO_COMPLEX = "request_too_complex"

Returned = TypeVar("Returned")


class UnitBudget(Protocol):
    """A budget, for code that need not know what happens when it is empty."""

    def spend(self, units: int) -> None: ...


class TakesLong(Exception):
    """The work takes longer than all others should wait: the caller begins it again in a thread or a process."""


class Allowance:
    """A budget of so many units, for work that may be left undone. Raises TakesLong when they are spent."""

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise TakesLong


class Work:
    """The budget of one request."""

    __slots__ = ("_floor", "growth_left", "left", "measured", "on", "owner", "takes_long")

    def __init__(self) -> None:
        self.owner = ""
        """The owner of the request, who waits in turn with the other owners for work that takes long."""
        self.left = UNITS_PER_REQUEST
        self.on: str | None = None
        """The field under work. None: the whole body."""
        self.takes_long = False
        """Is it known that this request takes longer than all others should wait?"""
        self.measured: tuple[object, int | None] = None, None
        """A body, and how many levels its values have at most, if that is known."""
        self._floor = 0
        self.growth_left = MAX_GROWTH

    def levels(self, body: object) -> int | None:
        """Returns how many levels of lists and objects there are at most, where that is known."""
        measured, levels = self.measured
        return levels if body is measured else None

    def forget_body(self) -> None:
        """Lets go of the body, for those who keep this longer than the request."""
        self.measured = None, None

    def spend(self, units: int) -> None:
        """Spends units. Raises the ClientFault that names the field under work when nothing is left."""
        self.left -= units
        if self.left < self._floor:
            raise self.too_much() if self.left < 0 else TakesLong

    def grow(self, size: int) -> None:
        """Spends the bytes by which a schema has grown."""
        self.growth_left -= size
        if self.growth_left < 0:
            raise self.too_much()

    def briefly(self, job: Callable[[], Returned]) -> Returned:
        """Does the work if it is short. If not, raises TakesLong, and spends nothing."""
        left, growth = self.left, self.growth_left
        self._floor = left - BRIEF_UNITS if left > BRIEF_UNITS else 0
        try:
            return job()
        except TakesLong:
            self.left, self.growth_left, self.takes_long = left, growth, True
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
