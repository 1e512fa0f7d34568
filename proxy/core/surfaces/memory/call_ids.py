"""Which id of ours stands for which of the backend's: one map for each conversation, kept here or by the client.

With a `conversation_id` the proxy remembers the map; a client without one gets it as a token that it gives back. Both
are bounded: a conversation that outgrows its map has its oldest calls forgotten, and remembers that, since from then on
an unknown id may be one of them.
"""

from dataclasses import replace

from proxy.core.caches.shelf import Shelf
from proxy.core.extras import with_call_ids
from proxy.core.model import Call, Part, Reasoning, Request, Result, Turn
from proxy.core.surfaces.memory.tokens import TokenSigner

HEADER = "x-proxy-call-ids"
"""Carries the token, both ways."""

MAX_TOKEN_IN_HEADER = 6_000
"""Characters, the ids of some 60 calls; servers take about 8,000 for one header. A longer token travels in the body
alone."""

MAX_CALLS = 512
"""In one map: a long day of an agent."""

MAX_ID = 256
"""Characters of an id. The longest that any backend makes have a tool's name in them."""

MAX_BYTES = 64 << 20
"""Of all conversations that are kept at once: some 5,000 with thirty calls in each."""

CONVERSATION_BYTES, CALL_BYTES = 1000, 400
"""What a map takes, and each call in it, besides the ids."""


class CallMap:
    __slots__ = ("_backends", "_forgetful", "_ours", "_signer")

    def __init__(self, signer: TokenSigner) -> None:
        self._signer = signer
        self._backends: dict[str, str] = {}
        """By our id."""
        self._ours: dict[str, str] = {}
        """By the backend's."""
        self._forgetful = False
        """Have calls been forgotten?"""

    def note(self, ours: str, backends: str | None) -> None:
        """Where the backend has no id of use, ours stands for itself. Backends repeat their ids: the newest has it."""
        known = backends if backends and len(backends) <= MAX_ID else ours
        self._backends[ours] = known
        self._ours[known] = ours
        if len(self._backends) > MAX_CALLS:
            self._forget(next(iter(self._backends)))

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
        """What another request of the same conversation knows."""
        for ours, backends in other._backends.items():
            self.note(ours, backends)
        self._forgetful = self._forgetful or other._forgetful

    @property
    def size(self) -> int:
        """In memory; none when it holds nothing."""
        calls = self._backends.items()
        words = sum(CALL_BYTES + len(ours) + len(backends) for ours, backends in calls)
        return words and CONVERSATION_BYTES + words

    def _forget(self, ours: str) -> None:
        known = self._backends.pop(ours)
        if self._ours[known] == ours:
            del self._ours[known]
        self._forgetful = True


class CallMaps:
    """The maps of all conversations that the proxy keeps: of those in which a call was answered, and of no other that
    somebody names."""

    __slots__ = ("_kept", "_signer")

    def __init__(self, signer: TokenSigner) -> None:
        self._signer = signer
        self._kept: Shelf[tuple[str, str], CallMap] = Shelf(MAX_BYTES)

    def fresh(self, tenant: str) -> CallMap:
        """Of a conversation that nobody here remembers."""
        return CallMap(self._signer.of(tenant))

    def of(self, tenant: str, conversation_id: str) -> CallMap:
        """A fresh one if it is not known. Two tenants may use the same id for two conversations."""
        return self._kept.get((tenant, conversation_id)) or self.fresh(tenant)

    def keep(self, owner: str, tenant: str, conversation_id: str, call_map: CallMap) -> None:
        """`owner`: whose share of the memory it takes."""
        key = (tenant, conversation_id)
        known = self._kept.get(key)
        if known is not None and known is not call_map:  # two requests of one conversation were under way
            known.take_in(call_map)
            call_map = known
        if call_map.size:
            self._kept.put(owner, key, call_map, call_map.size)


def as_backend_knows(request: Request) -> Request:
    """The request with each call under the id that its backend gave it, wherever that is told and stands for one call.

    To be done last: whatever is remembered by a call's id is remembered by ours.
    """
    calls = [part for turn in request.turns for part in turn.parts if isinstance(part, Call)]
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

    return replace(
        request, turns=[Turn(turn.role, [known(part) for part in turn.parts]) for turn in request.turns]
    )
