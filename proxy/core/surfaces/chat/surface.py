"""The Chat Completions surface: its modules, put together for one request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from proxy.core.errors import Fault
from proxy.core.events import Reply
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record
from proxy.core.surfaces import clients
from proxy.core.surfaces.chat import decode
from proxy.core.surfaces.chat.calls import FunctionCall, ToolCalls
from proxy.core.surfaces.chat.completion import PARAMS, Completion
from proxy.core.surfaces.chat.encode import ChatEncoder
from proxy.core.surfaces.clients import ClientProfile
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import Framing
from proxy.core.surfaces.surface import NO_MEMOS, WholeAnswer


@dataclass(slots=True, frozen=True)
class ChatSurface:
    mint: Mint
    now: Callable[[], float]

    name = "chat"
    strict = False
    own_call_ids = True
    tells_hosted = False
    params = PARAMS
    parses_arguments = False

    def drawing(self, mint: Mint, now: Callable[[], float]) -> Self:
        return replace(self, mint=mint, now=now)

    def remembered(self, body: Any, tenant: str) -> Mapping[str, bytes]:
        return NO_MEMOS

    def error(self, fault: Fault) -> dict[str, Any]:
        return error_body(fault)

    def named(self, body: Any, ledger: Ledger, tenant: str = "") -> Named | None:
        """These clients send the whole conversation."""
        return None

    def read(
        self,
        body: Any,
        headers: Mapping[str, str],
        ledger: Ledger,
        tenant: str = "",
        known: Known | None = None,
    ) -> "ChatContext":
        client = clients.recognise(headers)
        decoded = decode.decode(body, ledger)
        calls = FunctionCall(ledger) if decoded.legacy_functions else ToolCalls()
        completion = Completion(
            decoded.request, self.mint, self.now, calls, ledger, include_usage=decoded.include_usage
        )
        ledger.note(client=client.name, response_id=completion.id)
        return ChatContext(decoded.request, client, completion)


@dataclass(slots=True, frozen=True)
class ChatContext:
    request: Request
    client: ClientProfile
    completion: Completion
    shares = True

    def encoder(self, emit: Callable[[bytes], None], framing: Framing) -> ChatEncoder:
        """Ignores the framing: this API has only one."""
        return ChatEncoder(self.completion, emit, self.client)

    def whole(self, reply: Reply) -> WholeAnswer:
        return WholeAnswer(self.completion.whole(reply))

    def let_go(self) -> None:
        self.request.let_go()

    def remember(self, reply: Reply, owner: str) -> Mapping[str, bytes]:
        """Remembers nothing: these clients send the whole conversation again."""
        return NO_MEMOS

    def to_store(self, reply: Reply) -> None:
        """Nothing continues a completion."""

    def queued(self) -> None:
        """These clients wait for their answers."""

    def record(self, reply: Reply) -> None:
        """Nobody asks for a completion again."""

    def owning(self, record: Record) -> Record:
        """Its clients send all that they continue."""
        return record

    def not_stored(self, remark: str, ledger: Ledger) -> None:
        """Nobody was promised that it would be."""
