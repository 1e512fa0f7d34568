"""A stage for requests that want a summary instead of an answer: what the model says becomes one part, at the end."""

from proxy.core.events import Ending, Event, PartEnded, PartKind, PartStarted, ReplyEnded, ReplyStarted
from proxy.core.model import Refusal, Summary, Text
from proxy.core.sink import Sink, ignore_delta


def as_summary(sink: Sink) -> Sink:
    """Makes the stage. Only a whole summary counts: of a reply that was cut, it passes only the ending on."""
    texts: list[str] = []
    emit = sink.feed

    def feed(event: Event) -> None:
        match event:
            case PartEnded(Text() | Refusal() as part):
                texts.append(part.text)
            case ReplyEnded(Ending.COMPLETED):
                emit(PartStarted(PartKind.SUMMARY, wordless=True))
                emit(PartEnded(Summary("\n\n".join(texts)), complete=True))
                emit(event)
            case ReplyStarted() | ReplyEnded():
                emit(event)
            case _:  # the way to it
                pass

    return Sink(feed, ignore_delta)
