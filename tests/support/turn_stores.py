"""Stores for one turn, for tests of what is not about them."""

from collections.abc import Callable, Mapping, Sequence

from proxy.core.ledger import Ledger
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record
from proxy.core.surfaces.surface import Stored
from proxy.shell.turn_store import Owning, TurnStore


class Untouched:
    """A store that nobody may ask for anything: a request that names nothing and stores nothing needs none."""

    remembers = False

    def __init__(self) -> None:
        self.closed = 0

    async def load(self, named: Named, ledger: Ledger) -> Known:
        raise AssertionError("nothing is named")

    async def save(self, record: Record, owning: Owning) -> str | None:
        raise AssertionError("nothing is to be kept")

    def save_later(self, record: Record, owning: Owning) -> None:
        raise AssertionError("nothing is to be kept")

    def remember(self, stored: Callable[[], Stored | None]) -> None:
        """Nobody continues it."""

    async def recall(self, keys: Sequence[str]) -> Mapping[str, bytes] | None:
        raise AssertionError("nothing is lacking")

    async def share(self, memos: Mapping[str, bytes]) -> None:
        raise AssertionError("nobody will lack it")

    async def give_up(self) -> None:
        """There is nothing."""

    def close(self) -> None:
        self.closed += 1


UNTOUCHED: TurnStore = Untouched()
