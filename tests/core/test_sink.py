"""The two ways of a reply: its events, and the text between them."""

from proxy.core.events import Event, ReplyStarted
from proxy.core.sink import Outlet, unheard


def test_text_goes_its_own_way_past_whoever_has_no_use_for_it() -> None:
    events: list[Event] = []
    texts: list[str] = []
    outlet = Outlet(events.append, lambda text, logprobs: texts.append(text))
    outlet.feed(ReplyStarted())
    outlet.delta("Hi", None)
    assert (events, texts) == ([ReplyStarted()], ["Hi"])


def test_who_wants_whole_parts_leaves_their_text_unheard() -> None:
    events: list[Event] = []
    outlet = Outlet(events.append, unheard)
    outlet.delta("Hi", [{"token": "Hi"}])
    assert not events
