"""Reasoning that a backend writes into its text: `<think>…</think>` at the very start of the content.

Only at the start: further on it is text about the tag. Nothing is held back but a suffix that can still become the
tag, and the blank lines around the tags belong to the markup.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any

from proxy.core.events import Delta, ReasoningDelta, TextDelta, UsageDelta

OPENER, CLOSER = "<think>", "</think>"
MAX_LEADING_BLANKS = 64
"""More white space than any chat template puts before its opener: what is longer is the answer itself."""


class _State(Enum):
    UNDECIDED = "the content may still start with the opener"
    THINKING = "inside"
    AFTER = "past the closer, before the first visible character"
    PLAIN = "nothing left to look for"


PLAIN = _State.PLAIN
"""Asked for with every token; Python 3.11 is slow to find a member in its enumeration."""


class ThinkSplitter:
    def __init__(self, emit: Callable[[Delta], None]) -> None:
        self._emit = emit
        self._state = _State.UNDECIDED
        self._held = ""
        self._logprobs: list[Any] = []
        self._thought = False

    def feed(self, delta: Delta) -> None:
        if self._state is not PLAIN:
            if isinstance(delta, TextDelta):
                self._look(delta)
                return
            if not isinstance(delta, UsageDelta | ReasoningDelta):
                self.close()
        self._emit(delta)

    def close(self) -> None:
        """Release what is held: nothing that could complete a tag will come."""
        if self._state is _State.UNDECIDED:
            self._say(self._held)
        elif self._state is _State.THINKING:
            self._think(self._held)
        self._state = _State.PLAIN
        self._held = ""

    def _look(self, delta: TextDelta) -> None:
        self._logprobs += delta.logprobs or ()
        text = self._held + delta.text
        self._held = ""
        if self._state is _State.UNDECIDED:
            text = self._decide(text)
        if self._state is _State.THINKING:
            self._logprobs.clear()  # those of a thought are not those of the answer
            text = self._until_closer(text)
        if self._state is _State.AFTER and (text := text.lstrip()):
            self._state = _State.PLAIN
            self._say(text)

    def _decide(self, text: str) -> str:
        visible = text.lstrip()
        if len(text) - len(visible) <= MAX_LEADING_BLANKS:
            if visible.startswith(OPENER):
                self._state = _State.THINKING
                return visible[len(OPENER) :]
            if OPENER.startswith(visible):
                self._held = text
                return ""
        self._state = _State.PLAIN
        self._say(text)
        return ""

    def _until_closer(self, text: str) -> str:
        thought, closer, rest = text.partition(CLOSER)
        if closer:
            self._think(thought)
            self._state = _State.AFTER
            return rest
        kept = _possible_closer(text)
        self._held = text[len(text) - kept :]
        self._think(text[: len(text) - kept])
        return ""

    def _think(self, text: str) -> None:
        """Blank lines before the first thought are markup; an empty block is no reasoning at all."""
        if not self._thought:
            text = text.lstrip()
        if text:
            self._thought = True
            self._emit(ReasoningDelta(text))

    def _say(self, text: str) -> None:
        if text:
            self._emit(TextDelta(text, self._logprobs or None))


def _possible_closer(text: str) -> int:
    """How long a suffix of the text may be the beginning of the closer."""
    for length in range(min(len(text), len(CLOSER) - 1), 0, -1):
        if CLOSER.startswith(text[-length:]):
            return length
    return 0
