"""What is kept between turns, as the engine sees it for one of them.

The engine asks between its steps: what a request names is loaded, then the request is read; and a reply is kept before
its client hears of the end, and could continue it. Work in the background is kept before a backend is asked for it.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Loan
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record
from proxy.core.surfaces.surface import Stored
from proxy.shell.destination import Destination

Owning = Callable[[Record], Record]
"""Makes a record one that has its history in itself: what it continues may have been deleted since it was loaded, or
was never kept."""


class BackgroundRun(Protocol):
    """Work in the background: from its beginning on it is kept, and no request's end is its own.

    Once somebody else has ended it, `asking` and `save` raise a ConnectionError, as if its client had left.
    """

    @property
    def channel(self) -> Destination:
        """Where its answer goes."""

    def go(self, work: Coroutine[Any, Any, Any]) -> None:
        """Does the work, beside all requests."""

    async def asking(self) -> None:
        """There is a place at a backend, which is about to be asked."""

    async def save(self, record: Record, owning: Owning) -> str | None:
        """See `TurnStore.save`."""

    async def show(self, channel: Destination) -> None:
        """Answers the request that has begun it."""


class Background(Protocol):
    """Goes on with work that no request waits for."""

    async def begin(self, tenant: str, record: Record, owning: Owning, loan: Loan) -> BackgroundRun:
        """Keeps the record of what is queued, or raises the fault that says why not. The loan is the run's then."""


class TurnStore(Protocol):
    remembers: bool
    """Is what was said remembered besides what is stored?"""

    async def load(self, named: Named, ledger: Ledger) -> Known:
        """Raises the fault that says why something is not to be had. The ledger's work says whether it takes long to
        read what is loaded."""

    async def begin(self, record: Record, owning: Owning) -> BackgroundRun:
        """See `Background.begin`."""

    async def save(self, record: Record, owning: Owning) -> str | None:
        """Returns why it is not kept, in words for the client; None if it is. `owning` is used if its parent is
        gone."""

    def save_later(self, record: Record, owning: Owning) -> None:
        """Saves the record, where nobody waits for it."""

    def remember(self, stored: Callable[[], Stored | None]) -> None:
        """A reply went well, and may be continued by whoever has got it."""

    async def recall(self, keys: Sequence[str]) -> Mapping[str, bytes] | None:
        """The memos of these names that another process of the proxy has told, as far as there are any. None: that
        cannot be said."""

    async def share(self, memos: Mapping[str, bytes]) -> None:
        """Tells them to the other processes."""

    async def give_up(self) -> None:
        """The request is about to be refused: its client may ask again as soon as it hears of that."""

    def close(self) -> None:
        """The turn is over, however it ended."""
