"""The native surface: the Chat API with stricter requests, parsed arguments, and call ids of the proxy's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from proxy.core.errors import Fault
from proxy.core.events import Reply
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.stored.named import Known
from proxy.core.surfaces import clients
from proxy.core.surfaces.chat.completion import PARAMS, Completion
from proxy.core.surfaces.chat.encode import ChatEncoder
from proxy.core.surfaces.clients import ClientProfile
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import Framing
from proxy.core.surfaces.memory.call_ids import HEADER, MAX_TOKEN_IN_HEADER, CallMap, CallMaps
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.native import decode
from proxy.core.surfaces.native.calls import ParsedCalls, note
from proxy.core.surfaces.surface import NO_HEADERS, WholeAnswer


class NativeSurface:
    name = "native"
    strict = True
    own_call_ids = True
    params = PARAMS
    parses_arguments = True

    def __init__(self, mint: Mint, now: Callable[[], float], signer: TokenSigner) -> None:
        self._mint = mint
        self._now = now
        self._maps = CallMaps(signer)

    def error(self, fault: Fault) -> dict[str, Any]:
        return error_body(fault)

    def named(self, body: Any, ledger: Ledger) -> None:
        """These clients send the whole conversation."""

    def read(
        self,
        body: Any,
        headers: Mapping[str, str],
        ledger: Ledger,
        tenant: str = "",
        known: Known | None = None,
    ) -> "NativeContext":
        client = clients.recognise(headers)
        decoded = decode.decode(body, headers, ledger, self._maps, tenant)
        calls = ParsedCalls(decoded.call_map if decoded.conversation_id is None else None)
        completion = Completion(
            decoded.request, self._mint, self._now, calls, ledger, include_usage=decoded.include_usage
        )
        ledger.note(client=client.name, response_id=completion.id)
        keep_call_map = None
        if decoded.conversation_id is not None:
            keep_call_map = partial(
                self._maps.keep,
                tenant=tenant,
                conversation_id=decoded.conversation_id,
                call_map=decoded.call_map,
            )
        return NativeContext(decoded.request, client, completion, decoded.call_map, keep_call_map)


@dataclass(slots=True, frozen=True)
class NativeContext:
    request: Request
    client: ClientProfile
    completion: Completion
    call_map: CallMap
    keep_call_map: Callable[[str], None] | None
    """Remembers the map, for an owner; None if the client keeps it."""

    def encoder(self, emit: Callable[[bytes], None], framing: Framing) -> ChatEncoder:
        """Ignores the framing: this API has only one."""
        return ChatEncoder(self.completion, emit)

    def whole(self, reply: Reply) -> WholeAnswer:
        body = self.completion.whole(reply)
        token = body.get("_proxy", {}).get("call_ids", "")
        fits = 0 < len(token) <= MAX_TOKEN_IN_HEADER
        return WholeAnswer(body, {HEADER: token} if fits else NO_HEADERS)

    def remember(self, reply: Reply, owner: str) -> None:
        if self.keep_call_map is not None:
            note(self.call_map, reply.parts)
            self.keep_call_map(owner)

    def to_store(self, reply: Reply) -> None:
        """Nothing continues a completion."""

    def queued(self) -> None:
        """These clients wait for their answers."""

    def record(self, reply: Reply) -> None:
        """Nobody asks for a completion again."""

    def not_stored(self, remark: str, ledger: Ledger) -> None:
        """Nobody was promised that it would be."""
