"""What of a reply is open: one part at a time, and what waits until it is whole.

While a call is open and its arguments are not yet whole, everything that belongs after it is held back, and replayed
when it ends. The assembler says when something begins or ends; only what is here tells clients of it.
"""

from collections import deque
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

from proxy.core import jsontext
from proxy.core.events import CallHead, Event, HostedDelta, MessageDelta, PartEnded, PartKind, PartStarted
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import as_name
from proxy.core.model import Call, HostedItem
from proxy.core.sink import Sink
from proxy.core.stream.client_call_ids import ClientCallIds
from proxy.core.stream.ending import EndingEvidence
from proxy.core.stream.lifecycle import NEW, OPEN, WAITING, CallPhase, after
from proxy.core.stream.parts import OVER, TEXT, Calls, CallState, Leading, OpenProse, Prose
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.names import NameTable

Apart = MessageDelta | HostedDelta
"""What is told between parts, or is one by itself."""

Held = Prose | CallState | Apart

NOTHING: Final[deque[Held]] = deque(maxlen=0)
"""Most replies never hold anything, and an empty queue of their own would take as much memory as all that is here."""


class OnePart:
    def __init__(
        self, sink: Sink, names: NameTable, ids: ClientCallIds, ledger: Ledger, identity: str = "id"
    ) -> None:
        self.phase = NEW
        self._emit_event = sink.feed
        self._emit_delta = sink.delta
        self._names = names
        self._ledger = ledger
        self._ids = ids
        self._calls = Calls(identity)
        self._open: OpenProse | CallState | None = None
        self._leading = Leading(ledger)
        self._held = NOTHING
        self._phase: str | None = None
        """That of the next message."""
        self._evidence = EndingEvidence(ledger)
        self.finishing = False
        """Has the model finished, as far as is known?"""
        self._late = 0
        """Deltas that came after the end."""

    # ── prose ──

    def _say(self, kind: PartKind, text: str, logprobs: list[Any] | None = None) -> None:
        if not text:
            return
        prose = self._open
        if type(prose) is OpenProse and prose.kind is kind:
            prose.add(text, logprobs)
        elif self._held or self._blocked():
            self._hold(Prose(kind, text, logprobs))
            return
        elif prose := self._leading.grow(kind, text, logprobs):
            self._end_open()
            self._open = prose
            prose.phase = self._phase if kind is TEXT else None
            self._emit(PartStarted(kind, phase=prose.phase))
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
                if call.streams:
                    self._emit_delta(text, None)
            if self._held:
                self._replay()
        elif call.phase in OVER:
            self._ledger.odd("arguments_after_call")
        else:
            self._lay_aside(call, text)
            if not call.name:
                call.buffered += len(text)
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
            self._hold(call)
        else:
            self._open_call(call)

    def _open_call(self, call: CallState) -> None:
        self._end_open()
        if not self._names.declared(call.name):
            self._ledger.odd("call_undeclared")  # as the arguments of a call, it belongs to the client (R09)
        tool, call.type = self._names.client(call.name)
        call.backend_id = call.id
        call.id = self._ids.take(call.id)
        call.move(CallPhase.OPEN)
        self._open = call
        self._ledger.log.debug("call_started", name=as_name(call.name), index=call.index)
        self._emit(PartStarted(PartKind.CALL, CallHead(call.id, tool, call.type, call.backend_id)))
        if text := call.take_pending():
            if size := call.buffered:
                self._ledger.log.debug("call_arguments_replayed", name=as_name(call.name), bytes=size)
            self._take_arguments(call, text)

    def _end_call(self, call: CallState, complete: bool) -> Call:
        text, unseen = call.conclude(complete=complete)
        if unseen:
            self._emit_delta(unseen, None)
        if complete and not BRIDGES[call.type].freeform and not jsontext.is_object(text):
            # The model's error belongs to the client: passed on as it is (R09).
            self._ledger.odd("malformed_arguments")
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
        return type(self._open) is CallState and not self._open.is_whole()

    def _end_open(self, complete: bool = True) -> None:
        self._leading.drop()
        opened = self._open
        if opened is None:
            return
        part = self._end_call(opened, complete) if isinstance(opened, CallState) else opened.part()
        self._open = None
        self._emit(PartEnded(part, complete))

    def _hold(self, held: Held) -> None:
        if self._held is NOTHING:
            self._held = deque()
        self._held.append(held)

    def _replay(self) -> None:
        """Replays what was held back, as far as the calls before it are whole."""
        held, self._held = self._held, NOTHING
        while held and not self._blocked():
            first = held.popleft()
            if isinstance(first, CallState):
                self._open_call(first)
            elif isinstance(first, Prose):
                self._say(first.kind, first.text, first.logprobs)
            else:
                APART[type(first)](self, first)
        self._held = held

    @property
    def characters(self) -> int:
        """How much is held of what has not ended. To count it takes a look at each piece."""
        calls = chain.from_iterable((call.arguments, call.pending_args) for call in self._calls.all)
        prose = self._open.pieces if isinstance(self._open, OpenProse) else ()
        held = (each.text for each in self._held if isinstance(each, Prose))
        return sum(map(len, chain(chain.from_iterable(calls), prose, held)))

    # ── what stands between parts, or is one by itself ──

    def _end_message(self, delta: MessageDelta) -> None:
        if self._held or self._blocked():
            self._hold(delta)
            return
        if isinstance(self._open, OpenProse):
            self._open.annotations += delta.annotations
            self._end_open()
        elif delta.annotations:
            self._ledger.odd("annotations_misplaced")
        self._phase = delta.phase

    def _show_hosted(self, delta: HostedDelta) -> None:
        if self._held or self._blocked():
            self._hold(delta)
            return
        self._end_open()
        self._emit(PartStarted(PartKind.HOSTED, wordless=True))
        self._emit(PartEnded(HostedItem(delta.item), complete=True))

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
        if type(event) is PartStarted:
            self._evidence.started.add(event.kind)
        self._emit_event(event)


APART: Mapping[type, Callable[[OnePart, Any], None]] = {
    MessageDelta: OnePart._end_message,
    HostedDelta: OnePart._show_hosted,
}
