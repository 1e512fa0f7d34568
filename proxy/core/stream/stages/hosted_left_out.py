"""A stage for clients whose API has no form for what tools of the backend's own do: the answer passes, those items do
not, and the client is told which there were.
"""

from typing import Any

from proxy.core.events import Event, PartEnded, PartKind, PartStarted
from proxy.core.ledger import Ledger
from proxy.core.model import HostedItem
from proxy.core.sink import Attach, Sink

LEFT_OUT = (
    "The provider's own tools did something that this API has no form for, and that was left out: {kind}."
)


def leave_hosted_out(ledger: Ledger) -> Attach:
    """Makes the stage for one reply."""

    def stage(sink: Sink) -> Sink:
        emit = sink.feed

        def feed(event: Event) -> None:
            match event:
                case PartStarted(kind=PartKind.HOSTED):
                    pass
                case PartEnded(part=HostedItem(item)):
                    _note(item, ledger)
                case _:  # all that is an answer
                    emit(event)

        return Sink(feed, sink.delta)

    return stage


def _note(item: dict[str, Any], ledger: Ledger) -> None:
    """Only items of known types become parts: their words can be told."""
    ledger.odd("hosted_left_out")
    ledger.warn(LEFT_OUT.format(kind=item["type"]))
