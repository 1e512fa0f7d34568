"""A recorded exchange once more, by the same recipe as the engine, which waits and keeps between the same steps.

What happened outside of the core is taken as it was recorded: which attempts were made and how they ended, what was
known and kept, and refusals by limits, by the store and at the door.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.core.dialects.registry import counter_of
from proxy.core.errors import Fault
from proxy.core.events import STARTED, Ending, Reply, ReplyEnded
from proxy.core.flow.reply import ReplyFlow, reply_flow
from proxy.core.flow.request import Asker, Preparation, admitted, completed, prepared_for
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.profile import BackendProfile
from proxy.core.recorded import cuts
from proxy.core.recorded.attempt import Signs, Verdicts, play
from proxy.core.recorded.conditions import groups_of, known_of, profile_of, target_of, tenant_of
from proxy.core.recorded.faults import fault_of
from proxy.core.recorded.recording import RecordedAttempt, Recording
from proxy.core.recorded.supply import Supply
from proxy.core.recorded.surfaces import FRAMINGS, body_of, surface_of
from proxy.core.stored.faults import store_is_down
from proxy.core.stored.named import Known, Named
from proxy.core.stream.observer import Observer
from proxy.core.stream.pipeline import Pipeline
from proxy.core.stream.stages.one_reply import OneReply
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.responses.counting import counted
from proxy.core.surfaces.surface import Encoder, SurfaceContext

LEFT = 499
OK = 200


@dataclass(frozen=True, slots=True)
class How:
    """What is to be otherwise than it was."""

    cut: cuts.Cut = "recorded"
    seed: int = 0
    profile: BackendProfile | None = None
    """Of all backends."""
    headers: Mapping[str, str] | None = None
    """The client's."""
    observer: Observer | None = None


AS_IT_WAS = How()


@dataclass(slots=True)
class Replayed:
    frames: list[bytes] = field(default_factory=list)
    """Of a stream."""
    answer: dict[str, Any] | None = None
    """The whole answer to a client that does not stream, or the body of a refusal."""
    status: int = OK
    fault: Fault | None = None
    posts: list[bytes] = field(default_factory=list)
    """What each backend is asked."""
    ledger: Ledger = field(default_factory=Ledger)
    outside: bool = False
    """Was it refused by something that a recording does not hold?"""


def replay(recording: Recording, how: How = AS_IT_WAS) -> Replayed:
    """Raises BadRecording if the recording makes no sense."""
    return _Replay(recording, how).run()


