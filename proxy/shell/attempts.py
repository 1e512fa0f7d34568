"""What follows a failed attempt at one request, before its client has seen anything of a reply: the same backend again
after a pause, the next one of its model, or nothing.

Another attempt is possible until the model's first output. A stream that had to open earlier, as a sign of life, holds
only what is the same for every backend (E6). The time of all attempts is bounded by their number, and by the limits on
the waits for each backend.

Each backend gets a plan of its own, with its own key, profile and dialect: none of it ever goes to another backend
(S05).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from proxy.core.errors import ClientFault, Fault
from proxy.core.masking.redact import as_name
from proxy.core.model import Request
from proxy.core.policy import retry
from proxy.core.policy.retry import RetryRules
from proxy.core.stream.pipeline import Pipeline
from proxy.shell.backend import Plan
from proxy.shell.backends import BackendCandidate
from proxy.shell.in_flight import InFlight
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.watching.watch import Why

BACKEND_HEADER = "X-Proxy-Backend"
"""Says which of several backends has answered. It is left out where the head was sent before that was known."""


class Attempts:
    __slots__ = ("_chance", "_in_flight", "_left", "_made", "_request", "_retries", "_rules", "_several")

    def __init__(
        self,
        in_flight: InFlight,
        request: Request,
        candidates: Sequence[BackendCandidate],
        rules: RetryRules,
        chance: Callable[[], float],
    ) -> None:
        self._in_flight = in_flight
        self._request = request
        self._several = len(candidates) > 1
        self._left = list(candidates)
        self._rules = rules
        self._chance = chance
        self._retries = 0
        """The retries at the backend that is asked now."""
        self._made = 1

    async def first(self) -> Plan:
        plan = await self._plan(self._left.pop(0))
        self._begin(plan, "first")
        return plan

    async def after(self, plan: Plan, pipeline: Pipeline) -> Plan | None:
        """Waits, and returns the plan of the next attempt. None if there is none: the request ends as the last attempt
        did."""
        fault = pipeline.fault
        if fault is None or pipeline.begun:
            return None
        try:
            with self._in_flight.interruptible:
                following = await self._same_again(plan, fault) or await self._elsewhere(plan, fault)
        except Fault:
            return None  # interrupted: there is no time for another
        if following is None:
            return None
        self._made += 1
        self._in_flight.ledger.note(attempts=self._made)
        self._begin(following, "again" if following is plan else "elsewhere")
        return following

    async def _same_again(self, plan: Plan, fault: Fault) -> Plan | None:
        pause = retry.pause(fault, self._retries, self._rules, self._chance())
        if pause is None or not plan.backend.budget.spend():
            return None
        self._retries += 1
        self._in_flight.metrics.mended(plan.backend.name, fault)
        self._in_flight.log.info("backend_retry", backend=plan.backend.name, **facts_of(fault))
        await asyncio.sleep(pause)
        return plan

    async def _elsewhere(self, plan: Plan, fault: Fault) -> Plan | None:
        while self._left and retry.passes_on(fault):
            candidate = self._left.pop(0)
            try:
                following = await self._plan(candidate)
            except ClientFault:
                continue  # it cannot do what is asked for; why the first one failed is what matters
            self._retries = 0
            self._in_flight.metrics.mended(plan.backend.name, fault)
            self._in_flight.log.info("backend_fallback", backend=plan.backend.name, **facts_of(fault))
            return following
        return None

    def _plan(self, candidate: BackendCandidate) -> Awaitable[Plan]:
        in_flight, only = self._in_flight, not self._several
        return candidate.backend.plan(
            self._request, candidate.model, in_flight.ledger, in_flight.headers, in_flight.owner, only=only
        )

    def _begin(self, plan: Plan, why: Why) -> None:
        note(self._in_flight, plan, why)
        if self._several:
            self._in_flight.channel.likely[BACKEND_HEADER] = plan.backend.name


def note(in_flight: InFlight, plan: Plan, why: Why) -> None:
    """This backend is asked now."""
    backend, preparation = plan.backend.name, plan.preparation
    profile, model = preparation.profile, as_name(preparation.model)
    in_flight.attempt(why, backend, model, preparation)
    in_flight.profile = profile
    facts = in_flight.ledger.facts
    facts["backend"], facts["backend_model"], facts["profile"] = backend, model, profile.name
