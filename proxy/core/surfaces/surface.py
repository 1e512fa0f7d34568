"""What a surface is: the language of one kind of client, as the engine meets it.

It reads a body into the neutral request and, with what it read, tells the reply: as a stream or whole. The engine knows
nothing of the words on either side.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

from proxy.core.events import Event, Reply
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.surfaces.clients import ClientProfile
from proxy.core.surfaces.framing import Framing

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class Encoder(Protocol):
    """A reply as a stream."""

    def feed(self, event: Event) -> None: ...
    def delta(self, text: str, logprobs: list[Any] | None) -> None:
        """More of the open part."""

    @property
    def broken(self) -> bool:
        """Must the connection break, because who hears a clean end would take half a call for a whole one?"""

    def still_working(self) -> None:
        """Tells a client that takes no comment for it that there is life."""


class WholeAnswer(NamedTuple):
    """The answer to a client that does not stream."""

    body: dict[str, Any]
    headers: Mapping[str, str] = NO_HEADERS
    """Those that it adds to the usual ones."""


class SurfaceContext(Protocol):
    """One request as its surface understood it, and the answer in its words."""

    @property
    def request(self) -> Request: ...
    @property
    def client(self) -> ClientProfile: ...
    @property
    def facts(self) -> Mapping[str, Any]:
        """For the log line."""

    def encoder(self, emit: Callable[[bytes], None], framing: Framing) -> Encoder: ...

    def whole(self, reply: Reply) -> WholeAnswer: ...

    def remember(self, reply: Reply, owner: str) -> None:
        """Notes what a later request will need of a reply that went well. `owner`: whose share of the memory it
        takes."""


class Surface(Protocol):
    @property
    def name(self) -> str:
        """For the metrics."""

    @property
    def strict(self) -> bool:
        """Are limits on tools enforced unless a tenant says otherwise, or only warned of? (P06)"""

    @property
    def own_call_ids(self) -> bool:
        """Do its clients see ids of ours for all calls? (C06, N03)"""

    @property
    def params(self) -> Mapping[str, str]:
        """Its own words for fields that faults name in those of the Responses API."""

    @property
    def parses_arguments(self) -> bool:
        """Are arguments that are no JSON object an error here? (N04)"""

    def read(self, body: Any, headers: Mapping[str, str], ledger: Ledger, tenant: str = "") -> SurfaceContext:
        """Raises the ClientFault that says what is wrong with the request. `tenant`: who may know what is kept here
        of the conversation."""
