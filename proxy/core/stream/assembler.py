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

from collections.abc import Callable
from typing import Any

from proxy.core.errors import Fault, Garbled, OwnWords, Truncated
from proxy.core.events import (
    STARTED,
    STOP,
    CallDelta,
    CallEndDelta,
    Delta,
    EndDelta,
    ErrorDelta,
    Finish,
    FinishDelta,
    PartKind,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.stream.lifecycle import ENDED, WAITING, ReplyOver
from proxy.core.stream.one_part import APART, OnePart
from proxy.core.stream.parts import (
    REASONING,
    TEXT,
    CallState,
    OpenProse,
)

MAX_CALLS = 1024
"""Calls in one reply: eight times what OpenAI takes in one message, and few enough to hold in memory (E7)."""

MAX_LATE = 64
"""Deltas after the end that are counted. One event may hold hundreds of thousands more, which need not be decoded."""

AFTER_FINISH = frozenset({UsageDelta, FinishDelta, EndDelta, ErrorDelta})
"""What may follow the model's finish. Anything else revokes it."""

PROSE: dict[type[Delta], PartKind] = {
    TextDelta: TEXT,
    ReasoningDelta: REASONING,
    RefusalDelta: PartKind.REFUSAL,
}


class Assembler(OnePart):
    @property
    def begun(self) -> bool:
        """Has the client been sent anything of the reply?"""
        return bool(self._evidence.started)

    def start(self) -> None:
        self._emit(STARTED)

    def flowing_prose(self, kind: type[Delta]) -> list[str] | None:
        """The pieces of the prose that is open, if it is of this kind: all that is told of more of it is its text."""
        prose = self._open
        if type(prose) is OpenProse and prose.kind is PROSE[kind]:
            return prose.pieces
        return None

    def flowing_call(self, index: int | None) -> Callable[[str], None] | None:
        """The same for the arguments of a call that streams, and behind which nothing waits."""
        call = self._open
        if type(call) is CallState and call.arguments and call.streams and not self._held:
            return call.arguments.append if index is not None and self._calls.at(index) is call else None
        return None

    def feed(self, delta: Delta) -> None:
        if self.phase is ENDED:
            if type(delta) is not EndDelta:  # many send it after an error, too
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
        self._say(TEXT, delta.text, delta.logprobs)

    def _on_other_prose(self, delta: ReasoningDelta | RefusalDelta) -> None:
        self._say(PROSE[type(delta)], delta.text)

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
        call.freeform = call.freeform or delta.freeform
        if delta.arguments:
            self._take_arguments(call, delta.arguments)
        if call.may_open(self._names):
            self._open_in_turn(call)

    def _on_call_end(self, delta: CallEndDelta) -> None:
        if (call := self._calls.at(delta.index)) is not None:
            call.over = True
            if self._held:
                self._replay()

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

    # ── the ending ──

    def _conclude(self, finish: Finish) -> None:
        cut = finish is not STOP
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


HANDLERS: dict[type, Callable[[Assembler, Any], None]] = {
    TextDelta: Assembler._on_text,
    ReasoningDelta: Assembler._on_other_prose,
    RefusalDelta: Assembler._on_other_prose,
    CallDelta: Assembler._on_call,
    CallEndDelta: Assembler._on_call_end,
    **APART,
    UsageDelta: Assembler._on_usage,
    FinishDelta: Assembler._on_finish,
    EndDelta: Assembler._on_end,
    ErrorDelta: Assembler._on_error,
}
