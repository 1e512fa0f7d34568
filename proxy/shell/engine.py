"""The conductor: one request from top to bottom, and the only file that knows the order.

    body, headers ─ recognise ─ decode ─ plan ─ admit ─ ask ─ pour ─ answer ─ one log line

Whatever goes wrong is a Fault. While nothing meaningful was said it is raised, and becomes a status; after that the
pipeline has told it within the stream. A client that streams and one that does not share every step but the last.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core.errors import Fault, ProxyFault
from proxy.core.events import Ending, Event, Reply, ReplyEnded, ReplyStarted
from proxy.core.ids import Mint
from proxy.core.inbound import clients, responses_decode
from proxy.core.inbound.clients import ClientProfile, EventStyle
from proxy.core.inbound.responses_encode import ResponsesEncoder
from proxy.core.inbound.responses_memory import Memory, NoMemory
from proxy.core.inbound.responses_message_first import MessageFirstEncoder
from proxy.core.inbound.responses_object import ResponseObject
from proxy.core.inbound.seal import Seal
from proxy.core.markup import registry
from proxy.core.model import Call, Request
from proxy.core.outbound.dialects import spoken_by
from proxy.core.policy.breaker import Admission, Outcome, outcome
from proxy.core.stream.condense import condensed
from proxy.core.stream.keepsakes import Keepsakes
from proxy.core.stream.pipeline import Pipeline, Sink
from proxy.shell.backend import Backend, Plan
from proxy.shell.http import Channel
from proxy.shell.logs import Log
from proxy.shell.turn import CLIENT_GONE, Turn
from proxy.shell.upstream import Exchange

NO_MEMORY = NoMemory()

CLOSING_SECONDS = 3.0
"""For interrupted streams to tell their clients why."""


@dataclass(slots=True, frozen=True)
class Manners:
    """How clients are served, where the configuration has a say in it."""

    events: EventStyle
    message_first: bool


class Engine:
    def __init__(
        self,
        *,
        backend: Backend,
        manners: Manners,
        mint: Mint,
        seal: Seal,
        now: Callable[[], float],
        clock: Callable[[], float],
        log: Log,
    ) -> None:
        """`now` tells the date for clients, `clock` measures; they need not agree."""
        self._backend = backend
        self._manners = manners
        self._mint = mint
        self._seal = seal
        self._now = now
        self._clock = clock
        self._log = log
        self._turns: list[Turn] = []
        self._idle = asyncio.Event()
        self._idle.set()

    async def respond(
        self,
        body: Awaitable[Any],
        headers: Mapping[str, str],
        channel: Channel,
        memory: Memory = NO_MEMORY,
        form: type[ResponseObject] = ResponseObject,
    ) -> None:
        """Answers through the channel, or raises the fault that no stream has told. `memory` is what this client
        may continue, `form` what its answer looks like."""
        turn = Turn(channel, self._clock, self._log)
        self._turns.append(turn)
        self._idle.clear()
        try:
            with turn.interruptible():
                await self._serve(turn, await body, headers, memory, form)
        except (asyncio.CancelledError, ConnectionError):
            turn.note(status=CLIENT_GONE)
            raise
        except Fault as fault:
            turn.note(status=fault.status)
            turn.note_fault(fault)
            raise
        except Exception as bug:
            failure = _own_failure(turn, bug)
            turn.note(status=failure.status)
            if channel.opened:
                channel.abort()
            raise failure from bug
        finally:
            channel.stop()
            turn.close()
            self._turns.remove(turn)
            if not self._turns:
                self._idle.set()

    async def _serve(
        self,
        turn: Turn,
        body: Any,
        headers: Mapping[str, str],
        memory: Memory,
        form: type[ResponseObject],
    ) -> None:
        client = clients.recognise(headers)
        turn.note(client=client.name)
        completed = memory.completed(body)
        if completed is not body:
            turn.note(continues=body["previous_response_id"])
        request = responses_decode.decode(completed, turn.ledger, client.orphan_outputs, self._seal)
        turn.note(model=request.model, stream=request.stream)
        seal = self._seal if request.reasoning.sealed or request.compact else None
        response = form(body, self._mint, self._now, seal)
        turn.note(response_id=response.id)
        encoder = self._encoder(request, client, headers, response, turn.channel) if request.stream else None
        try:
            plan = await self._backend.plan(request, turn.ledger)
        except Fault as refusal:
            if encoder is None or not client.faults_in_stream:
                raise
            turn.note_fault(refusal)
            await self._end_at_once(turn, response, encoder, ReplyEnded(Ending.FAILED, fault=refusal))
            return
        turn.note(backend_model=plan.model, profile=plan.profile.name)
        if not request.generate:
            await self._end_at_once(turn, response, encoder, ReplyEnded(Ending.COMPLETED))
            memory.keep(response.id, completed, [])
            return

        pipeline = self._pipeline(turn, plan, encoder.feed if encoder else _ignore)
        if encoder is not None:
            turn.channel.watch(encoder.still_working, client.event_heartbeat)
        await self._run(turn, plan, pipeline)

        turn.reply = pipeline.reply
        fault = pipeline.fault
        told = encoder is not None and (client.faults_in_stream or pipeline.begun or turn.channel.opened)
        if fault is not None and not told:
            raise fault
        if fault is not None:
            turn.note_fault(fault)
        if encoder is not None:
            await turn.channel.finish()
        else:
            await turn.channel.answer(response.whole(pipeline.reply))
        if fault is None:
            # A summary stands for all that was said before it.
            memory.keep(response.id, {} if request.compact else completed, response.output)

    async def _end_at_once(
        self, turn: Turn, response: ResponseObject, encoder: ResponsesEncoder | None, ended: ReplyEnded
    ) -> None:
        """Answers with an ending and nothing before it."""
        turn.reply = Reply(ended=ended)
        if encoder is None:
            await turn.channel.answer(response.finished(ended))
        else:
            encoder.feed(ReplyStarted())
            encoder.feed(ended)
            await turn.channel.finish()

    def _encoder(
        self,
        request: Request,
        client: ClientProfile,
        headers: Mapping[str, str],
        response: ResponseObject,
        channel: Channel,
    ) -> ResponsesEncoder:
        wish = headers.get(clients.EVENTS_HEADER)
        extended = clients.extended(client, wish, self._manners.events, bool(request.tools))
        message_first = self._manners.message_first and not request.compact
        encoder = MessageFirstEncoder if message_first else ResponsesEncoder
        return encoder(response, channel.emit, framing=channel.framing, extended=extended, client=client)

    def _pipeline(self, turn: Turn, plan: Plan, sink: Callable[[Event], None]) -> Pipeline:
        said = (part for said in plan.request.turns for part in said.parts)
        profile = plan.profile
        keepsakes = Keepsakes()
        decoder = spoken_by(profile).decoder
        stamp = str(int(self._now() * 1000))
        return Pipeline(
            lambda emit: decoder(emit, profile, turn.ledger, keepsakes.keep, model=plan.model, stamp=stamp),
            names=plan.prepared.names,
            mint=self._mint,
            ledger=turn.ledger,
            sink=sink,
            taken_ids={part.call_id for part in said if isinstance(part, Call)},
            call_identity=profile.call_identity,
            markup=registry.for_reply(
                plan.prepared, on=profile.markup, also=profile.markup_dialects, without=profile.markup_without
            ),
            stages=_stages(plan.request, keepsakes),
        )

    async def _run(self, turn: Turn, plan: Plan, pipeline: Pipeline) -> None:
        """From the admission to the end of the reply, whatever that is: the pipeline knows it afterwards."""
        try:
            admission = self._backend.breaker.admit()
        except Fault as refusal:
            pipeline.fail(refusal)
            return
        try:
            with turn.interruptible():
                exchange = await self._backend.ask(plan, turn.ledger)
                await self._pour(turn, exchange, pipeline, admission, plan.request.stream)
        except ConnectionError:
            raise  # the client has left
        except Fault as fault:
            pipeline.fail(fault)
        except Exception as bug:
            pipeline.fail(_own_failure(turn, bug))
        finally:
            admission.settle(outcome(pipeline.fault) if pipeline.ended else Outcome.NEUTRAL)

    async def _pour(
        self, turn: Turn, exchange: Exchange, pipeline: Pipeline, admission: Admission, streaming: bool
    ) -> None:
        """The one loop that waits: for each read, feed the pipeline, and send what came out in one write."""
        begun = False
        try:
            while not pipeline.ended:
                data = await exchange.read()
                if data:
                    pipeline.feed(data)
                else:
                    pipeline.close()
                if not begun:
                    turn.mark("first_byte")
                    if begun := pipeline.begun:
                        turn.mark("first_text")
                        exchange.begun()
                        admission.answered()
                if pipeline.finishing:
                    exchange.finishing()
                if begun and streaming and not pipeline.ended:
                    await turn.channel.flush()
            if pipeline.fault is None:
                exchange.release()
        finally:
            exchange.close()

    async def drain(self, seconds: float) -> None:
        """Lets what is under way come to its end. What does not in time is told why it ends (F74)."""
        if await self._is_idle_within(seconds):
            return
        for turn in self._turns:
            turn.interrupt(shutting_down())
        await self._is_idle_within(CLOSING_SECONDS)

    async def _is_idle_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._idle.wait()
        except TimeoutError:
            return False


def _stages(request: Request, keepsakes: Keepsakes) -> list[Callable[[Sink], Sink]]:
    if request.compact:
        return [condensed]
    return [keepsakes.added] if request.reasoning.sealed else []


def _ignore(event: Event) -> None:
    """The sink for a client that does not stream: the pipeline itself collects the reply."""


def shutting_down() -> ProxyFault:
    return ProxyFault(
        "The server is shutting down.", code="server_shutting_down", status=503, retry_after=1, retryable=True
    )


def _own_failure(turn: Turn, bug: Exception) -> ProxyFault:
    turn.log.error("unhandled exception", exc_info=bug)
    return ProxyFault("The proxy failed on this request.", retryable=True)
