"""Several attempts, one reply: the sink between the pipelines of all attempts and the client's encoder.

The client sees one start and one ending. An attempt's ending goes no further: another attempt may follow a failure, and
before a success is told it has to be kept.
"""

from typing import Any, Protocol

from proxy.core.events import Event, ReplyEnded, ReplyStarted
from proxy.core.sink import NOWHERE, Sink


class Taker(Protocol):
    """An encoder, or any other sink."""

    def feed(self, event: Event, /) -> None: ...
    def delta(self, text: str, logprobs: list[Any] | None, /) -> None: ...


class OneReply:
    __slots__ = ("_delta", "_emit", "_nobody", "_started")

    def __init__(self, taker: Taker | None) -> None:
        """`taker`: None for a client that does not stream."""
        self._nobody = taker is None
        taker = taker or NOWHERE
        self._emit = taker.feed
        self._delta = taker.delta
        self._started = False

    @property
    def sink(self) -> Sink:
        """For one attempt. Text cannot come before the start of its part, which is looked at."""
        return NOWHERE if self._nobody else Sink(self._feed, self._delta)

    def _feed(self, event: Event) -> None:
        if isinstance(event, ReplyEnded):
            return
        if isinstance(event, ReplyStarted):
            if self._started:
                return
            self._started = True
        self._emit(event)

    def end(self, ended: ReplyEnded) -> None:
        """Tells the ending, after which nothing comes."""
        self._emit(ended)
