"""What a decoder of the Responses API says, item by item, and what it remembers of it.

Each text remembers what was said of it. A later form of it adds what was not; where the two contradict each other,
what was said first stands.
"""

from collections.abc import Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import logprobs as reading_logprobs
from proxy.core.dialects.reading.decoding import MAX_ANNOTATIONS, MAX_KEPT_DEPTH, UNWRITABLE, Decoding, word
from proxy.core.dialects.responses import entries, thoughts
from proxy.core.dialects.responses.entries import (
    ARGUMENTS,
    CALL,
    REASONING,
    REFUSAL,
    TEXT,
    Json,
    Kind,
    Voice,
)
from proxy.core.dialects.responses.growing import Growing, GrowingText, Items
from proxy.core.errors import Garbled
from proxy.core.events import (
    CallDelta,
    CallEndDelta,
    Delta,
    HostedDelta,
    MessageDelta,
    More,
    RefusalDelta,
    TextDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Extras

BETWEEN_THOUGHTS = "\n\n"

MAX_ITEMS = 4096
"""Items in one reply: four times as many as calls."""
MAX_WORD = 64
"""Characters of a phase. The longest known one has a dozen."""


class Saying(Decoding):
    __slots__ = (
        "_calls",
        "_items",
        "_keep_extras",
        "_model",
        "_speaker",
        "_thinking",
        "_told",
    )

    def __init__(
        self,
        emit: Callable[[Delta], None],
        ledger: Ledger,
        keep_extras: Callable[[Extras], None] | None,
        model: str,
        more: More | None,
    ) -> None:
        super().__init__(emit, ledger, more)
        self._keep_extras = keep_extras
        self._model = model
        self._items = Items()
        self._told: dict[Voice, GrowingText] = {TEXT: GrowingText(), REFUSAL: GrowingText()}
        """All that the reply has said, whatever messages it was in."""
        self._calls = 0
        self._speaker: Growing | None = None
        """The message that was spoken last."""
        self._thinking: GrowingText | None = None
        """The thought that was told last, if nothing has been said or called since."""

    # ── items ──

    def _begin(self, item: Json, index: Any) -> Growing:
        kind = entries.kind_of(item)
        if kind is None and not entries.is_hosted(item):
            self._odd("item_unknown")
            return Growing(kind, item, done=True)
        if len(self._items.all) >= MAX_ITEMS:
            self._fail(Garbled(f"The backend's reply holds more than {MAX_ITEMS} items."))
            return Growing(kind, item, done=True)
        growing = self._items.begin(kind, item, index)
        if kind in entries.CALLS:
            growing.call, self._calls = self._calls, self._calls + 1
            self._name(growing, item)
        return growing

    def _finish(self, growing: Growing, item: Json, *, cut: bool = False) -> None:
        """Says what of the whole item was not said yet."""
        growing.done = True
        match growing.kind:
            case Kind.MESSAGE:
                self._finish_prose(growing, item, "")
                self._annotate(growing, item)
            case Kind.REASONING:
                self._finish_prose(growing, item, BETWEEN_THOUGHTS)
                self._keep(item)
            case kind if kind in entries.CALLS:
                self._name(growing, item)
                self._arguments(growing, item)
                if growing.call is not None and not cut and item.get("status") != "incomplete":
                    self._emit(CallEndDelta(growing.call))
            case _:
                self._show_hosted(item)

    def _finish_prose(self, growing: Growing, item: Json, between: str) -> None:
        assert growing.kind is not None
        for voice, texts in entries.said_in(item, growing.kind).items():
            whole = between.join(filter(None, texts))
            self._rest(growing, voice, growing.said(voice).rest(whole))
        for _ in range(entries.unreadable_parts(item, growing.kind)):
            self._odd("content_part_unknown")

    def _annotate(self, growing: Growing, item: Json) -> None:
        annotations = (entries.annotations_in(item) or growing.annotations)[:MAX_ANNOTATIONS]
        if annotations and self._speaker is growing and self._is_writable(annotations):
            self._emit(MessageDelta(annotations))

    def _keep(self, item: Json) -> None:
        if self._keep_extras and (extras := thoughts.kept(item, self._model)) and self._keepable(item):
            self._keep_extras(extras)

    def _show_hosted(self, item: Json) -> None:
        if entries.is_hosted(item) and self._is_writable(item):
            self._thinking = None
            try:
                self._emit(HostedDelta(self._exact(item)))
            except jsontext.BadJson:
                self._odd("item_unwritable")

    def _is_writable(self, value: Any) -> bool:
        """Can it be told to a client? If not, the reply goes on without it."""
        if jsontext.deeper_than(value, MAX_KEPT_DEPTH):
            self._odd("item_unwritable")
            return False
        return True

    # ── text ──

    def _speak(self, growing: Growing, voice: Voice, number: Any, text: str, logprobs: Any = None) -> None:
        """Says something in one part of an item."""
        part = growing.part(voice, number)
        gap = BETWEEN_THOUGHTS if growing.kind is REASONING and not part and growing.said(voice) else ""
        part.add(text)
        self._say(growing, voice, gap + text, logprobs)

    def _rest(self, growing: Growing, voice: Voice, rest: str | None) -> None:
        if rest is None:
            self._odd("text_differs")
        elif rest:
            self._say(growing, voice, rest)

    def _say(self, growing: Growing, voice: Voice, text: str, logprobs: Any = None) -> None:
        growing.said(voice).add(text)
        if growing.kind is REASONING:
            self._think(growing, voice, text)
            return
        self._thinking = None
        self._told[voice].add(text)
        if growing is not self._speaker:
            self._take_turn(growing)
        if voice is REFUSAL:
            self._emit(RefusalDelta(text))
        elif logprobs and (told := reading_logprobs.read({"content": logprobs})):
            self._emit(TextDelta(text, told))
        else:
            self._more.text(text)

    def _take_turn(self, growing: Growing) -> None:
        """Another message speaks from here on."""
        phase = (word(growing.item.get("phase")) or "")[:MAX_WORD] or None
        if self._speaker is not None or phase:
            self._emit(MessageDelta(phase=phase))
        self._speaker = growing

    def _think(self, growing: Growing, voice: Voice, text: str) -> None:
        """Tells a thought in the voice that came first: the summary of a thought that is told itself is left out, and
        the other way round."""
        growing.voice = growing.voice or voice
        if voice is not growing.voice:
            self._odd("thought_told_twice")
            return
        own = growing.said(voice)
        if self._thinking is not None and self._thinking is not own:
            text = BETWEEN_THOUGHTS + text
        self._thinking = own
        self._more.reasoning(text)

    # ── calls ──

    def _name(self, growing: Growing, item: Json) -> None:
        """Opens a call with the first name that it has. Nothing else may change it."""
        name = entries.called_name(item)
        if growing.name or name is None:
            return
        growing.name = name
        call_id = word(item.get("call_id")) or word(growing.item.get("call_id")) or word(item.get("id"))
        self._emit(CallDelta(growing.call, call_id, name, freeform=growing.kind is not CALL))
        self._thinking = None

    def _arguments(self, growing: Growing, holder: Json) -> None:
        assert growing.kind is not None
        try:
            text = entries.arguments_of(self._exact(holder), growing.kind)
        except jsontext.BadJson:
            self._fail(Garbled(UNWRITABLE))
            return
        rest = growing.said(ARGUMENTS).rest(text) if text else ""
        if rest is None:
            self._odd("arguments_differ")
        elif rest:
            self._argue(growing, rest)

    def _argue(self, growing: Growing, text: str) -> None:
        growing.said(ARGUMENTS).add(text)
        self._more.arguments(growing.call, text)
