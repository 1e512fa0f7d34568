"""Where a reply goes: into the next stage, and by the last one to the client's encoder.

Between the events, which say where the parts of a reply begin and end, comes the text of the open part, with every
token. Most stages have no use for it. So it has a way of its own, without an object around it, and a stage that would
only pass it on names the way of the next: what costs a call for every token is then decided once for a reply.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from proxy.core.events import Event

TakeDelta = Callable[[str, list[Any] | None], None]
"""Is given more text of the one open part, never nothing, and its log probabilities, if any."""


@dataclass(slots=True)
class Sink:
    feed: Callable[[Event], None]
    delta: TakeDelta


Attach = Callable[[Sink], Sink]
"""Makes a stage anew for each reply, from where its own events go."""


class Stage(NamedTuple):
    """One of the stages between the assembler and a client, by the name under which a pipeline lists it."""

    name: str
    attach: Attach


def ignore_delta(text: str, logprobs: list[Any] | None) -> None:
    """Ignores deltas, for consumers that read whole parts."""
