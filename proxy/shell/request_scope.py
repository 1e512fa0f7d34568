"""The frame around every request: it is counted, stopped, refused and told to the log in one way, whatever is done in
between."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from proxy.core.errors import Fault
from proxy.shell.cancellation import Interruptible
from proxy.shell.in_flight import InFlight, own_failure
from proxy.shell.keeping import keep_cut
from proxy.shell.limits.tenant_limits import TenantLimits
from proxy.shell.ops.metrics import CLIENT_GONE
from proxy.shell.secret_mask import SecretMask
from proxy.shell.turn_store import BackgroundRun
from proxy.shell.under_way import UnderWay
from proxy.shell.watching.watchers import Watchers


@dataclass(slots=True, frozen=True)
class RequestScope:
    limits: TenantLimits
    secret_mask: SecretMask
    under_way: UnderWay
    watchers: Watchers | None

    async def enclose(
        self, in_flight: InFlight, work: Coroutine[Any, Any, BackgroundRun | None]
    ) -> BackgroundRun | None:
        """Does what is to be done for a request, up to its line in the log. Returns the run with which it goes on in
        the background."""
        self.under_way.add(in_flight)
        failure: Fault | None = None
        run, in_flight.interruptible = None, Interruptible()
        if (watchers := self.watchers) is not None and in_flight.attempts is None:
            in_flight.attempts, in_flight.date = [], watchers.now()
            if watchers.are_told_of_begins:
                self._begin(watchers, in_flight)
        try:
            with in_flight.interruptible:
                run = await work
        except (asyncio.CancelledError, ConnectionError):
            in_flight.ledger.note(status=CLIENT_GONE)
            keep_cut(in_flight, self.secret_mask)
            raise
        except Fault as fault:
            raise await self._refusal(in_flight, fault) from fault.__cause__
        except Exception as bug:
            if in_flight.channel.opened:
                in_flight.channel.abort()
            failure = own_failure(bug, in_flight.log)
            in_flight.ledger.note(status=failure.status)
            raise failure from bug
        finally:
            if run is None:
                in_flight.charge.end(in_flight.reply)
                in_flight.channel.stop()
                in_flight.store.close()
                seconds = in_flight.close()
                if watchers is not None:
                    self._end(watchers, in_flight, seconds, in_flight.fault or failure)
                self.under_way.ended(in_flight)
        return run

    async def _refusal(self, in_flight: InFlight, fault: Fault) -> Fault:
        in_flight.charge.end(in_flight.reply)
        params = in_flight.surface.params
        refusal = fault.changed(
            param=params.get(fault.param or "", fault.param), standing=self.limits.remaining(in_flight.tenant)
        )
        in_flight.ledger.note(status=refusal.status)
        in_flight.note_fault(refusal)
        await in_flight.store.give_up()
        return refusal

    def _begin(self, watchers: Watchers, in_flight: InFlight) -> None:
        watch, headers, surface = in_flight.seen(), in_flight.headers, in_flight.surface
        watchers.begin(watch, headers, partial(self.secret_mask.hidden_in, headers=headers))
        if (content := watch.content) is not None:
            content.tenant, in_flight.content = in_flight.tenant, content
            in_flight.surface = content.surface = surface.drawing(content.mint, content.now)

    def _end(self, watchers: Watchers, in_flight: InFlight, seconds: float, fault: Fault | None) -> None:
        if fault is not None:
            fault = self.secret_mask.to_keep(fault, in_flight.headers)
        if (watch := in_flight.watch) is None:
            watchers.keep(in_flight.notes(seconds, fault))
        else:
            watch.end(seconds, fault)
            watchers.end(watch)
