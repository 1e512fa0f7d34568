"""A stage for the rare backend that cuts its text between the two halves of a character: it joins lone surrogates.

A decoder adds this stage behind itself when it meets the first one, so that other replies do not pay for it.
"""

from collections.abc import Callable
from dataclasses import replace

from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from proxy.core.jsontext import mend

FIRST_HALVES = range(0xD800, 0xDC00)
ORPHAN = "\ufffd"

Prose = TextDelta | ReasoningDelta | RefusalDelta
Channel = type[Prose] | int | None
"""Names a kind of prose, or the index of a call, which may be missing."""


class SurrogateJoiner:
    """Keeps a first half until the next delta of its channel, or the end of the reply."""

    __slots__ = ("_emit", "_waiting")

    def __init__(self, emit: Callable[[Delta], None]) -> None:
        self._emit = emit
        self._waiting: dict[Channel, str] = {}

    def feed(self, delta: Delta) -> None:
        match delta:
            case TextDelta() | ReasoningDelta() | RefusalDelta():
                delta = replace(delta, text=self._whole(type(delta), delta.text))
            case CallDelta():
                arguments = self._whole(delta.index, delta.arguments)
                delta = replace(delta, id=_mended(delta.id), name=_mended(delta.name), arguments=arguments)
            case FinishDelta() | EndDelta():
                self._give_up_waiting()
            case _:  # the rest has no text
                pass
        self._emit(delta)

    def _whole(self, channel: Channel, text: str) -> str:
        text = self._waiting.pop(channel, "") + text
        if text and ord(text[-1]) in FIRST_HALVES:
            self._waiting[channel] = text[-1]
            text = text[:-1]
        return mend(text)

    def _give_up_waiting(self) -> None:
        for channel in self._waiting:
            self._emit(channel(ORPHAN) if isinstance(channel, type) else CallDelta(channel, arguments=ORPHAN))
        self._waiting.clear()


def _mended(text: str | None) -> str | None:
    return None if text is None else mend(text)
