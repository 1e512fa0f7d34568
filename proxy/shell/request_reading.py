"""Reads a request and makes of it what backends are asked: what an answer and a count of its tokens have in common."""

from functools import partial
from typing import Any

from proxy.core.flow.request import Asker, admitted, completed
from proxy.core.model import Request
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.surface import SurfaceContext
from proxy.shell.in_flight import InFlight
from proxy.shell.offload.threads import WorkThreads


class RequestReading:
    def __init__(self, reasoning_memory: ReasoningMemory, threads: WorkThreads) -> None:
        self._reasoning_memory = reasoning_memory
        self._threads = threads

    async def read(self, in_flight: InFlight, body: Any) -> SurfaceContext:
        """Whoever sends very much waits beside the others, not before them (F79)."""
        surface, store, ledger = in_flight.surface, in_flight.store, in_flight.ledger
        named = surface.named(body, ledger)
        known = await store.load(named, ledger) if named is not None else None
        read = partial(surface.read, body, in_flight.headers, ledger, in_flight.tenant.name, known)
        return await self._threads.run(read, ledger)

    async def completed(self, in_flight: InFlight, asked: SurfaceContext, asker: Asker) -> Request:
        """What the tenant's rules and our memory make of the request."""
        request = asked.request
        if asker.has_rules_for(request):
            request = await self._threads.run(
                partial(admitted, request, asker, in_flight.ledger), in_flight.ledger
            )
        return completed(request, asker, self._reasoning_memory)
