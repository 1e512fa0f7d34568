"""What is kept between turns, as the engine sees it for one of them.

The engine asks between its steps: what a request names is loaded, then the request is read; and a reply is kept before
its client hears of the end, and could continue it.
"""

from collections.abc import Callable
from typing import Protocol

from proxy.core.ledger import Ledger
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record
from proxy.core.surfaces.surface import Stored


class TurnStore(Protocol):
    async def load(self, named: Named, ledger: Ledger) -> Known:
        """Raises the fault that says why something is not to be had. The ledger's work says whether it takes long to
        read what is loaded."""

    async def save(self, record: Record) -> str | None:
        """Why it is not kept, in words for the client; None if it is."""

    def save_later(self, record: Record) -> None:
        """The same, where nobody waits for it."""

    async def remember(self, stored: Callable[[], Stored | None]) -> None:
        """A reply went well, and may be continued by whoever has got it."""

    def close(self) -> None:
        """The turn is over, however it ended."""
