"""The carrier of steps, as all engines that speak SQL see it, and what a step says of itself beforehand."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from proxy.shell.stores.keys import family_of
from proxy.shell.stores.protocol import Pending
from proxy.shell.stores.sql.step import Result, Step


class Hold(NamedTuple):
    """What nobody else may change while a step works. An engine that writes one step at a time need not ask."""

    tenant: str | None
    """None: all that is kept."""
    family: str | None = None
    """Of responses that continue each other. None: all that is the tenant's."""


class Ahead(NamedTuple):
    """What a step will ask one by one, all in one question: for engines with a long way to what they keep."""

    statement: str
    parameters: tuple[Any, ...]
    answered: str
    """The statement whose answers it brings. Each row begins with the parameters, and goes on with the answer."""
    keys: int
    """How many parameters."""
    wanted: tuple[tuple[Any, ...], ...] = ()
    """Parameters to which the answer is nothing, unless it brings one."""


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

    def write(
        self,
        step: Callable[[], Step[Result]],
        weight: int = 0,
        holds: tuple[Hold, ...] = (),
        once: bool = False,
        ahead: Ahead | None = None,
    ) -> Pending[Result]:
        """All of the step, or nothing. `weight`: in bytes. `once`: done again, it would answer otherwise."""

    def read(self, step: Callable[[], Step[Result]], ahead: Ahead | None = None) -> Pending[Result]:
        """As of one moment."""

    def used_bytes(self) -> Step[int]: ...

    def shrunk(self, step: Step[Result]) -> Step[Result]:
        """The step, and then what it left empty is given back."""
