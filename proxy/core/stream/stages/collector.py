"""Folds the events into one Reply while they pass: for clients that do not stream, for the memory, for the log line."""

from collections.abc import Callable

from proxy.core.events import Event, PartEnded, Reply, ReplyEnded


class Collector:
    __slots__ = ("_emit", "reply")

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self.reply = Reply()
        self._emit = emit

    def feed(self, event: Event) -> None:
        if type(event) is PartEnded:
            self.reply.parts.append(event)
        elif type(event) is ReplyEnded:
            self.reply.ended = event
        self._emit(event)
