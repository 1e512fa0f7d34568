"""One request under way: who asks, where the answer goes, and what its log line and the metrics will tell."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core.argument_problem import ArgumentProblem
from proxy.core.errors import Fault, OwnWords, ProxyFault
from proxy.core.events import Ending, Reply
from proxy.core.facts import RequestFacts
from proxy.core.flow.request import Preparation
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import as_name
from proxy.core.model import Request
from proxy.core.policy.awaited_checks import AwaitedChecks, PendingCheck
from proxy.core.profile import BackendProfile
from proxy.core.stream.observer import observing
from proxy.core.stream.pipeline import Pipeline
from proxy.core.surfaces.framing import SOCKET
from proxy.core.surfaces.surface import Encoder, Surface, SurfaceContext
from proxy.core.tenants import Tenant
from proxy.core.tracing.wishes import wishes_of
from proxy.shell.cancellation import Interruptible, shutting_down
from proxy.shell.destination import Destination
from proxy.shell.limits.tenant_limits import FREE
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import CLIENT_GONE, Metrics
from proxy.shell.turn_store import BackgroundRun, TurnStore
from proxy.shell.watching.content import Content, verdict_on
from proxy.shell.watching.watch import Attempt, Notes, Watch, Why

OK = 200


@dataclass(slots=True)
class Caller:
    """Who asks, and what the request says besides its body."""

    tenant: Tenant
    headers: Mapping[str, str]
    owner: str
    """Whose share is taken of what all share, see `Tenants.owner`."""
    method: str = ""
    path: str = ""


class InFlight:
    def __init__(
        self,
        caller: Caller,
        channel: Destination,
        surface: Surface,
        store: TurnStore,
        clock: Callable[[], float],
        metrics: Metrics,
        log: Log,
    ) -> None:
        self.interruptible: Interruptible
        """Of the task that works on it."""
        self.caller = caller
        self.tenant = caller.tenant
        self.headers = caller.headers
        self.owner = caller.owner
        self.channel = channel
        self.surface = surface
        self.log = log.bind(request_id=channel.request_id)
        self.ledger = Ledger(self.log, details=self.log.is_enabled_for(logging.DEBUG))
        self.ledger.work.owner = caller.owner
        self.ledger.facts["tenant"], self.ledger.facts["status"] = caller.tenant.name, OK
        self.store = store
        self.charge = FREE
        """What it takes of its tenant's limits."""
        self.run: BackgroundRun | None = None
        """If its work goes on in the background."""
        self.unkept: SurfaceContext | None = None
        """A stream that is kept as it is should the client leave."""
        self.attempts: list[Attempt] | None = None
        """What is noted of each for those who watch; None if nobody does."""
        self.date: float
        """In seconds since 1970, where somebody watches."""
        self.watch: Watch | None = None
        """All that those see, as soon as one of them looks."""
        self.content: Content | None = None
        """What is said in it, if somebody watches that."""
        self.reply: Reply | None = None
        self.profile: BackendProfile | None = None
        """Of the backend that was asked last."""
        self.checks: AwaitedChecks | None = None
        """Of the calls of the attempt at a reply that is under way, where they are checked."""
        self.seconds_checked = 0.0
        self.clock = clock
        self.began = clock()
        self.fault: Fault | None = None
        """Why it failed."""
        self.metrics = metrics
        metrics.began(surface.name)

    def stop(self) -> None:
        self.interruptible.interrupt(shutting_down())

    @property
    def emit(self) -> Callable[[bytes], None]:
        """Sends the client more of a stream."""
        emit, content = self.channel.emit, self.content
        return emit if content is None else observing(content.sent, emit)

    def encoder(self, asked: SurfaceContext) -> Encoder:
        """Tells the reply as a stream, through the channel."""
        framing = self.channel.framing
        if (content := self.content) is not None:
            content.framing = framing
        return asked.encoder(self.emit, framing)

    def signing(self, sign: Callable[[], None]) -> Callable[[], None]:
        """Sends a sign of life."""
        return sign if (content := self.content) is None else content.signing(sign)

    def fail(self, pipeline: Pipeline, fault: Fault) -> None:
        """Something from outside of the reply ends the attempt at it."""
        if (content := self.content) is not None:
            content.failed(fault)
        pipeline.fail(fault.changed())

    def received(self, body: bytes) -> None:
        """The client has sent this."""
        if (content := self.content) is not None:
            content.asked(body)

    def checked(
        self, question: PendingCheck, problem: ArgumentProblem | None, *, gave_up: bool = False
    ) -> None:
        """A check of a call's arguments that took long has found this."""
        if (content := self.content) is not None:
            content.verdicts.append(verdict_on(question, problem, gave_up=gave_up))

    def answer(self, body: dict[str, Any]) -> Awaitable[None]:
        """Sends the whole answer."""
        if (content := self.content) is not None:
            content.sent_whole(body)
        return self.channel.answer(body)

    @property
    def has_pending_check(self) -> bool:
        """Does the reply wait for a verdict on a call?"""
        return self.checks is not None and self.checks.pending is not None

    def cut(self) -> None:
        self.channel.abort()

    # ── the log line ──

    def note_request(self, request: Request) -> None:
        """It is known what is asked for."""
        self.ledger.facts["model"], self.ledger.facts["stream"] = as_name(request.model), request.stream
        if request.stream:
            self.metrics.streams(self.surface.name)

    def heard(self, pipeline: Pipeline) -> None:
        """The backend has sent some of its answer. Notes when that happened first, and when the model first spoke."""
        seconds, facts = self.clock() - self.began, self.ledger.facts
        milliseconds, text = _milliseconds(seconds), None
        facts.setdefault("ms_first_byte", milliseconds)
        if pipeline.begun:
            text = seconds
            facts.setdefault("ms_first_text", milliseconds)
        if self.attempts:
            attempt = self.attempts[-1]
            if attempt.first_byte is None:
                attempt.first_byte = seconds
            attempt.first_text = text

    def note_fault(self, fault: Fault) -> None:
        """What kind it is of, and the cause, which only the log may tell (S34). It is kept as a copy: one that was
        raised holds whoever raised it, and so the request."""
        self.fault = fault.changed()
        self.ledger.note(**facts_of(fault))

    def close(self) -> float:
        """Counts the request and writes its line: whose it was, what it came to, cost, and what was strange. Never
        its content. Returns the seconds that it took."""
        ledger, facts = self.ledger, self.ledger.facts
        ledger.work.forget_body()
        if self.reply is not None:
            _note_reply(facts, self.reply)
        seconds = self.clock() - self.began
        facts["ms_total"] = _milliseconds(seconds)
        facts["bytes_out"] = self.channel.bytes_out
        self.metrics.ended(self.surface.name, ledger, self.fault)
        remarks = ledger.remarks
        self.log.tell("request", {**facts, **remarks} if remarks else facts)
        return seconds

    # ── for those who watch it ──

    def notes(self, ended: float | None = None, fault: Fault | None = None) -> Notes:
        """What its `Watch` is made of. `fault`: see `Watch.fault`."""
        assert self.attempts is not None
        caller, channel, ledger = self.caller, self.channel, self.ledger
        return (
            channel.request_id,
            self.surface.name,
            "websocket" if channel.framing is SOCKET else "http",
            caller.method,
            caller.path,
            ledger.facts,
            ledger.remarks,
            ledger.warnings,
            self.date,
            self.clock,
            self.began,
            self.attempts,
            ended,
            fault,
        )

    def seen(self) -> Watch:
        """As those see it who watch it."""
        if self.watch is None:
            self.watch = Watch(*self.notes())
        return self.watch

    def attempt(self, why: Why, backend: str, model: str, preparation: Preparation) -> None:
        """This is asked now, or waits for its place. `model`: see `Attempt.backend_model`."""
        if self.attempts is None:
            return
        profile, now = preparation.profile, self.clock() - self.began
        url, _, _ = preparation.post.url.partition("?")
        attempt = Attempt(why, backend, model, profile.name, profile.dialect, url, now)
        if why == "lesson":
            before = self.attempts[-1]
            before.ended, attempt.place = now, before.place
        if self.watch is not None and self.watch.outgoing is not None:
            attempt.wishes = wishes_of(preparation.request)
        if self.content is not None:
            attempt.content = self.content.attempt(preparation)
        self.attempts.append(attempt)

    def placed(self) -> None:
        """The attempt that is under way has its place."""
        if self.attempts:
            self.attempts[-1].place = self.clock() - self.began

    def head_came(self, status: int, headers: Mapping[str, str]) -> None:
        """The backend has sent the head of its answer."""
        if self.attempts:
            attempt = self.attempts[-1]
            attempt.status, attempt.head = status, self.clock() - self.began
        if self.content is not None:
            self.content.answered_with(headers)

    def refused(self, words: bytes) -> None:
        """The backend has refused, in these words, or has told a number of tokens."""
        if self.attempts:
            self.attempts[-1].first_byte = self.clock() - self.began
        if self.content is not None:
            self.content.received(words)

    def attempt_ended(self, ending: Ending | None, fault: Fault | None) -> None:
        """`fault`: see `Attempt.fault`."""
        if self.attempts:
            attempt = self.attempts[-1]
            attempt.ended, attempt.ending, attempt.fault = self.clock() - self.began, ending, fault


def _milliseconds(seconds: float) -> float:
    return int(seconds * 10_000 + 0.5) / 10  # round() takes ten times as long


def own_failure(bug: Exception, log: Log) -> ProxyFault:
    """A mistake of ours: the log is told where it is, the client that it is none of its own."""
    log.error("unhandled_exception", exc_info=bug)
    return ProxyFault(OwnWords("The proxy failed on this request."), retryable=True)


def _note_reply(facts: RequestFacts, reply: Reply) -> None:
    facts["calls"] = len(reply.calls)
    ended = reply.ended
    if ended is None:
        return
    if ended.fault is None or ended.fault.status != CLIENT_GONE:
        facts["ending"] = str(ended.ending)
    if usage := ended.usage:
        facts["input_tokens"] = usage.input_tokens
        facts["output_tokens"] = usage.output_tokens
        facts["cached_tokens"] = usage.cached_tokens
        facts["reasoning_tokens"] = usage.reasoning_tokens
