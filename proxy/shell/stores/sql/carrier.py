"""Who carries steps out, as all engines that speak SQL see it, and what a step says of itself beforehand."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from proxy.shell.stores.keys import family_of
from proxy.shell.stores.sql.step import Ask, Result, Step


class Hold(NamedTuple):
    """What nobody else may change while a step works. Who writes one step at a time has no need to ask for it."""

    tenant: str | None
    """None: all that is kept."""
    family: str | None = None
    """Of responses that continue each other. None: all that is the tenant's."""


EVERYTHING: Final = (Hold(None),)
"""For steps that delete what belongs to many."""


def family(tenant: str, *ids: str | None) -> tuple[Hold, ...]:
    """What a step changes that works on these, and adds to what others may link to."""
    return tuple(Hold(tenant, each) for each in sorted({family_of(id) for id in ids if id is not None}))


def whole(tenant: str) -> tuple[Hold, ...]:
    """For steps that take away what others of the tenant may link to."""
    return (Hold(tenant),)


class Carrier(Protocol):
    most_swept: int
    """Rows that one step may delete, so that nobody's save waits long for it."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def write(
        self,
        step: Callable[[], Step[Result]],
        weight: int = 0,
        holds: tuple[Hold, ...] = (),
        once: bool = False,
    ) -> Result:
        """All of the step, or nothing. `weight`: in bytes. `once`: done again, it would answer otherwise."""

    async def read(self, step: Callable[[], Step[Result]], ahead: Ask | None = None) -> Result:
        """As of one moment. `ahead`: what a step will ask, all in one question, for whom each question costs a way."""

    def used_bytes(self) -> Step[int]: ...

    def shrunk(self, step: Step[Result]) -> Step[Result]:
        """The step, and then what it left empty is given back."""
