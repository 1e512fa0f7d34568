"""What belongs to the reasoning but is not made for people: encrypted thoughts, signatures, a vendor's own objects.

The decoder keeps it here while the text goes through the stages, and it joins the text where a reasoning part ends.
What came beside another part gets a reasoning part of its own, without text, before what follows.
"""

from collections.abc import Callable
from dataclasses import replace

from proxy.core.events import Ending, Event, PartEnded, PartKind, PartStarted, ReplyEnded
from proxy.core.fragments import joined
from proxy.core.model import Extras, Reasoning
from proxy.core.sink import Sink

Emit = Callable[[Event], None]


class ReasoningExtras:
    def __init__(self) -> None:
        self._gathered: list[Extras] = []

    def add(self, extras: Extras) -> None:
        self._gathered.append(extras)

    def discard(self) -> None:
        """Forgets the extras gathered so far, because the call that they belong to is dropped."""
        self._gathered.clear()

    def stage(self, sink: Sink) -> Sink:
        """Adds the extras to the events that pass."""
        emit = sink.feed

        def feed(event: Event) -> None:
            if self._gathered:
                event = self._with_extras(event, emit)
            emit(event)

        return Sink(feed, sink.delta)

    def _with_extras(self, event: Event, emit: Emit) -> Event:
        match event:
            case PartEnded(Reasoning() as thought):
                return replace(event, part=Reasoning(thought.text, self._take_all()))
            case PartStarted(kind) if kind is not PartKind.REASONING:
                self._emit_alone(emit)
            case ReplyEnded(Ending.COMPLETED):
                self._emit_alone(emit)
            case _:  # they stay for what comes next
                pass
        return event

    def _emit_alone(self, emit: Emit) -> None:
        emit(PartStarted(PartKind.REASONING, wordless=True))
        emit(PartEnded(Reasoning("", self._take_all()), complete=True))

    def _take_all(self) -> Extras:
        """Joins the extras gathered so far, and forgets them. Lists of one name, in one dialect, follow each other, and
        objects that came in pieces are made whole."""
        whole: Extras = {}
        for extras in self._gathered:
            for dialect, things in extras.items():
                kept = whole.setdefault(dialect, {})
                for name, values in things.items():
                    kept.setdefault(name, []).extend(values)
        self._gathered.clear()
        return {
            dialect: {name: joined(values) for name, values in kept.items()}
            for dialect, kept in whole.items()
        }
