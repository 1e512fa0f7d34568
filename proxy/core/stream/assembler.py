"""The state machine: it takes deltas in any order, and gives events in the promised order.

Its promises, each one a test:

- one part is open at a time; whatever starts ends what was open before it, and prose starts when it can be seen;
- a call opens when its name is known, so clients see begin → delta → end; arguments that were earlier wait and leave
  as the first delta;
- while a call is open and its arguments are not yet one whole JSON object, everything that belongs after it is held
  back and replayed when it ends. A call never ends merely because its JSON happens to parse: some backends send `{}`
  first and the real arguments after it;
- one ending, last. Success needs proof: a finish reason, or `[DONE]` with an answer and whole calls; anything else is
  a failure, and what was open then ends incomplete.

To hold text back behind an unfinished call costs a client nothing: backends that interleave the two do so within a few
tokens, and clients could not put interleaved arguments together.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import Fault, Garbled, OwnWords, Truncated
from proxy.core.events import (
    CallDelta,
    CallHead,
    Delta,
    EndDelta,
    ErrorDelta,
    Event,
    Finish,
    FinishDelta,
    PartEnded,
    PartKind,
    PartStarted,
    ReasoningDelta,
    RefusalDelta,
    ReplyStarted,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import as_name
from proxy.core.model import Call
from proxy.core.sink import Sink
from proxy.core.stream.client_call_ids import ClientCallIds
from proxy.core.stream.ending import EndingEvidence
from proxy.core.stream.lifecycle import ENDED, NEW, OPEN, WAITING, CallPhase, ReplyOver, after
from proxy.core.stream.parts import (
    OVER,
    REASONING,
    TEXT,
    Calls,
    CallState,
    Leading,
    OpenProse,
    Prose,
)
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.names import NameTable

MAX_CALLS = 1024
"""Calls in one reply: eight times what OpenAI takes in one message, and few enough to hold in memory (E7)."""

MAX_LATE = 64
"""Deltas after the end that are counted. One event may hold hundreds of thousands more, which need not be decoded."""

AFTER_FINISH = frozenset({UsageDelta, FinishDelta, EndDelta, ErrorDelta})
"""What may follow the model's finish. Anything else revokes it."""


