"""What a surface is: the language of one kind of client, as the engine sees it.

A surface reads a body into a `SurfaceContext`: the neutral request, and the encoders that tell its reply as a stream or
as one answer. The engine knows none of the client's words.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, Self

from proxy.core.errors import Fault
from proxy.core.events import Event, Reply
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record
from proxy.core.surfaces.clients import ClientProfile
from proxy.core.surfaces.framing import Framing

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})
NO_MEMOS: Final[Mapping[str, bytes]] = MappingProxyType({})


class Stored(NamedTuple):
    """A response as a connection remembers it."""

    id: str
    items: list[Any]
    """The conversation up to it and with it, in the items of the Responses API."""


class Encoder(Protocol):
    """A reply as a stream."""

    def feed(self, event: Event) -> None: ...
    def delta(self, text: str, logprobs: list[Any] | None) -> None:
        """Sends more of the open part."""

    @property
    def broken(self) -> bool:
        """Must the connection break? After a clean end this client would run half a call."""

    def still_working(self) -> None:
        """Sends an event without news, to a client that ignores comments."""


class WholeAnswer(NamedTuple):
    """The answer to a client that does not ask for a stream."""

    body: dict[str, Any]
    headers: Mapping[str, str] = NO_HEADERS
    """Sent besides the usual ones."""


class SurfaceContext(Protocol):
    """One request as its surface understood it, and how its answer is told."""

    @property
    def request(self) -> Request: ...
    @property
    def client(self) -> ClientProfile: ...

    def encoder(self, emit: Callable[[bytes], None], framing: Framing) -> Encoder: ...

    def whole(self, reply: Reply) -> WholeAnswer: ...

    def let_go(self) -> None:
        """The reply has begun, and nobody is asked again: what was said before goes, but for what `record` is yet to
        be made of. Not called where `to_store` will be."""

    @property
    def shares(self) -> bool:
        """May the store hold what the proxy remembers of this conversation, so that its other processes know it too?
        What a client does not want to be kept stays in the memory of one."""

    def remember(self, reply: Reply, owner: str) -> Mapping[str, bytes]:
        """Notes what a later request will need of a reply that went well, and returns it for other processes. `owner`:
        whose share of the memory it takes."""

    def to_store(self, reply: Reply) -> Stored | None:
        """What a connection remembers of a reply that went well, if this surface's clients can continue it."""

    def queued(self) -> Record | None:
        """The record of work that goes on in the background, before any backend is asked. None if the client waits for
        its answer."""

    def record(self, reply: Reply) -> Record | None:
        """What is kept of the reply, however it ended. None if nothing is to be kept. From here on nothing is left to
        be told of the reply but its ending."""

    def owning(self, record: Record) -> Record:
        """The record with all the items that it continues in itself, instead of a parent."""

    def not_stored(self, remark: str, ledger: Ledger) -> None:
        """The record could not be kept: the ending says so."""


class Surface(Protocol):
    @property
    def name(self) -> str:
        """Names the surface in metrics."""

    @property
    def strict(self) -> bool:
        """Are limits on tools enforced unless a tenant says otherwise, or only warned of? (P06)"""

    @property
    def own_call_ids(self) -> bool:
        """Do its clients see ids of ours for all calls? (C06, N03)"""

    @property
    def tells_hosted(self) -> bool:
        """Has it a form for what tools of the backend's own have done?"""

    @property
    def params(self) -> Mapping[str, str]:
        """The surface's names of fields that faults call by their names in the Responses API."""

    @property
    def parses_arguments(self) -> bool:
        """Are arguments that are no JSON object an error here? (N04)"""

    def drawing(self, mint: Mint, now: Callable[[], float]) -> Self:
        """The same surface with other sources of ids and times, for one request."""

    def remembered(self, body: Any, tenant: str) -> Mapping[str, bytes]:
        """What this process remembers of that which the request names, as memos: see `Known`."""

    def error(self, fault: Fault) -> dict[str, Any]:
        """The body of an answer with an error status, in the envelope of this surface."""

    def named(self, body: Any, ledger: Ledger, tenant: str = "") -> Named | None:
        """What a request names that is kept: it must be loaded before the request is read. `tenant`: see `read`."""

    def read(
        self,
        body: Any,
        headers: Mapping[str, str],
        ledger: Ledger,
        tenant: str = "",
        known: Known | None = None,
    ) -> SurfaceContext:
        """Raises a ClientFault that says what is wrong with the request. `tenant`: only it may read what the proxy
        remembers of its conversations. `known`: what was found of that which the request names."""