class _Replay:
    def __init__(self, recording: Recording, how: How) -> None:
        self._recording = recording
        self._how = how
        self._request = recording.request
        conditions = recording.request.conditions
        supply = Supply(conditions.digits, conditions.dates)
        self._mint, self._now = Mint(supply.digits), supply.date
        self._surface = surface_of(recording.request.surface, conditions, self._mint, self._now)
        self._tenant = tenant_of(conditions.tenant)
        self._groups = groups_of(recording.attempts)
        self._profiles = [how.profile or profile_of(group[0]) for group in self._groups]
        self._signs = Signs((), (), _nothing)
        self._verdicts = Verdicts(conditions.verdicts)
        self._replayed = Replayed()
        self._ledger = self._replayed.ledger

    def run(self) -> Replayed:
        replayed = self._replayed
        try:
            self._serve()
        except Fault as fault:
            params = self._surface.params
            refusal = fault.changed(param=params.get(fault.param or "", fault.param))
            replayed.fault, replayed.status = refusal, refusal.status
            replayed.answer = self._surface.error(refusal)
        return replayed

    def _serve(self) -> None:
        if self._request.body is None or self._was_refused_before_it_was_read():
            raise self._from_outside()
        asked = self._read(body_of(self._request))
        self._recorded_refusal()
        if self._request.surface == "input_tokens":
            self._replayed.answer = counted(self._counted(asked))
            return
        queued = asked.queued() is not None
        encoder = self._encoder(asked) if asked.request.stream or queued else None
        reply = OneReply(encoder)
        if encoder is not None:
            self._signs = Signs(self._reads(), self._request.conditions.signs, encoder.still_working)
        if queued:
            reply.sink.feed(STARTED)
        pipeline = self._reply(asked, encoder, reply)
        if pipeline is not None and self._recording.end.status != LEFT:
            self._signs.rest()
            self._tell(asked, encoder, pipeline, reply)

    # ── what a recording does not hold ──

    def _was_refused_before_it_was_read(self) -> bool:
        """By limits, or at the door: nothing of it was read, so no date was asked for."""
        end = self._recording.end
        return (
            end.fault is not None
            and end.fault.kind in ("TooMany", "Unsupported", "TooLarge", "Forbidden")
            and not (
                self._recording.attempts or self._request.conditions.dates or self._request.conditions.digits
            )
        )

    def _recorded_refusal(self) -> None:
        """Raises what has refused the request though the core could read it, where that was no answer in a stream."""
        end = self._recording.end
        if end.fault is not None and end.status != OK and not self._groups and self._is_from_outside():
            raise self._from_outside()

    def _is_from_outside(self) -> bool:
        fault = self._recording.end.fault
        return fault is not None and fault.kind not in ("ClientFault", "Incompatible")

    def _from_outside(self) -> Fault:
        self._replayed.outside = True
        fault = self._recording.end.fault
        return Fault("The recording does not say why it was refused.") if fault is None else fault_of(fault)

    # ── the way there ──

    def _read(self, body: Any) -> SurfaceContext:
        headers = self._request.headers if self._how.headers is None else self._how.headers
        lowered = {name.lower(): value for name, value in headers.items()}
        named = self._surface.named(body, self._ledger, self._tenant.name)
        return self._surface.read(body, lowered, self._ledger, self._tenant.name, self._known(named))

    def _known(self, named: Named | None) -> Known | None:
        """What was found of that which the request names. Call ids may have been known without a name."""
        known = known_of(self._request.conditions.known)
        if known is None or (named is None and self._request.surface != "native"):
            return None
        return known if named is None else known._replace(named=named)

    def _encoder(self, asked: SurfaceContext) -> Encoder:
        framing = FRAMINGS[self._request.framing or "sse"]
        return asked.encoder(self._replayed.frames.append, framing)

    def _completed(self, asked: SurfaceContext, asker: Asker) -> Request:
        request = asked.request
        if asker.has_rules_for(request):
            request = admitted(request, asker, self._ledger)
        model = self._groups[0][0].model if self._groups else request.model
        return completed(request, asker, ReasoningMemory(), model)

    def _prepared(self, number: int, request: Request, *, counts: bool = False) -> Preparation:
        attempt, profile = self._groups[number][0], self._profiles[number]
        counter = counter_of(profile) if counts else None
        target = target_of(attempt, profile)
        prepared = prepared_for(request, target, attempt.model, attempt.url, self._ledger, counter)
        self._replayed.posts.append(prepared.post.body)
        return prepared

    def _counted(self, asked: SurfaceContext) -> int:
        asker = Asker(self._surface, asked.client, self._tenant)
        request = self._completed(asked, asker)
        self._need_attempts()
        counter = self._prepared(0, request, counts=True).counter
        if counter is None or self._recording.end.fault is not None:
            raise self._from_outside()
        return counter.read(b"".join(data for _, data in self._groups[0][-1].reads))

    def _need_attempts(self) -> None:
        if not self._groups:
            raise self._from_outside()

    # ── and back ──

    def _reply(self, asked: SurfaceContext, encoder: Encoder | None, reply: OneReply) -> Pipeline | None:
        asker = Asker(self._surface, asked.client, self._tenant)
        try:
            request = self._completed(asked, asker)
            self._need_attempts()
            preparation = self._prepared(0, request)
        except Fault as refusal:
            if encoder is None or not asked.client.faults_in_stream or self._request.framing == "log":
                raise
            self._end_at_once(asked, encoder, ReplyEnded(Ending.FAILED, fault=refusal))
            return None
        if not request.generate:
            self._end_at_once(asked, encoder, ReplyEnded(Ending.COMPLETED))
            return None
        number = 0
        while True:
            pipeline = self._attempt(number, preparation, asker, reply)
            number += 1
            if pipeline.fault is None or pipeline.begun or number == len(self._groups):
                return pipeline
            preparation = self._prepared(number, request)

    def _attempt(self, number: int, preparation: Preparation, asker: Asker, reply: OneReply) -> Pipeline:
        flow = reply_flow(
            preparation,
            asker,
            mint=self._mint,
            stamp=str(int(self._now() * 1000)),
            ledger=self._ledger,
            sink=reply.sink,
            observer=self._how.observer,
        )
        group = self._groups[number]
        for refused in group[:-1]:
            self._signs.came(sum(len(data) for _, data in refused.reads))
        self._play(flow, group[-1], number)
        flow.pipeline.put_right(seen=preparation.request.stream)
        return flow.pipeline

    def _play(self, flow: ReplyFlow, attempt: RecordedAttempt, number: int) -> None:
        reads = [data for _, data in attempt.reads]
        profile = self._how.profile or profile_of(attempt)
        pieces = cuts.pieces(reads, self._how.cut, self._how.seed + number)
        play(flow, attempt, profile, pieces, self._signs, self._verdicts)

    def _reads(self) -> list[bytes]:
        return [data for attempt in self._recording.attempts for _, data in attempt.reads]

    def _end_at_once(self, asked: SurfaceContext, encoder: Encoder | None, ended: ReplyEnded) -> None:
        reply = Reply(ended=ended)
        if encoder is None:
            self._replayed.answer = asked.whole(reply).body
            return
        self._replayed.fault = ended.fault
        encoder.feed(STARTED)
        encoder.feed(self._kept(asked, reply))

    def _tell(
        self, asked: SurfaceContext, encoder: Encoder | None, pipeline: Pipeline, reply: OneReply
    ) -> None:
        fault, ended = pipeline.fault, pipeline.reply.ended
        assert ended is not None
        in_stream = encoder and (asked.client.faults_in_stream or pipeline.begun or self._had_opened())
        if fault is not None and not in_stream:
            raise fault
        ended = self._kept(asked, Reply(pipeline.reply.parts, ended))
        if fault is None and ended.fault is not None and encoder is None:
            raise ended.fault
        self._replayed.fault = fault or ended.fault
        reply.end(ended)
        if encoder is None:
            self._replayed.answer = asked.whole(pipeline.reply).body

    def _had_opened(self) -> bool:
        """Had the stream begun, as a sign of life, so that no status could be chosen any more?"""
        return self._recording.end.status == OK

    def _kept(self, asked: SurfaceContext, reply: Reply) -> ReplyEnded:
        assert reply.ended is not None
        record = asked.record(reply)
        not_stored = self._recording.end.not_stored
        if record is None or not_stored is None:
            return reply.ended
        asked.not_stored(not_stored, self._ledger)
        if record.conversation is None and self._request.framing != "log":
            return reply.ended
        return replace(reply.ended, ending=Ending.FAILED, fault=store_is_down())


def _nothing() -> None:
    """There is no stream that could show signs of life."""
