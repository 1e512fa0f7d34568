"""Somebody who looks on: at what passes the seams of one reply, without a part in it.

A request without an observer pays nothing for it: the seams are wrapped once, when the pipeline is strung together.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from proxy.core.events import Delta, Event
from proxy.core.sink import Sink


class Observer(Protocol):
    """Is shown each thing just before it goes on. It must neither raise nor change what it is shown."""

    def received(self, data: bytes) -> None:
        """Bytes of the backend, as they were read."""

    def decoded(self, delta: Delta) -> None:
        """What the decoder made of them."""

    def ordered(self, event: Event) -> None:
        """An event that has passed all stages."""

    def text(self, text: str, logprobs: list[Any] | None) -> None:
        """More of the open part, between two events."""

    def sent(self, frame: bytes) -> None:
        """What the client is sent of it."""


Item = TypeVar("Item")


def observing(observe: Callable[[Item], None], feed: Callable[[Item], Any]) -> Callable[[Item], None]:
    """The way into `feed` past somebody who looks on."""

    def observe_and_feed(item: Item) -> None:
        observe(item)
        feed(item)

    return observe_and_feed


def observing_sink(observer: Observer, sink: Sink) -> Sink:
    def delta(text: str, logprobs: list[Any] | None) -> None:
        observer.text(text, logprobs)
        sink.delta(text, logprobs)

    return Sink(observing(observer.ordered, sink.feed), delta)
