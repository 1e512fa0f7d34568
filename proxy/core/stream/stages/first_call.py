"""A stage for clients that want one call at a time (`parallel_tool_calls: false`): the first passes, no other does.

Not every backend has a field for it, and not every model obeys. The stage stands next to the assembler, so that no
stage behind it counts, checks or remembers a call that the client will not see.
"""

from collections.abc import Callable
from typing import Any

from proxy.core.events import Event, PartEnded, PartKind, PartStarted
from proxy.core.ledger import Ledger
from proxy.core.sink import Attach, Sink

PARALLEL_CALL = "The model made several calls at once: as was asked for, the first is passed on and no other."


def first_call(ledger: Ledger, discard: Callable[[], None] | None = None) -> Attach:
    """Makes the stage for one reply. It calls `discard` for each dropped call, so that the extras of the call are
    dropped too."""

    def stage(sink: Sink) -> Sink:
        made = _FirstCall(ledger, discard, sink)
        return Sink(made.feed, made.delta)

    return stage


class _FirstCall:
    __slots__ = ("_called", "_discard", "_dropping", "_emit", "_ledger", "_pass_on")

    def __init__(self, ledger: Ledger, discard: Callable[[], None] | None, sink: Sink) -> None:
        self._ledger = ledger
        self._discard = discard
        self._emit = sink.feed
        self._pass_on = sink.delta
        self._called = False
        self._dropping = False
        """Is the open part a call too many?"""

    def feed(self, event: Event) -> None:
        match event:
            case PartStarted(kind=PartKind.CALL):
                if self._called:
                    self._dropping = True
                    self._ledger.odd("parallel_call")
                    self._ledger.warn(PARALLEL_CALL)
                    if self._discard:
                        self._discard()
                    return
                self._called = True
            case PartEnded() if self._dropping:
                self._dropping = False
                return
            case _:  # prose, and the reply itself
                pass
        self._emit(event)

    def delta(self, text: str, logprobs: list[Any] | None) -> None:
        if not self._dropping:
            self._pass_on(text, logprobs)
