"""What belongs to the reasoning but is not for people: encrypted thoughts, signatures, a vendor's own objects.

The decoder keeps it here while the words go through the stages, and it joins them where a reasoning part ends. What
came beside something else gets reasoning of its own, without a word, before whatever follows.
"""

from collections.abc import Callable
from dataclasses import replace

from proxy.core.events import Ending, Event, PartEnded, PartKind, PartStarted, ReplyEnded
from proxy.core.fragments import joined
from proxy.core.model import Extras, Reasoning
from proxy.core.sink import Sink

Emit = Callable[[Event], None]


class Keepsakes:
    def __init__(self) -> None:
        self._kept: list[Extras] = []

    def keep(self, extras: Extras) -> None:
        self._kept.append(extras)

    def forget(self) -> None:
        """What they belong to is left out."""
        self._kept.clear()

    def added(self, sink: Sink) -> Sink:
        """A stage that adds them to the events."""
        emit = sink.feed

        def feed(event: Event) -> None:
            if self._kept:
                event = self._beside(event, emit)
            emit(event)

        return Sink(feed, sink.delta)

    def _beside(self, event: Event, emit: Emit) -> Event:
        match event:
            case PartEnded(Reasoning() as thought):
                return replace(event, part=Reasoning(thought.text, self._gathered()))
            case PartStarted(kind) if kind is not PartKind.REASONING:
                self._by_themselves(emit)
            case ReplyEnded(Ending.COMPLETED):
                self._by_themselves(emit)
            case _:  # they stay for what comes next
                pass
        return event

    def _by_themselves(self, emit: Emit) -> None:
        emit(PartStarted(PartKind.REASONING, wordless=True))
        emit(PartEnded(Reasoning("", self._gathered()), complete=True))

    def _gathered(self) -> Extras:
        """All of them as one: the lists of one name, in one dialect, follow each other, and what came in pieces is
        whole."""
        whole: Extras = {}
        for extras in self._kept:
            for dialect, things in extras.items():
                kept = whole.setdefault(dialect, {})
                for name, values in things.items():
                    kept.setdefault(name, []).extend(values)
        self._kept.clear()
        return {
            dialect: {name: joined(values) for name, values in kept.items()}
            for dialect, kept in whole.items()
        }
