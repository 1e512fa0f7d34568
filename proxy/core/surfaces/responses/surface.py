"""The Responses surface: its modules, put together for one request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from proxy.core.errors import Fault
from proxy.core.events import Reply
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.surfaces import clients
from proxy.core.surfaces.clients import ClientProfile, EventStyle, Extended
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import Framing
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses import decode
from proxy.core.surfaces.responses.continuation import continued, items_of, previous_of
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.message_first import MessageFirstEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from proxy.core.surfaces.surface import Stored, WholeAnswer


@dataclass(slots=True, frozen=True)
class ResponsesOptions:
    """The settings that decide how answers look."""

    events: EventStyle
    message_first: bool


@dataclass(slots=True, frozen=True)
class ResponsesSurface:
    mint: Mint
    now: Callable[[], float]
    signer: TokenSigner
    options: ResponsesOptions
    form: type[ResponseObject] = ResponseObject
    """The form of the answers."""
    name: str = "responses"

    strict = False
    own_call_ids = False
    params: ClassVar[Mapping[str, str]] = {}
    parses_arguments = False

    def error(self, fault: Fault) -> dict[str, Any]:
        return error_body(fault)

    def continues(self, body: Any) -> str | None:
        return previous_of(body)

    def read(
        self,
        body: Any,
        headers: Mapping[str, str],
        ledger: Ledger,
        tenant: str = "",
        before: bytes | None = None,
    ) -> "ResponsesContext":
        client = clients.recognise(headers)
        ledger.note(client=client.name)
        completed, known = body, 0
        if before is not None:
            ledger.note(continues=body["previous_response_id"])
            completed, known = continued(body, before)
        signer = self.signer.of(tenant)
        request = decode.decode(completed, ledger, client.orphan_outputs, signer, known)
        signs = request.reasoning.wants_token or request.compact
        response = self.form(body, self.mint, self.now, signer if signs else None, ledger.warnings)
        ledger.note(response_id=response.id)
        wish = headers.get(clients.EVENTS_HEADER)
        extended = clients.extended(client, wish, self.options.events, bool(request.tools))
        message_first = self.options.message_first and not request.compact
        return ResponsesContext(request, client, response, extended, message_first, completed)


@dataclass(slots=True)
class ResponsesContext:
    request: Request
    client: ClientProfile
    response: ResponseObject
    extended: Extended
    message_first: bool
    completed: Any
    """The request with all items in it, those of the conversation that it continues included."""

    def encoder(self, emit: Callable[[bytes], None], framing: Framing) -> ResponsesEncoder:
        encoder = MessageFirstEncoder if self.message_first else ResponsesEncoder
        return encoder(self.response, emit, framing=framing, extended=self.extended, client=self.client)

    def whole(self, reply: Reply) -> WholeAnswer:
        return WholeAnswer(self.response.whole(reply))

    def remember(self, reply: Reply, owner: str) -> None:
        """Remembers nothing by itself: what a response is continued from goes to the store."""

    def to_store(self, reply: Reply) -> Stored:
        # A summary stands for all that was said before it.
        conversation = [] if self.request.compact else items_of(self.completed.get("input"))
        # Nobody can answer half a call.
        output = [item for item in self.response.output if not _is_half_call(item)]
        return Stored(self.response.id, conversation + output)


def _is_half_call(item: Mapping[str, Any]) -> bool:
    return "call_id" in item and item["status"] == "incomplete"
