"""Connects the stages: one reply, from the backend's bytes to the surface's events.

The shell only calls `feed` for each read, then `close` at the end of the bytes or `fail` when they broke off. None of
the three ever raises, whatever a backend does.
"""

from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from typing import Protocol

from proxy.core.errors import BackendFault, Empty, Fault, OwnWords
from proxy.core.events import Decoder, Delta, More
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.markup.frames import FrameStage
from proxy.core.markup.stage import MarkupSettings, MarkupStage
from proxy.core.model import Reasoning, Refusal, Text
from proxy.core.sink import Sink, Stage
from proxy.core.stream.assembler import Assembler
from proxy.core.stream.client_call_ids import ClientCallIds
from proxy.core.stream.intake import Intake
from proxy.core.stream.lifecycle import ReplyOver
from proxy.core.stream.observer import Observer, observing, observing_sink
from proxy.core.stream.prompted import PromptedSplitter, unopened, with_thought_apart, without_thought
from proxy.core.stream.shortcut import Shortcut
from proxy.core.stream.stages.collector import Collector
from proxy.core.stream.think import ThinkSplitter
from proxy.core.tools.names import NameTable

MAX_REPLY_BYTES = 256 << 20
"""A bound for a backend that never ends: four times the largest request body, and far beyond any model's output."""

MAX_REPLY_CHARACTERS = 8 << 20
"""A bound for what is said, which is held in memory, and told whole at the end, several times, by the event loop. A
model that writes for an hour says a fifth of it."""

LOOK_BYTES = 1 << 20
"""After so many bytes at least the length is looked at again."""

PAST_BYTES = 64 << 10
"""After so many the search for calls learns what went past it: what it has to read at once must not be long."""

PROSE = (Text, Refusal, Reasoning)


class MakeDecoder(Protocol):
    def __call__(self, emit: Callable[[Delta], None], /, *, more: More | None) -> Decoder:
        """Without `more`, everything is a delta."""


