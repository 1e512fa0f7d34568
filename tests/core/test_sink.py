"""The two ways of a reply: its events, and the text between them."""

from proxy.core.events import Event, ReplyStarted
from proxy.core.sink import Sink, ignore_delta


def test_text_goes_its_own_way_past_whoever_has_no_use_for_it() -> None:
    events: list[Event] = []
    texts: list[str] = []
    sink = Sink(events.append, lambda text, logprobs: texts.append(text))
    sink.feed(ReplyStarted())
    sink.delta("Hi", None)
    assert (events, texts) == ([ReplyStarted()], ["Hi"])


def test_who_wants_whole_parts_leaves_their_text_unheard() -> None:
    events: list[Event] = []
    sink = Sink(events.append, ignore_delta)
    sink.delta("Hi", [{"token": "Hi"}])
    assert not events
