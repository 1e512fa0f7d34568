"""The conductor: one request from top to bottom, and the only file that knows the order.

    body, headers ─ read ─ plan ─ admit ─ ask ─ relay ─ tell ─ one log line

Whatever goes wrong is a Fault. While nothing meaningful was said it is raised, and becomes a status; after that the
pipeline has told it within the stream. A client that streams and one that does not share every step but the last, and
all surfaces share all of them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from proxy.core.errors import ClientFault, Fault
from proxy.core.events import STARTED, Ending, Reply, ReplyEnded
from proxy.core.flow.reply import reply_flow
from proxy.core.flow.request import Asker
from proxy.core.ids import Mint
from proxy.core.policy.retry import RetryRules
from proxy.core.stored.record import Record
from proxy.core.stream.pipeline import Pipeline
from proxy.core.stream.stages.one_reply import OneReply
from proxy.core.surfaces.surface import Encoder, Surface, SurfaceContext
from proxy.shell.attempts import Attempts
from proxy.shell.backend import OtherLanguage, Plan
from proxy.shell.destination import Destination
from proxy.shell.in_flight import Caller, InFlight, own_failure
from proxy.shell.keeping import kept, remember
from proxy.shell.limits.tenant_limits import TenantLimits
from proxy.shell.offload.processes import CheckProcesses
from proxy.shell.offload.threads import WorkThreads
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import CLIENT_GONE, Metrics
from proxy.shell.relay import relay
from proxy.shell.request_reading import RequestReading
from proxy.shell.request_scope import RequestScope
from proxy.shell.secret_mask import SecretMask
from proxy.shell.turn_store import BackgroundRun, TurnStore
from proxy.shell.under_way import UnderWay
from proxy.shell.watching.watchers import Watchers


class Engine:
    def __init__(
        self,
        *,
        limits: TenantLimits,
        reading: RequestReading,
        mint: Mint,
        now: Callable[[], float],
        clock: Callable[[], float],
        chance: Callable[[], float],
        retries: RetryRules,
        threads: WorkThreads,
        check_processes: CheckProcesses,
        metrics: Metrics,
        secret_mask: SecretMask,
        log: Log,
        under_way: UnderWay,
        watchers: Watchers | None = None,
    ) -> None:
        """`now` tells the date for clients, `clock` measures; they need not agree. `chance`: from 0 to 1."""
        self._limits = limits
        self._reading = reading
        self._mint = mint
        self._now = now
        self._clock = clock
        self._chance = chance
        self._retries = retries
        self.threads = threads
        self._check_processes = check_processes
        self._metrics = metrics
        self.secret_mask = secret_mask
        self._log = log
        self.scope = RequestScope(limits, secret_mask, under_way, watchers or None)
        self.drain = under_way.drain
        self.hurry = under_way.hurry

    async def respond(
        self,
        surface: Surface,
        body: Callable[[InFlight], Awaitable[Any]],
        caller: Caller,
        channel: Destination,
        store: TurnStore,
    ) -> None:
        """Answers through the channel, or raises the fault that no stream has told. `body` is read at the request's
        own cost, which its ledger holds, and may be work for `threads`. `store`: what is kept between turns."""
        in_flight = InFlight(caller, channel, surface, store, self._clock, self._metrics, self._log)
        run = await self.scope.enclose(in_flight, self._serve(in_flight, body))
        if run is not None:
            await run.show(channel)

    async def _serve(
        self, in_flight: InFlight, body: Callable[[InFlight], Awaitable[Any]]
    ) -> BackgroundRun | None:
        raw = await body(in_flight)
        channel = in_flight.channel
        in_flight.charge = self._limits.admit(in_flight.tenant)
        asked = await self._reading.read(in_flight, raw)
        del raw  # whoever needs more of it has it
        in_flight.note_request(asked.request)
        await in_flight.charge.take(calls=bool(asked.request.tools))
        channel.headers.update(self._limits.remaining(in_flight.tenant))
        if (queued := asked.queued()) is not None:
            return await self._begin(in_flight, asked, queued)
        in_flight.unkept = asked if asked.request.stream else None
        encoder = in_flight.encoder(asked) if asked.request.stream else None
        reply = OneReply(encoder)
        asker = Asker(in_flight.surface, asked.client, in_flight.tenant)
        chosen = await self._chosen(in_flight, asked, encoder, asker)
        if chosen is None:
            in_flight.charge.end(in_flight.reply)
            return None
        pipeline = await self._answer(in_flight, *chosen, reply, asker)
        in_flight.charge.end(in_flight.reply)
        await self._tell(in_flight, asked, encoder, pipeline, reply)
        return None

    async def _begin(self, in_flight: InFlight, asked: SurfaceContext, queued: Record) -> BackgroundRun:
        """Begins work in the background, where all that can be refused has been."""
        asker = Asker(in_flight.surface, asked.client, in_flight.tenant)
        attempts = await self._attempts(in_flight, asked, asker)
        plan = await attempts.first()
        run = in_flight.run = await in_flight.store.begin(queued, asked.owning)
        in_flight.ledger.facts["stored"] = True
        in_flight.channel.likely.clear()
        if in_flight.attempts is not None:
            in_flight.seen()  # as it came: the run has a channel of its own
        in_flight.channel = run.channel
        work = self._go_on(in_flight, asked, attempts, plan, asker)
        run.go(self.scope.enclose(in_flight, work))
        return run

    async def _go_on(
        self,
        in_flight: InFlight,
        asked: SurfaceContext,
        attempts: Attempts,
        plan: Plan,
        asker: Asker,
    ) -> None:
        encoder = in_flight.encoder(asked)
        reply = OneReply(encoder)
        reply.sink.feed(STARTED)
        await in_flight.channel.flush()
        pipeline = await self._answer(in_flight, plan, attempts, reply, asker)
        in_flight.charge.end(in_flight.reply)
        await self._tell(in_flight, asked, encoder, pipeline, reply)

    async def _chosen(
        self, in_flight: InFlight, asked: SurfaceContext, encoder: Encoder | None, asker: Asker
    ) -> tuple[Plan, Attempts] | None:
        """Who is asked first. None where nobody is, and the client has its answer."""
        channel, request = in_flight.channel, asked.request
        try:
            attempts = await self._attempts(in_flight, asked, asker)
            plan = await attempts.first()
        except Fault as refusal:
            if encoder is None or not asked.client.faults_in_stream:
                raise
            in_flight.note_fault(refusal)
            masked = self.secret_mask.hidden_in(refusal, in_flight.headers)
            await self._end_at_once(in_flight, asked, encoder, ReplyEnded(Ending.FAILED, fault=masked))
            return None
        if not request.generate:
            await self._end_at_once(in_flight, asked, encoder, ReplyEnded(Ending.COMPLETED))
            await remember(in_flight, asked, Reply())
            return None
        if encoder is not None:
            channel.start_timers(in_flight.signing(encoder.still_working), asked.client.event_heartbeat)
        return plan, attempts

    async def _attempts(self, in_flight: InFlight, asked: SurfaceContext, asker: Asker) -> Attempts:
        request, candidates = await self._reading.completed(in_flight, asked, asker)
        rules = replace(self._retries, attempts=1) if asked.client.persistent else self._retries
        return Attempts(in_flight, request, candidates, rules, self._chance)

    async def _end_at_once(
        self, in_flight: InFlight, asked: SurfaceContext, encoder: Encoder | None, ended: ReplyEnded
    ) -> None:
        """Answers with an ending and nothing before it."""
        in_flight.reply = Reply(ended=ended)
        in_flight.interruptible.disarm()
        if encoder is None:
            await in_flight.answer(asked.whole(in_flight.reply).body)
        else:
            encoder.feed(STARTED)
            encoder.feed(await kept(in_flight, asked, in_flight.reply))
            await in_flight.channel.finish()

    async def _answer(
        self, in_flight: InFlight, plan: Plan, attempts: Attempts, reply: OneReply, asker: Asker
    ) -> Pipeline:
        """The reply, or how the last attempt at it failed."""
        while True:
            content = in_flight.content
            mint, now = (self._mint, self._now) if content is None else (content.mint, content.now)
            stamp = str(int(now() * 1000))
            flow = reply_flow(
                plan.preparation,
                asker,
                mint=mint,
                stamp=stamp,
                ledger=in_flight.ledger,
                sink=reply.sink,
                observer=content,
            )
            pipeline, in_flight.checks = flow.pipeline, flow.checks
            in_flight.reply = pipeline.reply
            try:
                await self._run(in_flight, plan, pipeline)
            except OtherLanguage as other:
                plan = other.plan
                in_flight.profile = plan.preparation.profile
                continue
            if in_flight.attempts and (ended := pipeline.reply.ended) is not None:
                fault = ended.fault and self.secret_mask.to_keep(ended.fault, in_flight.headers)
                in_flight.attempt_ended(ended.ending, fault)
            thought = pipeline.put_right(seen=plan.preparation.request.stream)
            plan.backend.known.learn_from_reply(
                plan.preparation, plan.owner, pipeline.reply, thought, in_flight.ledger
            )
            following = await attempts.after(plan, pipeline)
            if following is None:
                return pipeline
            plan = following

    async def _run(self, in_flight: InFlight, plan: Plan, pipeline: Pipeline) -> None:
        """One attempt, from the wait for a place to its end, whatever that is: the pipeline knows it afterwards."""
        try:
            with in_flight.interruptible:
                await plan.backend.enter(in_flight.owner, only=plan.only)
                try:
                    in_flight.placed()
                    if in_flight.run is not None:
                        await in_flight.run.asking()
                    await self._ask(in_flight, plan, pipeline)
                finally:
                    plan.backend.leave(in_flight.owner)
        except Fault as refusal:
            in_flight.fail(pipeline, refusal)
        except (asyncio.CancelledError, ConnectionError):
            if not pipeline.ended:  # what the client has had counts, though it did not wait for the end
                in_flight.fail(pipeline, ClientFault("The client has left.", status=CLIENT_GONE))
            raise

    async def _ask(self, in_flight: InFlight, plan: Plan, pipeline: Pipeline) -> None:
        admission = plan.backend.breaker.admit(in_flight.owner, only=plan.only)
        try:
            exchange = await plan.backend.ask(plan, in_flight)
            await relay(in_flight, exchange, pipeline, admission, self._check_processes, plan)
        except (ConnectionError, OtherLanguage):
            raise  # the client has left, or the reply will be another
        except Fault as fault:
            in_flight.fail(pipeline, fault)
        except Exception as bug:
            in_flight.fail(pipeline, own_failure(bug, in_flight.log))
        finally:
            admission.conclude(pipeline.reply.ended, plan.preparation.post.digest)

    async def _tell(
        self,
        in_flight: InFlight,
        asked: SurfaceContext,
        encoder: Encoder | None,
        pipeline: Pipeline,
        reply: OneReply,
    ) -> None:
        """The ending: of a stream its last events, else the whole answer or a status."""
        fault, ended = pipeline.fault, pipeline.reply.ended
        assert ended is not None
        is_in_stream = encoder and (
            asked.client.faults_in_stream or pipeline.begun or in_flight.channel.opened
        )
        if fault is not None and not is_in_stream:
            raise fault.changed()
        in_flight.interruptible.disarm()
        ended = self.secret_mask.hidden_in_ending(ended, in_flight.headers)
        ended = await kept(in_flight, asked, Reply(pipeline.reply.parts, ended))
        if fault is None and ended.fault is not None and encoder is None:
            raise ended.fault.changed()
        if fault := fault or ended.fault:
            in_flight.note_fault(fault)
        reply.end(ended)
        whole = asked.whole(pipeline.reply) if encoder is None else None
        if fault is None:  # before the client can ask again
            memos = self._reading.keep_thoughts(in_flight, asked, pipeline.reply)
            await remember(in_flight, asked, pipeline.reply, memos)
        if whole is None:
            await in_flight.channel.finish(broken=encoder is not None and encoder.broken)
        else:
            if whole.headers:
                in_flight.channel.headers.update(whole.headers)
            in_flight.channel.headers.update(self._limits.remaining(in_flight.tenant))
            await in_flight.answer(whole.body)