class Pipeline:
    def __init__(
        self,
        make_decoder: MakeDecoder,
        names: NameTable,
        mint: Mint,
        ledger: Ledger,
        sink: Sink,
        *,
        used_ids: Callable[[], Set[str]] = frozenset,
        call_identity: str = "id",
        own_call_ids: bool = False,
        thoughts_until: str | None = None,
        markup: MarkupSettings | None = None,
        stages: Sequence[Stage] = (),
        observer: Observer | None = None,
    ) -> None:
        """`used_ids` tells the ids that calls of the conversation have, should there be more calls.

        `thoughts_until` is the tag that ends the thoughts of replies which begin inside them; "" if none do, None if
        that is not known.

        `markup` is what to look for in the text; None where no tool may be called, and none can be meant.

        `stages` stand between the assembler and the sink, the first of them nearest to the assembler.
        """
        self._ledger = ledger
        self._received = 0
        self._measure_at = MAX_REPLY_CHARACTERS
        self._look_at = PAST_BYTES
        if observer is not None:
            sink = observing_sink(observer, sink)
        collector = Collector(sink.feed)
        self.reply = collector.reply
        """The reply so far."""
        first = Sink(collector.feed, sink.delta)
        for stage in reversed(stages):
            first = stage.attach(first)
        self._between = stages
        ids = ClientCallIds(mint, used_ids, own_call_ids)
        self._assembler = Assembler(first, names, ids, ledger, call_identity)
        self._frames = FrameStage(self._assembler.feed, ledger, calls=markup is not None)
        self._markup = MarkupStage(self._frames.feed, markup, ledger, used_ids) if markup else None
        following = (self._markup or self._frames).feed
        self._prompted = PromptedSplitter(following, thoughts_until) if thoughts_until else None
        self._may_be_prompted = thoughts_until is None
        self._think = self._prompted or ThinkSplitter(following, self._frames.frame)
        self._shortcut = Shortcut(self._think.feed, self._markup, self._frames, self._assembler, first.delta)
        decoder = (
            make_decoder(self._shortcut.feed, more=self._shortcut)
            if observer is None
            else make_decoder(observing(observer.decoded, self._think.feed), more=None)
        )
        self._intake = Intake(decoder)
        self._take = (
            self._intake.feed if observer is None else observing(observer.received, self._intake.feed)
        )
        self._assembler.start()

    @property
    def stages(self) -> list[str]:
        """Names the stages of the reply, in their order."""
        before = ["intake", "decoder", "prompted" if self._prompted else "think"]
        markup = ["markup"] if self._markup else []
        return [
            *before,
            *markup,
            "frames",
            "assembler",
            *(stage.name for stage in self._between),
            "collector",
        ]

    def feed(self, data: bytes) -> bool:
        """Takes bytes. Is the model still working, as far as is known? If not, the reply is `finishing`, or has
        `ended`."""
        if self.reply.ended is not None:
            return False
        self._received += len(data)
        try:
            if self._received > self._look_at:
                self._look()
            self._take(data)
        except ReplyOver:
            pass
        except BackendFault as fault:
            self.fail(fault.changed())
        return not self._assembler.finishing

    def _look(self) -> None:
        """Does what need not be done for each read."""
        self._shortcut.catch_up()
        if self._received > self._measure_at:
            self._check_length()
        self._look_at = min(self._received + PAST_BYTES, self._measure_at)

    def _check_length(self) -> None:
        """Is done seldom: the reply cannot have grown by more than was received."""
        ended = sum(len(each.part.text) for each in self.reply.parts if isinstance(each.part, PROSE))
        called = sum(len(call.arguments) for call in self.reply.calls)
        room = MAX_REPLY_CHARACTERS - ended - called - self._assembler.characters
        if room < 0 or self._received > MAX_REPLY_BYTES:
            raise BackendFault(OwnWords("The backend's reply does not end."), code="upstream_reply_too_large")
        self._measure_at = min(self._received + max(room, LOOK_BYTES), MAX_REPLY_BYTES)

    def close(self) -> None:
        """Takes the end of the backend's bytes."""
        if self.ended:
            return
        if self._intake.silent:
            self.fail(Empty(OwnWords("The backend closed the connection without a reply.")))
            return
        try:
            with suppress(ReplyOver):
                self._intake.close()
                self._close_stages()
            self._assembler.close()
        except BackendFault as fault:
            self.fail(fault.changed())

    def fail(self, fault: Fault) -> None:
        """Takes a failure: nothing more will come. After the model's finish only usage is lost, and the reply
        stands. It is kept, so it must not be one that was raised, which holds whoever raised it."""
        with suppress(ReplyOver):
            self._close_stages()
        if self.finishing:
            self._assembler.close()
        else:
            self._assembler.fail(fault)

    def _close_stages(self) -> None:
        self._think.close()
        if self._markup:
            self._markup.close()
        self._frames.close()

    def put_right(self, *, seen: bool) -> str | None:
        """Separates thoughts from the answer where only the whole reply shows them; what the client has `seen` stays as
        it was. Returns the tag that has ended a thought which the prompt had opened, "" if the prompt had opened none,
        None if the reply does not show it."""
        parts, prompted = self.reply.parts, self._prompted
        if prompted is not None:
            if prompted.took_back:
                self._ledger.odd("thought_taken_back")
                if not seen:
                    parts[:] = without_thought(parts)
            return None if prompted.holds is None else prompted.until if prompted.holds else ""
        found = unopened(parts) if self._may_be_prompted else None
        if found is None:
            return None
        self._ledger.odd("thought_unopened")
        if not seen:
            parts[:] = with_thought_apart(parts, found)
        return found.closer

    @property
    def begun(self) -> bool:
        """Has a part started? Before that, a failure can still be an HTTP status."""
        return self._assembler.begun

    @property
    def ended(self) -> bool:
        """Is the reply over, whatever the backend still sends? A stage may have ended it early."""
        return self.reply.ended is not None

    @property
    def finishing(self) -> bool:
        """Has the model finished, so that only usage may follow, which is not worth a long wait? False if more has
        followed."""
        return self._assembler.finishing

    @property
    def fault(self) -> Fault | None:
        ended = self.reply.ended
        return None if ended is None else ended.fault