class Assembler:
    def __init__(
        self, sink: Sink, names: NameTable, ids: ClientCallIds, ledger: Ledger, identity: str = "id"
    ) -> None:
        self.phase = NEW
        self.finishing = False
        self._emit_event = sink.feed
        self._emit_delta = sink.delta
        self._names = names
        self._ledger = ledger
        self._ids = ids
        self._calls = Calls(identity)
        self._open: OpenProse | CallState | None = None
        self._leading = Leading(ledger)
        self._held: deque[Prose | CallState] = deque()
        self._evidence = EndingEvidence(ledger)
        self._late = 0
        """Deltas that came after the end."""

    @property
    def begun(self) -> bool:
        """Has the client been sent anything of the reply?"""
        return bool(self._evidence.started)

    def start(self) -> None:
        self._emit(ReplyStarted())

    def feed(self, delta: Delta) -> None:
        if self.phase is ENDED:
            self._ledger.odd("delta_after_end")
            self._late += 1
            if self._late >= MAX_LATE:
                raise ReplyOver
            return
        if self.finishing and type(delta) not in AFTER_FINISH:
            self.finishing = False  # for good: some say that they have finished with every delta
        HANDLERS[type(delta)](self, delta)

    def close(self) -> None:
        """Takes the end of the backend's bytes."""
        if self.phase is ENDED:
            return
        if (finish := self._evidence.finish) is None:
            self.fail(Truncated(OwnWords("The backend's stream stopped before the reply was finished.")))
        else:
            self._conclude(finish)

    def fail(self, fault: Fault) -> None:
        """Ends the reply as failed: what is open ends incomplete, what was held back behind it is dropped and
        counted."""
        if self.phase is ENDED:
            self._ledger.odd("fault_after_end")
            return
        self._end_open(complete=False)
        self._lose_held()
        self._drop_unopened("cut")
        self._emit(self._evidence.failed(fault))

    # ── deltas ──

    def _on_text(self, delta: TextDelta) -> None:
        prose, text = self._open, delta.text
        if text and not delta.logprobs and type(prose) is OpenProse and prose.kind is TEXT:
            prose.pieces.append(text)  # nearly every delta there is
            self._emit_delta(text, None)
        else:
            self._say(TEXT, text, delta.logprobs)

    def _on_other_prose(self, delta: ReasoningDelta | RefusalDelta) -> None:
        self._say(PartKind.REFUSAL if type(delta) is RefusalDelta else REASONING, delta.text)

    def _on_call(self, delta: CallDelta) -> None:
        call = self._calls.find(delta)
        if call.phase is WAITING:
            self._wait(call, delta)
        elif delta.arguments:
            self._take_arguments(call, delta.arguments)

    def _wait(self, call: CallState, delta: CallDelta) -> None:
        if len(self._calls.all) > MAX_CALLS:
            self.fail(Garbled(f"The backend's reply holds more than {MAX_CALLS} tool calls."))
            return
        call.learn_name(delta.name or "")
        if delta.arguments:
            self._take_arguments(call, delta.arguments)
        if call.may_open(self._names):
            self._open_in_turn(call)

    def _on_usage(self, delta: UsageDelta) -> None:
        self._evidence.usage = delta.usage

    def _on_finish(self, delta: FinishDelta) -> None:
        if self._evidence.take_finish(delta.finish):
            self.finishing = True

    def _on_end(self, _: EndDelta) -> None:
        if (finish := self._evidence.at_end_mark(self._calls)) is None:
            self.fail(Truncated(OwnWords("The backend ended its stream without finishing the reply.")))
        else:
            self._conclude(finish)

    def _on_error(self, delta: ErrorDelta) -> None:
        self.fail(delta.fault)

    # ── prose ──

    def _say(self, kind: PartKind, text: str, logprobs: list[Any] | None = None) -> None:
        if not text:
            return
        prose = self._open
        if isinstance(prose, OpenProse) and prose.kind is kind:
            prose.add(text, logprobs)
        elif self._held or self._blocked():
            self._held.append(Prose(kind, text, logprobs))
            return
        elif prose := self._leading.grow(kind, text, logprobs):
            self._end_open()
            self._open = prose
            self._emit(PartStarted(kind))
            text, logprobs = prose.so_far()
        else:
            return
        self._emit_delta(text, logprobs)

    # ── calls ──

    def _take_arguments(self, call: CallState, text: str) -> None:
        if call.phase is OPEN:
            if text[0] == "{" and call.repeats(text):
                self._ledger.odd("arguments_repeated")
            elif text := text if call.arguments else self._first(call, text):
                call.arguments.append(text)
                if BRIDGES[call.type].streams:
                    self._emit_delta(text, None)
            if self._held:
                self._replay()
        elif call.phase in OVER:
            self._ledger.odd("arguments_after_call")
        else:
            self._lay_aside(call, text)
            if not call.name:
                self._ledger.log.debug("call_arguments_buffered", index=call.index, bytes=len(text))

    def _lay_aside(self, call: CallState, text: str) -> None:
        if call.lay_aside(text):
            self._ledger.odd("placeholder_arguments")

    def _first(self, call: CallState, text: str) -> str:
        """Returns the first delta: nothing while the arguments may be a placeholder."""
        self._lay_aside(call, text)
        return "" if call.has_placeholder else call.take_pending()

    def _open_in_turn(self, call: CallState) -> None:
        if not self._names.permits(call.name):
            self._drop(call, "forbidden")
            self._evidence.forbidden = self._evidence.forbidden or self._names.forbids(call.name)
        elif self._held or self._blocked():
            call.move(CallPhase.QUEUED)
            self._held.append(call)
        else:
            self._open_call(call)

    def _open_call(self, call: CallState) -> None:
        self._end_open()
        tool, call.type = self._names.client(call.name)
        call.backend_id = call.id
        call.id = self._ids.take(call.id)
        call.move(CallPhase.OPEN)
        self._open = call
        self._ledger.log.debug("call_started", name=as_name(call.name), index=call.index)
        self._emit(PartStarted(PartKind.CALL, CallHead(call.id, tool, call.type, call.backend_id)))
        if text := call.take_pending():
            self._ledger.log.debug("call_arguments_replayed", name=as_name(call.name), bytes=len(text))
            self._take_arguments(call, text)

    def _end_call(self, call: CallState, complete: bool) -> Call:
        bridge = BRIDGES[call.type]
        streamed = bridge.streams and bool(call.arguments)
        text = "".join(call.arguments) or call.take_pending()
        if complete:
            text = bridge.from_function(text)
        if text and not streamed:
            self._emit_delta(text, None)
        if complete and not bridge.freeform and not jsontext.is_object(text):
            # The model's error belongs to the client: passed on as it is (R09).
            self._ledger.odd("malformed_arguments")
        call.move(CallPhase.ENDED)
        call.arguments.clear()
        self._ledger.log.debug("call_complete", name=as_name(call.name), bytes=len(text), complete=complete)
        tool, _ = self._names.client(call.name)
        return Call(call.id or "", tool, call.type, text, call.backend_id)

    def _drop(self, call: CallState, why: str) -> None:
        call.move(CallPhase.DROPPED)
        self._ledger.odd(f"call_dropped_{why}")

    def _drop_unopened(self, why: str) -> None:
        for call in self._calls.all:
            if call.phase is WAITING:
                self._drop(call, why)

    # ── one part at a time ──

    def _blocked(self) -> bool:
        """May nothing else open yet, because an open call still lacks arguments?"""
        return isinstance(self._open, CallState) and not self._open.is_whole()

    def _end_open(self, complete: bool = True) -> None:
        self._leading.drop()
        opened = self._open
        if opened is None:
            return
        part = self._end_call(opened, complete) if isinstance(opened, CallState) else opened.part()
        self._open = None
        self._emit(PartEnded(part, complete))

    def _replay(self) -> None:
        """Replays what was held back, as far as the calls before it are whole."""
        held, self._held = self._held, deque()
        while held and not self._blocked():
            first = held.popleft()
            if isinstance(first, CallState):
                self._open_call(first)
            else:
                self._say(first.kind, first.text, first.logprobs)
        self._held = held

    # ── the ending ──

    def _conclude(self, finish: Finish) -> None:
        cut = finish is not Finish.STOP
        for call in self._calls.all:
            if call.phase is WAITING and call.name:
                self._open_in_turn(call)
        while self._held:
            self._replay()
            if self._held:  # behind a call that will never be whole
                self._end_open(complete=not cut)
                if cut:
                    self._lose_held()
        self._end_open(complete=not cut or (isinstance(self._open, CallState) and not self._blocked()))
        self._drop_unopened("nameless")
        self._emit(self._evidence.concluded(finish, self._calls))

    def _lose_held(self) -> None:
        """Drops and counts what was held back, because nothing may follow an item that ends incomplete."""
        for held in self._held:
            if isinstance(held, CallState):
                self._drop(held, "cut")
            else:
                self._ledger.odd("text_cut")
        self._held.clear()

    def _emit(self, event: Event) -> None:
        self.phase = after(self.phase, event)
        if isinstance(event, PartStarted):
            self._evidence.started.add(event.kind)
        self._emit_event(event)


HANDLERS: dict[type, Callable[[Assembler, Any], None]] = {
    TextDelta: Assembler._on_text,
    ReasoningDelta: Assembler._on_other_prose,
    RefusalDelta: Assembler._on_other_prose,
    CallDelta: Assembler._on_call,
    UsageDelta: Assembler._on_usage,
    FinishDelta: Assembler._on_finish,
    EndDelta: Assembler._on_end,
    ErrorDelta: Assembler._on_error,
}
