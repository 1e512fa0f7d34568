"""The native surface: the Chat API with stricter requests, parsed arguments, and call ids of the proxy's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from proxy.core.events import Reply
from proxy.core.ledger import Ledger
from proxy.core.stored.named import Known, Named
from proxy.core.surfaces import clients
from proxy.core.surfaces.chat.completion import Completion
from proxy.core.surfaces.chat.surface import ChatContext, ChatSurface
from proxy.core.surfaces.memory.call_ids import HEADER, MAX_TOKEN_IN_HEADER, CallMap, CallMaps, memos_of
from proxy.core.surfaces.native import decode
from proxy.core.surfaces.native.calls import ParsedCalls, note
from proxy.core.surfaces.surface import NO_HEADERS, NO_MEMOS, WholeAnswer


@dataclass(slots=True, frozen=True)
class NativeSurface(ChatSurface):
    maps: CallMaps

    name = "native"
    strict = True
    parses_arguments = True

    def remembered(self, body: Any, tenant: str) -> Mapping[str, bytes]:
        conversation_id, call_ids = decode.named(body)
        if conversation_id is None:
            return NO_MEMOS
        known = self.maps.of(tenant, conversation_id)
        return memos_of(conversation_id, known, filter(known.knows, call_ids))

    def named(self, body: Any, ledger: Ledger, tenant: str = "") -> Named | None:
        """These clients send the whole conversation. Which calls are in it may be known to another process."""
        conversation_id, call_ids = decode.named(body)
        memos = self.maps.lacking(tenant, conversation_id, call_ids) if conversation_id else ()
        return Named(memos=memos) if memos else None

    def read(
        self,
        body: Any,
        headers: Mapping[str, str],
        ledger: Ledger,
        tenant: str = "",
        known: Known | None = None,
    ) -> "NativeContext":
        client = clients.recognise(headers)
        decoded = decode.decode(
            body, headers, ledger, self.maps, tenant, known.memos.values() if known else ()
        )
        calls = ParsedCalls(decoded.call_map if decoded.conversation_id is None else None)
        completion = Completion(
            decoded.request, self.mint, self.now, calls, ledger, include_usage=decoded.include_usage
        )
        ledger.note(client=client.name, response_id=completion.id)
        keep_call_map = None
        if decoded.conversation_id is not None:
            keep_call_map = partial(self._keep, tenant, decoded.conversation_id, decoded.call_map)
        return NativeContext(decoded.request, client, completion, keep_call_map)

    def _keep(
        self, tenant: str, conversation_id: str, call_map: CallMap, reply: Reply, owner: str
    ) -> Mapping[str, bytes]:
        made = note(call_map, reply.parts)
        self.maps.keep(owner, tenant, conversation_id, call_map)
        return memos_of(conversation_id, call_map, made)


@dataclass(slots=True, frozen=True)
class NativeContext(ChatContext):
    keep_call_map: Callable[[Reply, str], Mapping[str, bytes]] | None
    """Remembers the calls of a reply, for an owner; None if the client keeps them."""

    def whole(self, reply: Reply) -> WholeAnswer:
        body = self.completion.whole(reply)
        token = body.get("_proxy", {}).get("call_ids", "")
        fits = 0 < len(token) <= MAX_TOKEN_IN_HEADER
        return WholeAnswer(body, {HEADER: token} if fits else NO_HEADERS)

    def let_go(self) -> None:
        self.request.let_go()

    def remember(self, reply: Reply, owner: str) -> Mapping[str, bytes]:
        return NO_MEMOS if self.keep_call_map is None else self.keep_call_map(reply, owner)
