"""Requests of which only the tokens are to be counted, by the backend that would answer.

Such a request passes all that a turn passes, up to the backend, and is refused as a turn would be. The first backend of
its model counts, and no other: another one has another model, and would count another number.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from proxy.core.errors import Fault
from proxy.core.events import Ending, ReplyEnded
from proxy.core.flow.request import Asker
from proxy.core.surfaces.responses.counting import counted
from proxy.core.surfaces.surface import Surface, SurfaceContext
from proxy.shell.attempts import note
from proxy.shell.backend import Plan
from proxy.shell.destination import Destination
from proxy.shell.in_flight import Caller, InFlight
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.request_reading import RequestReading
from proxy.shell.request_scope import RequestScope
from proxy.shell.turn_store import TurnStore


class TokenCounting:
    def __init__(
        self,
        scope: RequestScope,
        reading: RequestReading,
        clock: Callable[[], float],
        metrics: Metrics,
        log: Log,
    ) -> None:
        self._scope = scope
        self._reading = reading
        self._clock = clock
        self._metrics = metrics
        self._log = log

    async def respond(
        self,
        surface: Surface,
        body: Callable[[InFlight], Awaitable[Any]],
        caller: Caller,
        channel: Destination,
        store: TurnStore,
    ) -> None:
        """Answers through the channel, or raises a fault, as the engine does."""
        in_flight = InFlight(caller, channel, surface, store, self._clock, self._metrics, self._log)
        await self._scope.enclose(in_flight, self._answer(in_flight, body))

    async def _answer(self, in_flight: InFlight, body: Callable[[InFlight], Awaitable[Any]]) -> None:
        tokens = await self._counted(in_flight, await body(in_flight))
        in_flight.interruptible.disarm()
        in_flight.channel.headers.update(self._scope.limits.remaining(in_flight.tenant))
        await in_flight.answer(counted(tokens))

    async def _counted(self, in_flight: InFlight, body: Any) -> int:
        in_flight.charge = self._scope.limits.admit(in_flight.tenant)
        asked = await self._reading.read(in_flight, body)
        in_flight.ledger.facts.pop("response_id", None)  # there will be none
        in_flight.note_request(asked.request)
        await in_flight.charge.take(calls=False)
        plan = await self._planned(in_flight, asked)
        await plan.backend.enter(in_flight.owner, only=plan.only)
        try:
            in_flight.placed()
            return await self._asked(in_flight, plan)
        finally:
            plan.backend.leave(in_flight.owner)

    async def _planned(self, in_flight: InFlight, asked: SurfaceContext) -> Plan:
        asker = Asker(in_flight.surface, asked.client, in_flight.tenant)
        request, (first, *others) = await self._reading.completed(in_flight, asked, asker)
        plan = await first.backend.plan(
            request,
            first.model,
            in_flight.ledger,
            in_flight.headers,
            in_flight.owner,
            only=not others,
            counts=True,
        )
        note(in_flight, plan, "first")
        return plan

    async def _asked(self, in_flight: InFlight, plan: Plan) -> int:
        """A failure counts as any other. A number does not: its backend lives, but may have no model that answers."""
        admission = plan.backend.breaker.admit(in_flight.owner, only=plan.only)
        ended = None
        try:
            return await plan.backend.count(plan, in_flight)
        except Fault as fault:
            ended = ReplyEnded(Ending.FAILED, fault=fault)
            raise
        finally:
            admission.conclude(ended, plan.preparation.post.digest)
