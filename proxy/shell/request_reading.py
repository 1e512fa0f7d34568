"""Reads a request and makes of it what backends are asked: what an answer and a count of its tokens have in common."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from proxy.core.dialects.registry import wants_thoughts_back
from proxy.core.events import Reply
from proxy.core.flow.request import Asker, admitted, completed, memory_name
from proxy.core.masking.redact import as_name
from proxy.core.model import Request
from proxy.core.stored.named import NOTHING_NAMED, Known
from proxy.core.surfaces.memory.memos import THOUGHTS, memo_key, packed_thoughts
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.surface import NO_MEMOS, SurfaceContext
from proxy.shell.backends import BackendCandidate, Backends
from proxy.shell.in_flight import InFlight
from proxy.shell.offload.threads import WorkThreads


class RequestReading:
    def __init__(self, backends: Backends, reasoning_memory: ReasoningMemory, threads: WorkThreads) -> None:
        self._backends = backends
        self._reasoning_memory = reasoning_memory
        self._threads = threads

    async def read(self, in_flight: InFlight, body: Any) -> SurfaceContext:
        """Whoever sends very much waits beside the others, not before them (F79)."""
        surface, store, ledger = in_flight.surface, in_flight.store, in_flight.ledger
        if isinstance(body, dict) and isinstance(model := body.get("model"), str):
            ledger.facts["model"] = as_name(model)  # what is refused meanwhile has it in its log line, too
        named = surface.named(body, ledger, in_flight.tenant.name)
        known = await store.load(named, ledger) if named is not None else None
        if (content := in_flight.content) is not None:
            content.known = _all_known(known, surface.remembered(body, in_flight.tenant.name))
        read = partial(surface.read, body, in_flight.headers, ledger, in_flight.tenant.name, known)
        return await self._threads.run(read, ledger)

    async def completed(
        self, in_flight: InFlight, asked: SurfaceContext, asker: Asker
    ) -> tuple[Request, Sequence[BackendCandidate]]:
        """Returns the request as the tenant's rules and our memory make it, and who may answer it."""
        request = asked.request
        if asker.has_rules_for(request):
            request = await self._threads.run(
                partial(admitted, request, asker, in_flight.ledger), in_flight.ledger
            )
        candidates = self._backends.candidates(request.model)
        if asked.shares and not request.reasoning.wants_token:
            await self._recall(in_flight, request, candidates[0])
        return completed(request, asker, self._reasoning_memory, candidates[0].model), candidates

    async def _recall(self, in_flight: InFlight, request: Request, candidate: BackendCandidate) -> None:
        """Looks for thoughts that the backend wants and neither the client has sent nor this process knows."""
        whose = memory_name(in_flight.tenant, candidate.model)
        lacking = self._reasoning_memory.lacking(whose, request)
        if not lacking or not wants_thoughts_back(
            await candidate.backend.known.profile(candidate.model, in_flight.owner)
        ):
            return
        keys = {call_id: memo_key(THOUGHTS, whose, call_id) for call_id in lacking}
        found = await in_flight.store.recall(list(keys.values()))
        if found is not None:
            memos = {call_id: found.get(key) for call_id, key in keys.items()}
            self._reasoning_memory.learn(whose, memos, request, in_flight.owner)

    def keep_thoughts(self, in_flight: InFlight, asked: SurfaceContext, reply: Reply) -> Mapping[str, bytes]:
        """Remembers what was thought before the calls of a reply, unless its client carries it. Returns what other
        processes must be told."""
        if asked.request.reasoning.wants_token or not reply.calls:
            return NO_MEMOS
        whose = memory_name(in_flight.tenant, self._backends.real_name(asked.request.model))
        wanted_back = in_flight.profile is not None and wants_thoughts_back(in_flight.profile)
        kept = self._reasoning_memory.keep(whose, reply, in_flight.owner, wanted_back=wanted_back)
        if not (wanted_back and asked.shares):
            return NO_MEMOS
        return {memo_key(THOUGHTS, whose, id): packed_thoughts(kept[id]) for id in kept}


def _all_known(loaded: Known | None, remembered: Mapping[str, bytes]) -> Known | None:
    """What was found of that which a request names, here and elsewhere."""
    if not remembered:
        return loaded
    return Known(NOTHING_NAMED, memos={**remembered, **(loaded.memos if loaded is not None else {})})
