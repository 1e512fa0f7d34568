"""The stage of a reply's pipeline that takes markup out of text and reasoning and puts calls in its place.

It holds back what was recovered while nothing visible follows, because some backends send the same calls once more in
their proper form: those are authoritative, and markup beside them is only taken out. Whatever follows, or the end of
the reply, releases the recovered calls in the order of the text. A structured call that repeats one of them after that
is dropped.

White space that stands by itself beside a recovered call is not worth a message and is dropped. Text with anything
visible in it keeps all of its own. Without a recovered call everything leaves as it came, whatever was held meanwhile.

In reasoning, models rehearse calls that they make later. So markup there is a call only if no model would rehearse in
it (`Format.native`), or if it is the very last thing of a reply that has no answer and no other call. Where the text
after such reasoning repeats the call, both are one call.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from hashlib import blake2s
from itertools import count
from typing import Any

from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    ErrorDelta,
    Finish,
    FinishDelta,
    HostedDelta,
    MessageDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.markup.candidate import End, Why
from proxy.core.markup.formats import Format, Recovered, Tools
from proxy.core.markup.openers import Openers
from proxy.core.markup.scanner import Found, Scanner
from proxy.core.markup.values import meant

FIRST_INDEX = 1 << 30
"""No backend counts its calls up to here, so an index tells recovered calls from structured ones."""
MAX_BLANKS = 256
"""Characters of white space: more than anybody leaves around a call. Longer white space is text."""
MAX_SEARCHED = 128 * 1024
"""Characters of one event. No model says more; what only looks like calls takes a microsecond for each (F79)."""
ID_BYTES = 12


@dataclass(frozen=True, slots=True)
class MarkupSettings:
    """What to look for in one reply."""

    openers: Openers
    tools: Tools


class PieceKind(Enum):
    BLANK = auto()
    CALLS = auto()
    TAG = auto()
    """Markup without calls, or for calls that the backend makes itself. It is taken out if the reply has calls; else
    it is text."""
    DRAFT = auto()
    """Calls in reasoning that the model may have rehearsed. They are text, unless the reply ends with them."""


class Channel:
    """The text of a reply, or its reasoning."""

    __slots__ = ("flows", "scanner")

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.flows = False
        """Did anything visible go before, so that white space is just more of it?"""


@dataclass(slots=True)
class HeldPiece:
    kind: PieceKind
    channel: Channel
    text: str
    """The text as the model wrote it."""
    found: Found | None = None


class MarkupStage:
    def __init__(
        self,
        emit: Callable[[Delta], None],
        settings: MarkupSettings,
        ledger: Ledger,
        used_ids: Callable[[], Set[str]] = frozenset,
    ) -> None:
        self._emit = emit
        self.openers = settings.openers
        self._tools = settings.tools
        self._ledger = ledger
        self._used_ids = used_ids
        self._content, self._reasoning = (
            Channel(Scanner(settings.openers, settings.tools, count_in(ledger))) for _ in range(2)
        )
        self._channels: dict[type, Channel] = {TextDelta: self._content, ReasoningDelta: self._reasoning}
        self._flowing: type | None = None
        """The type of text that passes as it is, because nothing of it is held."""
        self.scanner = self._content.scanner
        """That of the text that flows."""
        self._logprobs: list[Any] = []
        """The log probabilities of the held text."""
        self._held_back: list[HeldPiece] = []
        self._recovered: list[Recovered] = []
        self._meant: list[tuple[str, Any]] = []
        """Names and parsed arguments of the recovered calls, as far as any was compared."""
        self._thought: list[Recovered] = []
        """Recovered calls that stood in the reasoning, until they stand in the text once more."""
        self._suspects: list[CallDelta] = []
        """The pieces of a structured call that may repeat a recovered one, until it is whole."""
        self._repeated: set[int] = set()
        """The indexes of recovered calls that the backend has repeated."""
        self._answered = False
        """Was there any visible text?"""
        self._structured = False
        """Has the backend made calls of its own?"""

    # ── in ──

    def flows(self, kind: type[Delta]) -> bool:
        """Would more of this kind pass as it is, arguments or what `passes`?"""
        return self._flowing is kind or (kind is CallDelta and not self._recovered)

    def feed(self, delta: Delta) -> None:
        if (channel := self._channels.get(type(delta))) is None:
            self._on_other(delta)
        elif type(delta) is self._flowing and self.scanner.passes(delta.text):  # type: ignore[union-attr]  # it is text
            self._emit(delta)
        elif len(delta.text) > MAX_SEARCHED:  # type: ignore[union-attr]
            self._ledger.odd("text_unsearched")
            self._between()
            self._channels.clear()  # nor what follows: only this text shows whether that stands in code
            self._emit(delta)
        else:
            self._on_text(channel, delta)

    def close(self) -> None:
        """Ends the reply, where no delta has said that it ends."""
        self._conclude(End.CUT)

    def _on_text(self, channel: Channel, delta: Any) -> None:
        self._flowing = None
        if channel is self._content and delta.logprobs:
            self._logprobs += delta.logprobs
        if delta.text:
            other = self._reasoning if channel is self._content else self._content
            self._on_pieces(other, other.scanner.flush(End.WHOLE))
            self._on_pieces(channel, channel.scanner.feed(delta.text))
        if channel.flows and not self._held_back and not channel.scanner.holds:
            self._flowing = type(delta)
            self.scanner = channel.scanner

    def _on_other(self, delta: Delta) -> None:
        match delta:
            case CallDelta(name=name):
                if name:
                    self._on_structured()
                    delta = self._renamed(delta, name)
                if self._recovered:
                    self._suspects.append(delta)
                    return
            case FinishDelta(finish) if finish is not Finish.STOP:
                self._conclude(End.CUT)
            case FinishDelta() | EndDelta():
                self._conclude(End.WHOLE)
            case MessageDelta() | HostedDelta():
                self._between()
            case RefusalDelta() | ErrorDelta():
                self._conclude(End.CUT)
            case _:
                pass
        self._emit(delta)

    def _between(self) -> None:
        """Tells what is held, before something else that is visible."""
        self._flush(End.WHOLE)
        self._release_all()

    def _on_structured(self) -> None:
        self._flush(End.WHOLE)
        self._structured = True
        for piece in self._held_back:
            if piece.kind is PieceKind.CALLS:
                piece.kind = PieceKind.TAG
        self._release_all()

    def _release_all(self) -> None:
        self._release()
        self._content.flows = False
        self._flowing = None

    def _conclude(self, end: End) -> None:
        self._flush(end)
        if end is End.WHOLE and not self._answered and not self._called():
            for piece in self._held_back:
                if piece.kind is PieceKind.DRAFT:
                    piece.kind = PieceKind.CALLS
        self._release()

    def _flush(self, end: End) -> None:
        for channel in (self._reasoning, self._content):
            self._on_pieces(channel, channel.scanner.flush(end))

    def _renamed(self, delta: CallDelta, name: str) -> CallDelta:
        """Removes tags or tokens that a backend's own parser left on the name, and a model's affixes."""
        if name in self._tools.schemas or (meant := self._tools.declared(name.partition("<")[0])) is None:
            return delta
        self._ledger.odd("call_name_with_markup")
        return replace(delta, name=meant)

    # ── from the scanners ──

    def _on_pieces(self, channel: Channel, pieces: Sequence[str | Found]) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self._on_plain(channel, piece)
            else:
                self._on_block(channel, piece)

    def _on_plain(self, channel: Channel, text: str) -> None:
        if (self._held_back or not channel.flows) and text.isspace() and self._has_room(text):
            self._held_back.append(HeldPiece(PieceKind.BLANK, channel, text))
        else:
            self._release(channel)
            self._emit_visible(channel, text)

    def _has_room(self, text: str) -> bool:
        blanks = sum(len(piece.text) for piece in self._held_back if piece.kind is PieceKind.BLANK)
        return blanks + len(text) <= MAX_BLANKS

    def _on_block(self, channel: Channel, found: Found) -> None:
        if channel is self._content:
            self._logprobs.clear()
        self._held_back.append(HeldPiece(self._kind(channel, found), channel, found.markup, found))

    def _kind(self, channel: Channel, found: Found) -> PieceKind:
        if not found.calls:
            return PieceKind.TAG
        if channel is self._reasoning and not found.format.native:
            return PieceKind.DRAFT
        return PieceKind.TAG if self._structured else PieceKind.CALLS

    # ── out ──

    def _called(self) -> bool:
        return (
            self._structured
            or bool(self._recovered)
            or any(piece.kind is PieceKind.CALLS for piece in self._held_back)
        )

    def _release(self, visible: Channel | None = None) -> None:
        """Releases what is held, because something visible follows it: in the channel given, or in none of them."""
        if self._suspects:
            self._judge()
        if not self._held_back:
            return
        markup = {PieceKind.CALLS, PieceKind.TAG} if self._called() else set()
        taken_out = [index for index, piece in enumerate(self._held_back) if piece.kind in markup]
        pieces, self._held_back = self._held_back, []
        for index, piece in enumerate(pieces):
            if piece.kind in markup:
                self._call(piece)
            elif piece.kind is not PieceKind.BLANK:
                self._emit_visible(piece.channel, piece.text)
            elif not taken_out or (index > taken_out[-1] and piece.channel is visible):
                self._emit_text(piece.channel, piece.text)

    def _call(self, piece: HeldPiece) -> None:
        found = piece.found
        assert found is not None
        if piece.kind is PieceKind.TAG:
            self._ledger.found("stripped", found.format.name)
            return
        for call in found.calls:
            if piece.channel is self._content and call in self._thought:
                self._thought.remove(call)
                self._ledger.odd("call_repeats_thought")
                continue
            if piece.channel is self._reasoning:
                self._thought.append(call)
            self._ledger.found("recovered", found.format.name)
            index = len(self._recovered)
            self._emit(CallDelta(FIRST_INDEX + index, self._new_id(index, call), call.name, call.arguments))
            self._recovered.append(call)

    def _judge(self) -> None:
        """Drops the latest structured call if it repeats a recovered one, so that the call is not made twice."""
        suspects, self._suspects = self._suspects, []
        name = suspects[0].name
        arguments = meant("".join(delta.arguments for delta in suspects))
        self._meant += [(call.name, meant(call.arguments)) for call in self._recovered[len(self._meant) :]]
        for index, known in enumerate(self._meant):
            if index not in self._repeated and known == (name, arguments):
                self._repeated.add(index)
                self._ledger.odd("call_repeats_markup")
                return
        for delta in suspects:
            self._emit(delta)

    @cached_property
    def _ids(self) -> set[str]:
        """The ids of the conversation. A long one is searched only if there is a call to name."""
        return set(self._used_ids())

    def _new_id(self, index: int, call: Recovered) -> str:
        """Returns an id that is the same for the same call at the same index, unless the conversation has it
        already."""
        seeds = ("\0".join((str(index), call.name, call.arguments, str(attempt))) for attempt in count())
        call_id = next(id for id in map(_id_of, seeds) if id not in self._ids)
        self._ids.add(call_id)
        return call_id

    def _emit_visible(self, channel: Channel, text: str) -> None:
        channel.flows = True
        self._answered = self._answered or channel is self._content
        self._emit_text(channel, text)

    def _emit_text(self, channel: Channel, text: str) -> None:
        if channel is self._reasoning:
            self._emit(ReasoningDelta(text))
            return
        logprobs, self._logprobs = self._logprobs, []
        self._emit(TextDelta(text, logprobs or None))


def count_in(ledger: Ledger) -> Callable[[Why, Format], None]:
    return lambda why, format: ledger.found(why.value, format.name)


def _id_of(seed: str) -> str:
    return f"call_{blake2s(seed.encode('utf-8', 'surrogatepass'), digest_size=ID_BYTES).hexdigest()}"
