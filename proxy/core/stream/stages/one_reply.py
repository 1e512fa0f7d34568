"""Several attempts, one reply: the sink between the pipelines of all attempts and the client's encoder.

The client sees one start. The sink holds back a failure before any output, because another attempt may follow it, and
passes it on when none does.
"""

from proxy.core.events import Event, ReplyEnded, ReplyStarted
from proxy.core.sink import Sink


class OneReply:
    def __init__(self, sink: Sink) -> None:
        self._emit = sink.feed
        self._delta = sink.delta
        self._started = False
        self._said = False
        self._failure: ReplyEnded | None = None

    @property
    def sink(self) -> Sink:
        """Makes the sink for one attempt. Only events are inspected, because text cannot come before the start of its
        part."""
        return Sink(self._feed, self._delta)

    def _feed(self, event: Event) -> None:
        if self._said:
            self._emit(event)
        elif isinstance(event, ReplyStarted):
            self._failure = None
            if not self._started:
                self._started = True
                self._emit(event)
        elif isinstance(event, ReplyEnded) and event.fault is not None:
            self._failure = event
        else:
            self._said = True
            self._emit(event)

    def settle(self) -> None:
        """Passes the failure on, because no other attempt follows."""
        if self._failure is not None:
            self._emit(self._failure)
