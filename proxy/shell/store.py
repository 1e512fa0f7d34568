"""Where responses are kept that later requests continue, as the engine sees it: both ways may take their time.

The engine asks between its steps: a request says what it continues, that is loaded, then the request is read; and a
reply that went well is saved before its client hears of the end, and could continue it.
"""

from typing import Protocol

from proxy.core.ledger import Ledger
from proxy.core.surfaces.surface import Stored


class Store(Protocol):
    async def load(self, response_id: str, ledger: Ledger) -> bytes:
        """The conversation up to that response and with it: its items as a JSON list. Raises the ClientFault that says
        why it is not to be had. The ledger's work says whether what is loaded is dear to read."""

    async def save(self, stored: Stored) -> None:
        """Keeps a response that went well."""
