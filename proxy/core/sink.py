"""Where a reply goes: into the next stage, and from the last one to the client's encoder.

Between the events, which say where the parts of a reply begin and end, comes the text of the open part, with every
token. Most stages do not use it. So it is passed on apart, without an object around it, and a stage that would only
pass it on gives its predecessor the function of its successor: this costs a decision for each reply instead of a call
for each token.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from proxy.core.events import Event

TakeDelta = Callable[[str, list[Any] | None], None]
"""Takes more text of the open part, which is never empty, and its log probabilities, if any."""


@dataclass(slots=True)
class Sink:
    feed: Callable[[Event], None]
    delta: TakeDelta


Attach = Callable[[Sink], Sink]
"""Makes a stage for one reply, from the sink of its events."""


class Stage(NamedTuple):
    """One of the stages between the assembler and a client, by the name under which a pipeline lists it."""

    name: str
    attach: Attach


def ignore_delta(text: str, logprobs: list[Any] | None) -> None:
    """Ignores deltas, for consumers that read whole parts."""


NOWHERE = Sink(deque[Event](maxlen=0).append, ignore_delta)
"""For a client that does not stream: the pipeline itself collects the reply."""
