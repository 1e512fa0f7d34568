"""An observer sees what passes between the stages of one reply, and changes nothing.

A request without an observer pays nothing for it: the calls between stages are wrapped once, when the pipeline is made.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from proxy.core.events import Delta, Event
from proxy.core.sink import Sink


class Observer(Protocol):
    """Sees each thing just before it is passed on. It must neither raise nor change what it sees."""

    def received(self, data: bytes) -> None:
        """Sees bytes of the backend, as they were read."""

    def decoded(self, delta: Delta) -> None:
        """Sees what the decoder made of them."""

    def ordered(self, event: Event) -> None:
        """Sees an event that has passed all stages."""

    def text(self, text: str, logprobs: list[Any] | None) -> None:
        """Sees more text of the open part, between two events."""

    def sent(self, frame: bytes) -> None:
        """Sees what the client is sent."""


Item = TypeVar("Item")


def observing(observe: Callable[[Item], None], feed: Callable[[Item], Any]) -> Callable[[Item], None]:
    """Makes a function that shows each item to the observer, and then feeds it."""

    def observe_and_feed(item: Item) -> None:
        observe(item)
        feed(item)

    return observe_and_feed


def observing_sink(observer: Observer, sink: Sink) -> Sink:
    def delta(text: str, logprobs: list[Any] | None) -> None:
        observer.text(text, logprobs)
        sink.delta(text, logprobs)

    return Sink(observing(observer.ordered, sink.feed), delta)
