"""The way of nearly every token: past the stages that would only pass it on.

Most of what a backend sends is more of what is open: of a text, a thought, or the arguments of a call. Once a piece of
it has gone through all stages, and none of them holds anything back or waits for something, each would pass on the next
one as it is. So that is given to the client's encoder at once, without an object around it; only the search for calls
in text still looks at it. Whatever else comes takes the way through the stages, and what follows it must show anew that
it may go past them.
"""

from collections.abc import Callable
from typing import Final

from proxy.core.events import CallDelta, Delta, ReasoningDelta, TextDelta
from proxy.core.markup.frames import FrameStage
from proxy.core.markup.scanner import Scanner
from proxy.core.markup.stage import MarkupStage
from proxy.core.sink import TakeDelta
from proxy.core.stream.assembler import Assembler

NO_CALL: Final = object()


class Shortcut:
    """Implements `More`, for one reply; `feed` takes all other deltas."""

    __slots__ = (
        "_append",
        "_assembler",
        "_begun",
        "_call",
        "_delta",
        "_feed",
        "_flowing",
        "_frames",
        "_markup",
        "_pieces",
        "_scanner",
        "_seen",
        "_spot",
    )

    def __init__(
        self,
        feed: Callable[[Delta], None],
        markup: MarkupStage | None,
        frames: FrameStage,
        assembler: Assembler,
        delta: TakeDelta,
    ) -> None:
        """`feed` is the way through the stages; `delta` is where the assembler passes on the text of the open part."""
        self._feed = feed
        self._markup = markup
        self._begun = markup.openers.unsigned if markup else None
        """With one of these may end what has no sign of a call in it; None where no calls are looked for."""
        self._spot: Callable[[str], object]
        """Finds nothing in what has such a sign but holds no call."""
        if markup is not None:
            self._spot = markup.openers.begun.search
        self._scanner: Scanner | None = None
        """That of the prose that goes past."""
        self._pieces: list[str] = []
        """The pieces of the prose that is open."""
        self._seen = 0
        """So many of them its scanner knows."""
        self._frames = frames
        self._assembler = assembler
        self._delta = delta
        self._append: Callable[[str], None]
        """Adds to the open part."""
        self._flowing: type[Delta] | None = None
        """The kind of prose that goes past the stages."""
        self._call: object = NO_CALL
        """The index of the call whose arguments do."""

    def feed(self, delta: Delta) -> None:
        self.catch_up()
        self._flowing, self._call, self._scanner = None, NO_CALL, None
        self._feed(delta)

    def catch_up(self) -> None:
        """Tells the scanner what went past it."""
        if self._scanner:
            self._scanner.passed("".join(self._pieces[self._seen :]))
            self._seen = len(self._pieces)

    def text(self, text: str) -> None:
        if self._flowing is TextDelta:
            begun = self._begun
            if begun is None or (
                "<" not in text
                and (("[" not in text and not text.endswith(begun)) or self._spot(text) is None)
            ):
                self._append(text)
                self._delta(text, None)
                return
        self._feed_prose(TextDelta(text))

    def reasoning(self, text: str) -> None:
        if self._flowing is ReasoningDelta:
            begun = self._begun
            if begun is None or (
                "<" not in text
                and (("[" not in text and not text.endswith(begun)) or self._spot(text) is None)
            ):
                self._append(text)
                self._delta(text, None)
                return
        self._feed_prose(ReasoningDelta(text))

    def arguments(self, index: int | None, text: str) -> None:
        if index == self._call and text[0] != "{":  # which may begin a repetition of them all
            self._append(text)
            self._delta(text, None)
            return
        self.feed(CallDelta(index, arguments=text))
        append = self._assembler.flowing_call(index)
        if append is not None and self._pass(CallDelta):
            self._append, self._call = append, index

    def _feed_prose(self, delta: TextDelta | ReasoningDelta) -> None:
        self.feed(delta)
        pieces = self._assembler.flowing_prose(type(delta))
        if pieces is not None and self._pass(type(delta)):
            self._append, self._flowing = pieces.append, type(delta)
            if self._markup is not None:
                self._scanner, self._pieces, self._seen = self._markup.scanner, pieces, len(pieces)

    def _pass(self, kind: type[Delta]) -> bool:
        """Would the stages pass on more of this kind as it is? Where text is open, thoughts in it are over."""
        return self._frames.flows(kind) and (self._markup is None or self._markup.flows(kind))
