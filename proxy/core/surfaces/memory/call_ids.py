"""Which call id of the proxy stands for which of the backend: one map for each conversation.

With a `conversation_id` the proxy remembers the map. A client without one gets the map as a token, and sends it back.
Both are bounded: a map that grows too long forgets its oldest calls, and remembers that it has, because an unknown id
may then be one of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from proxy.core.caches.shelf import Shelf
from proxy.core.extras import with_call_ids
from proxy.core.model import Call, Part, Reasoning, Request, Result
from proxy.core.surfaces.memory.memos import CALL_ID, CallId, memo_key, packed_id, read_id
from proxy.core.surfaces.memory.tokens import TokenSigner

HEADER = "x-proxy-call-ids"
"""Carries the token in both directions."""

MAX_TOKEN_IN_HEADER = 6_000
"""Characters: the ids of some 60 calls. Servers accept about 8,000 in one header, so a longer token is sent in the body
alone."""

MAX_CALLS = 512
"""Calls in one map: a long day of an agent."""

MAX_ID = 256
"""Characters of an id. The longest ids of backends contain the name of a tool."""

MAX_BYTES = 64 << 20
"""Memory for all conversations together: some 5,000 with thirty calls in each."""

CONVERSATION_BYTES, CALL_BYTES = 1000, 400
"""Memory that a map takes, and each call in it, besides the ids."""


class CallMap:
    __slots__ = ("_backends", "_forgetful", "_ours", "_signer")

    def __init__(self, signer: TokenSigner) -> None:
        self._signer = signer
        self._backends: dict[str, str] = {}
        """By the proxy's id."""
        self._ours: dict[str, str] = {}
        """By the backend's id."""
        self._forgetful = False
        """Have calls been forgotten?"""

    def note(self, ours: str, backends: str | None) -> None:
        """Notes a call's two ids. Without a usable id of the backend the proxy's stands for itself. Backends repeat
        their ids, and the newest call has it."""
        known = backends if backends and len(backends) <= MAX_ID else ours
        self._backends[ours] = known
        self._ours[known] = ours
        if len(self._backends) > MAX_CALLS:
            self._forget(next(iter(self._backends)))

    def learn_from(self, memos: Iterable[bytes]) -> None:
        """Takes in what another process has told of single calls."""
        for memo in memos:
            if (call := read_id(memo)) is not None:
                self.note(call.ours, call.backends)

    def knows(self, ours: str) -> bool:
        return ours in self._backends

    def has(self, ours: str) -> bool:
        """May this be an id of the conversation?"""
        return ours in self._backends or self._forgetful

    def backends(self, ours: str) -> str | None:
        return self._backends.get(ours)

    def ours(self, backends: str) -> str | None:
        return self._ours.get(backends)

    def token(self) -> str:
        """The whole map, for the client to keep."""
        return self._signer.call_ids({"ids": self._backends, "forgetful": self._forgetful})

    def learn(self, token: str) -> bool:
        """Takes in what a token holds; False if it is none of ours."""
        held = self._signer.read_call_ids(token)
        if held is None:
            return False
        for ours, backends in held["ids"].items():
            self.note(ours, backends)
        self._forgetful = self._forgetful or held["forgetful"]
        return True

    def take_in(self, other: "CallMap") -> None:
        """Adds what another request of the conversation has learned."""
        for ours, backends in other._backends.items():
            self.note(ours, backends)
        self._forgetful = self._forgetful or other._forgetful

    @property
    def size(self) -> int:
        """The bytes that the map takes in memory; 0 for an empty one."""
        calls = self._backends.items()
        words = sum(CALL_BYTES + len(ours) + len(backends) for ours, backends in calls)
        return words and CONVERSATION_BYTES + words

    def _forget(self, ours: str) -> None:
        known = self._backends.pop(ours)
        if self._ours[known] == ours:
            del self._ours[known]
        self._forgetful = True


class CallMaps:
    """The maps of the conversations that the proxy remembers: only those in which a model has made a call, so that a
    client cannot fill the memory with names."""

    __slots__ = ("_kept", "_signer")

    def __init__(self, signer: TokenSigner) -> None:
        self._signer = signer
        self._kept: Shelf[tuple[str, str], CallMap] = Shelf(MAX_BYTES)

    def fresh(self, tenant: str) -> CallMap:
        """An empty map, for a conversation that the proxy does not remember."""
        return CallMap(self._signer.of(tenant))

    def of(self, tenant: str, conversation_id: str) -> CallMap:
        """The map of a conversation, or a fresh one. Two tenants may use the same id for two conversations."""
        return self._kept.get((tenant, conversation_id)) or self.fresh(tenant)

    def lacking(self, tenant: str, conversation_id: str, call_ids: Sequence[str]) -> Sequence[str]:
        """The names of the memos of those calls that are not known here, among as many as a map can hold."""
        known = self._kept.get((tenant, conversation_id))
        return [
            memo_key(CALL_ID, conversation_id, ours)
            for ours in call_ids[-MAX_CALLS:]
            if known is None or not known.knows(ours)
        ]

    def keep(self, owner: str, tenant: str, conversation_id: str, call_map: CallMap) -> None:
        """Remembers the map. `owner`: whose share of the memory it takes."""
        key = (tenant, conversation_id)
        known = self._kept.get(key)
        if known is not None and known is not call_map:  # two requests of one conversation were under way
            known.take_in(call_map)
            call_map = known
        if call_map.size:
            self._kept.put(owner, key, call_map, call_map.size)


def memos_of(conversation_id: str, call_map: CallMap, call_ids: Iterable[str]) -> Mapping[str, bytes]:
    """What other processes are told of these calls, which are in the map."""
    return {
        memo_key(CALL_ID, conversation_id, ours): packed_id(CallId(ours, call_map.backends(ours) or ours))
        for ours in call_ids
    }


def as_backend_knows(request: Request) -> Request:
    """Replaces the proxy's call ids by the backend's own, where one is known and unambiguous.

    This is the last step before a request is sent: memories are looked up by the proxy's ids.
    """
    calls = [part for _, parts in request.turns for part in parts if isinstance(part, Call)]
    taken = {call.call_id for call in calls}
    renamed: dict[str, str] = {}
    for call in calls:
        if call.backend_id and call.backend_id not in taken:
            taken.add(call.backend_id)
            renamed[call.call_id] = call.backend_id
    if not renamed:
        return request

    def known(part: Part) -> Part:
        if isinstance(part, Call | Result) and part.call_id in renamed:
            return replace(part, call_id=renamed[part.call_id])
        if isinstance(part, Reasoning) and part.extras:
            return replace(part, extras=with_call_ids(part.extras, renamed))
        return part

    return replace(request, turns=[(role, [known(part) for part in parts]) for role, parts in request.turns])
