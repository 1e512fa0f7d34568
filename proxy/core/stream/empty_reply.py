"""Is there an answer in a reply that the model has finished?

An empty reply is a failure, and so is one that meant more than can be passed on. Small models sometimes end with
thoughts alone: the client gets them with a warning that the answer is missing. But for a client that would take such an
end for the end of its work, the reply is a failure.
"""

from collections.abc import Set

from proxy.core.errors import Empty, OwnWords
from proxy.core.events import Ending, Event, PartKind, PartStarted, ReplyEnded
from proxy.core.ledger import Ledger
from proxy.core.sink import Sink

THOUGHT = frozenset({PartKind.REASONING})
NO_ANSWER = "no_answer: the model thought, and finished without an answer."
WAY_OUT = "It said nothing else: ask again, or set tool_choice to auto."


def fault_if_empty(started: Set[PartKind], ledger: Ledger, proved: bool, forbidden: str = "") -> Empty | None:
    """Decides whether a reply that `started` these kinds of parts has failed for want of an answer.

    `proved`: the model itself has finished, and the client got all that it said. `forbidden`: a sentence about the call
    that was dropped because tool_choice does not allow it.
    """
    if not started <= THOUGHT:
        return None
    if not (started and proved):
        return Empty(f"{forbidden} {WAY_OUT}") if forbidden else _empty()
    ledger.odd("no_answer")
    ledger.warn(NO_ANSWER)
    return None


def fail_without_answer(sink: Sink) -> Sink:
    """Makes the stage that fails replies of thoughts alone, for clients that would take their end for the end of the
    work."""
    emit = sink.feed
    answered = False

    def feed(event: Event) -> None:
        nonlocal answered
        match event:
            case PartStarted(kind=kind) if kind is not PartKind.REASONING:
                answered = True
            case ReplyEnded(Ending.COMPLETED, usage) if not answered:
                event = ReplyEnded(Ending.FAILED, usage, _empty())
            case _:  # thoughts, and other endings
                pass
        emit(event)

    return Sink(feed, sink.delta)


def _empty() -> Empty:
    return Empty(OwnWords("The backend finished its reply without an answer and without a tool call."))
