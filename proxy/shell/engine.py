"""The conductor: one request from top to bottom, and the only file that knows the order.

    body, headers ─ read ─ plan ─ admit ─ ask ─ pour ─ tell ─ one log line

Whatever goes wrong is a Fault. While nothing meaningful was said it is raised, and becomes a status; after that the
pipeline has told it within the stream. A client that streams and one that does not share every step but the last, and
all surfaces share all of them.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from proxy.core.errors import ClientFault, Fault
from proxy.core.events import Ending, Event, Reply, ReplyEnded, ReplyStarted
from proxy.core.flow.reply import reply_flow
from proxy.core.flow.request import Asker, admitted, completed, memory_name
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.policy.breaker import Admission
from proxy.core.policy.quota import Quota
from proxy.core.policy.retry import RetryRules
from proxy.core.sink import Sink, ignore_delta
from proxy.core.stream.pipeline import Pipeline
from proxy.core.stream.stages.one_reply import OneReply
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.surface import Encoder, Surface, SurfaceContext
from proxy.shell.attempts import Attempts
from proxy.shell.backend import Plan
from proxy.shell.backends import Backends
from proxy.shell.cover import Cover
from proxy.shell.http.channel import Channel
from proxy.shell.http.exchange import Exchange
from proxy.shell.in_flight import Errand, Visitor, own_failure
from proxy.shell.offload.processes import Aside
from proxy.shell.offload.threads import Beside
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import CLIENT_GONE, Metrics

CLOSING_SECONDS = 3.0
"""For interrupted streams to tell their clients why."""


class Engine:
    def __init__(
        self,
        *,
        backends: Backends,
        quota: Quota,
        reasoning_memory: ReasoningMemory,
        mint: Mint,
        now: Callable[[], float],
        clock: Callable[[], float],
        chance: Callable[[], float],
        retries: RetryRules,
        beside: Beside,
        aside: Aside,
        metrics: Metrics,
        cover: Cover,
        log: Log,
    ) -> None:
        """`now` tells the date for clients, `clock` measures; they need not agree. `chance`: from 0 to 1."""
        self._backends = backends
        self._quota = quota
        self._reasoning_memory = reasoning_memory
        self._mint = mint
        self._now = now
        self._clock = clock
        self._chance = chance
        self._retries = retries
        self.beside = beside
        self._aside = aside
        self._metrics = metrics
        self.cover = cover
        self._log = log
        self._errands: set[Errand] = set()
        self._idle: asyncio.Event | None = None
        """Only while somebody waits for the end of all errands."""

    async def respond(
        self, surface: Surface, body: Callable[[Ledger], Awaitable[Any]], visitor: Visitor, channel: Channel
    ) -> None:
        """Answers through the channel, or raises the fault that no stream has told. `body` is read at the request's
        own cost, which its ledger holds, and may be work for `beside`."""
        errand = Errand(visitor, channel, surface, self._clock, self._metrics, self._log)
        self._errands.add(errand)
        try:
            with errand.interruptible:
                await self._serve(errand, await body(errand.ledger))
        except (asyncio.CancelledError, ConnectionError):
            errand.note(status=CLIENT_GONE)
            raise
        except Fault as fault:
            fault.param = surface.params.get(fault.param or "", fault.param)
            fault.standing = self._quota.remaining(errand.tenant)
            errand.note(status=fault.status)
            errand.note_fault(fault)
            raise
        except Exception as bug:
            failure = own_failure(bug, errand.log)
            errand.note(status=failure.status)
            if channel.opened:
                channel.abort()
            raise failure from bug
        finally:
            channel.stop()
            errand.close()
            self._errands.discard(errand)
            if self._idle is not None and not self._errands:
                self._idle.set()

    async def _serve(self, errand: Errand, body: Any) -> None:
        channel = errand.channel
        self._quota.admit(errand.tenant)
        channel.headers.update(self._quota.remaining(errand.tenant))
        asked = await self._read(errand, body)
        errand.reads(asked.request, asked.facts)
        encoder = asked.encoder(channel.emit, channel.framing) if asked.request.stream else None
        reserved = self._quota.reserve(errand.tenant, asked.request)
        try:
            pipeline = await self._reply(errand, asked, encoder)
        finally:
            self._quota.charge_reply(errand.tenant, errand.reply or Reply(), reserved=reserved)
        if pipeline is not None:
            await self._tell(errand, asked, encoder, pipeline)

    async def _reply(self, errand: Errand, asked: SurfaceContext, encoder: Encoder | None) -> Pipeline | None:
        """What the backends made of it. None where nobody was asked, and the client has its answer."""
        channel, request = errand.channel, asked.request
        asker = Asker(errand.surface, asked.client, errand.tenant)
        try:
            attempts = await self._attempts(errand, asked, asker)
            plan = await attempts.first()
        except Fault as refusal:
            if encoder is None or not asked.client.faults_in_stream:
                raise
            errand.note_fault(self.cover.over(refusal, errand.headers))
            await self._end_at_once(errand, asked, encoder, ReplyEnded(Ending.FAILED, fault=refusal))
            return None
        if not request.generate:
            await self._end_at_once(errand, asked, encoder, ReplyEnded(Ending.COMPLETED))
            asked.remember(Reply(), errand.owner)
            return None
        sink = NOWHERE
        if encoder is not None:
            channel.watch(encoder.still_working, asked.client.event_heartbeat)
            sink = self.cover.before(Sink(encoder.feed, encoder.delta), errand.headers)
        return await self._answer(errand, plan, attempts, sink, asker)

    async def _read(self, errand: Errand, body: Any) -> SurfaceContext:
        """Whoever sends very much waits beside the others, not before them (F79)."""
        read = partial(errand.surface.read, body, errand.headers, errand.ledger, errand.tenant.name)
        return await self.beside.run(read, errand.ledger)

    async def _attempts(self, errand: Errand, asked: SurfaceContext, asker: Asker) -> Attempts:
        """What the tenant's rules and our memory make of the request, and who may answer it."""
        request = asked.request
        if asker.has_rules_for(request):
            request = await self.beside.run(partial(admitted, request, asker, errand.ledger), errand.ledger)
        request = completed(request, asker, self._reasoning_memory)
        rules = replace(self._retries, attempts=1) if asked.client.persistent else self._retries
        return Attempts(errand, request, self._backends.ways(request.model), rules, self._chance)

    async def _end_at_once(
        self, errand: Errand, asked: SurfaceContext, encoder: Encoder | None, ended: ReplyEnded
    ) -> None:
        """Answers with an ending and nothing before it."""
        errand.reply = Reply(ended=ended)
        errand.interruptible.over()
        if encoder is None:
            await errand.channel.answer(asked.whole(errand.reply).body)
        else:
            encoder.feed(ReplyStarted())
            encoder.feed(ended)
            await errand.channel.finish()

    async def _answer(
        self, errand: Errand, plan: Plan, attempts: Attempts, sink: Sink, asker: Asker
    ) -> Pipeline:
        """The reply, or how the last attempt at it failed."""
        reply = OneReply(sink)
        while True:
            stamp = str(int(self._now() * 1000))
            flow = reply_flow(
                plan.asked, asker, mint=self._mint, stamp=stamp, ledger=errand.ledger, sink=reply.sink
            )
            pipeline, errand.checks = flow.pipeline, flow.checks
            errand.reply = pipeline.reply
            await self._run(errand, plan, pipeline)
            thought = pipeline.put_right(seen=plan.asked.request.stream)
            plan.backend.heard(plan, pipeline.reply, thought, errand.ledger)
            following = await attempts.after(plan, pipeline)
            if following is None:
                reply.settle()
                return pipeline
            plan = following

    async def _run(self, errand: Errand, plan: Plan, pipeline: Pipeline) -> None:
        """One attempt, from the wait for a place to its end, whatever that is: the pipeline knows it afterwards."""
        try:
            with errand.interruptible:
                async with plan.backend.place(errand.owner, only=plan.only):
                    await self._ask(errand, plan, pipeline)
        except Fault as refusal:
            pipeline.fail(refusal)
        except (asyncio.CancelledError, ConnectionError):
            if not pipeline.ended:  # what the client has had counts, though it did not wait for the end
                pipeline.fail(ClientFault("The client has left.", status=CLIENT_GONE))
            raise

    async def _ask(self, errand: Errand, plan: Plan, pipeline: Pipeline) -> None:
        admission = plan.backend.breaker.admit(errand.owner, only=plan.only)
        try:
            exchange = await plan.backend.ask(plan, errand.ledger)
            await self._pour(errand, exchange, pipeline, admission, plan.asked.request.stream)
        except ConnectionError:
            raise  # the client has left
        except Fault as fault:
            pipeline.fail(fault)
        except Exception as bug:
            pipeline.fail(own_failure(bug, errand.log))
        finally:
            admission.conclude(pipeline.reply.ended, plan.asked.post.digest)

    async def _pour(
        self, errand: Errand, exchange: Exchange, pipeline: Pipeline, admission: Admission, streaming: bool
    ) -> None:
        """The one loop that waits: for each read, feed the pipeline, and send what came out in one write.

        Once the reply has begun both happen as the bytes arrive, without a wait, as long as the client keeps up.
        """
        begun = False
        channel, reply = errand.channel, pipeline.reply

        def pour(data: bytes) -> bool:
            goes_on = pipeline.feed(data)
            return reply.ended is None and channel.push() and goes_on and not errand.has_pending_check

        try:
            while not pipeline.ended:
                if begun and streaming and channel.flows and not pipeline.finishing:
                    await exchange.pour(pour)
                    if errand.has_pending_check:
                        await self._aside.settle(errand)
                    if pipeline.ended:
                        break
                    exchange.finishing(pipeline.finishing)
                data = await exchange.read()
                if data:
                    pipeline.feed(data)
                else:
                    pipeline.close()
                if errand.has_pending_check:
                    await self._aside.settle(errand)
                if not begun:
                    errand.mark("first_byte")
                    if begun := pipeline.begun:
                        errand.mark("first_text")
                        exchange.begun()
                        admission.reply_began()
                if not pipeline.ended:
                    exchange.finishing(pipeline.finishing)
                if begun and streaming and not pipeline.ended:
                    await channel.flush()
            if pipeline.fault is None:
                exchange.release()
        finally:
            exchange.close()

    async def _tell(
        self, errand: Errand, asked: SurfaceContext, encoder: Encoder | None, pipeline: Pipeline
    ) -> None:
        """The ending: of a stream its last events, which were emitted already, else the whole answer or a status."""
        fault = pipeline.fault
        told = encoder and (asked.client.faults_in_stream or pipeline.begun or errand.channel.opened)
        if fault is not None and not told:
            raise self.cover.over(fault, errand.headers)
        if fault is not None:
            errand.note_fault(fault)
        whole = asked.whole(pipeline.reply) if encoder is None else None
        if fault is None:  # before the client can ask again
            asked.remember(pipeline.reply, errand.owner)
            if not asked.request.reasoning.wants_token:
                name = memory_name(errand.tenant, asked.request)
                self._reasoning_memory.keep(name, pipeline.reply, errand.owner)
        errand.interruptible.over()
        if whole is None:
            await errand.channel.finish(broken=encoder is not None and encoder.broken)
        else:
            errand.channel.headers |= {**whole.headers, **self._quota.remaining(errand.tenant)}
            await errand.channel.answer(whole.body)

    async def drain(self, seconds: float) -> None:
        """Lets what is under way come to its end. What does not in time is told why it ends (F74), and whoever does
        not take even that is cut off."""
        self._idle = asyncio.Event()
        if not self._errands:
            return
        for patience, end in ((seconds, Errand.stop), (CLOSING_SECONDS, Errand.cut)):
            try:
                async with asyncio.timeout(patience):
                    await self._idle.wait()
            except TimeoutError:
                for errand in list(self._errands):
                    end(errand)


NOWHERE = Sink(deque[Event](maxlen=0).append, ignore_delta)
"""For a client that does not stream: the pipeline itself collects the reply."""
