"""Events that no server should send: the decoder never raises, and the reply always has one ending."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.events import ReplyEnded
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from tests.properties.examples import examples
from tests.scripted.anthropic import body, stream
from tests.scripted.say import Say, SayCall
from tests.support.assembling import Told, recorder
from tests.support.replies import pipeline_for

SAY = Say(
    thinking="Hm.", signature="U0lH", text="Both.", calls=[SayCall("a", "f", {"x": 1}), SayCall("b", "g", {})]
)
EVENTS = [jsontext.loads(frame.partition(b"data: ")[2]) for frame in stream(SAY)]
junk = st.sampled_from([None, True, -1, 1e300, "", "text", [], [[]], {}, {"type": "tool_use"}, {"type": []}])


@st.composite
def spoilt(draw: st.DrawFn, value: Any) -> Any:
    """The value with something else, or nothing, in one of its places."""
    if not isinstance(value, dict) or not value or draw(st.integers(0, 3)) == 0:
        return draw(junk)
    name = draw(st.sampled_from(sorted(value)))
    if draw(st.booleans()):
        return {key: inner for key, inner in value.items() if key != name}
    return value | {name: draw(spoilt(value[name]))}


@st.composite
def streams(draw: st.DrawFn) -> list[Any]:
    events = list(EVENTS)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(events) - 1))
        match draw(st.sampled_from(["spoil", "lose", "repeat", "swap"])):
            case "spoil":
                events[place] = draw(spoilt(events[place]))
            case "lose":
                events = events[:place] + events[place + 1 :] or [None]
            case "repeat":
                events.insert(place, events[place])
            case _:
                events[place], events[0] = events[0], events[place]
    return events


def ending(data: bytes) -> ReplyEnded:
    out: list[Told] = []
    pipeline = pipeline_for(Request("m", []), PROFILES["anthropic"], recorder(out), Ledger())
    pipeline.feed(data)
    pipeline.close()
    (ended,) = [event for event in out if isinstance(event, ReplyEnded)]
    assert out[-1] is ended
    return ended


@examples(200)
@given(streams())
def test_any_stream_has_one_ending(events: list[Any]) -> None:
    ending(b"".join(b"data: " + jsontext.dumps(event) + b"\n\n" for event in events))


@given(spoilt(body(SAY)))
def test_any_body_has_one_ending(said: Any) -> None:
    ending(jsontext.dumps(said) or b"{}")
