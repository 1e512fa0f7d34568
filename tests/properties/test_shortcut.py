"""Nobody can tell which way a delta took: an observer makes all take the long one, and the reply is the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.events import CallDelta, Delta, More, ReasoningDelta, TextDelta
from proxy.core.ledger import Ledger
from proxy.core.markup import registry
from proxy.core.markup.formats import Tools
from proxy.core.markup.openers import Openers
from proxy.core.markup.stage import MarkupSettings
from proxy.core.stream.pipeline import Pipeline
from proxy.core.tools.names import NameTable
from tests.properties.drawn_deltas import deltas
from tests.properties.examples import examples
from tests.support.assembling import TOOLS, PartDelta, Told, recorder
from tests.support.observers import Seen
from tests.support.replies import counting_mint

SEARCHED = MarkupSettings(
    Openers(registry.active()), Tools({"get_time": {"type": "object", "properties": {}}})
)

words = st.sampled_from(
    [
        *("Well", " so", " ", "\n\n", "a < b", "<", "`", "é😀"),
        *(
            "<think>",
            "</think>",
            "<tool_call>",
            "get_time",
            "</tool_call>",
            "<tool_call>get_time</tool_call>",
        ),
        *("<|start|>assistant<|channel|>final<|message|>", "<|end|>", "[TOOL_CALLS]", "get_time[ARGS]{}"),
    ]
)
fragments = st.sampled_from(["{", '"a":1', "}", "{}", " "])
runs = st.one_of(
    st.lists(st.builds(TextDelta, words), max_size=4),
    st.lists(st.builds(ReasoningDelta, words), max_size=4),
    st.lists(st.builds(CallDelta, st.just(0), arguments=fragments), max_size=4),
    st.lists(
        st.builds(CallDelta, st.integers(0, 1), st.sampled_from(["c", "d"]), st.just("get_time")), max_size=1
    ),
)
"""More of one kind: only from the second on can a delta take the short way."""
flows = st.lists(runs, max_size=8).map(lambda lists: [delta for run in lists for delta in run])


@dataclass
class Playing:
    """A decoder that says what it is given, by the short way where there is one for it."""

    said: Sequence[Delta]
    emit: Callable[[Delta], None]
    more: More | None

    def event(self, data: bytes, event: bytes) -> None:
        for delta in self.said:
            match delta:
                case TextDelta(text, None) if text and self.more:
                    self.more.text(text)
                case ReasoningDelta(text) if text and self.more:
                    self.more.reasoning(text)
                case CallDelta(index, None, None, text, False) if text and self.more:
                    self.more.arguments(index, text)
                case _:
                    self.emit(delta)

    def body(self, data: bytes) -> None:
        raise NotImplementedError


def told(
    said: Sequence[Delta], observer: Seen | None, markup: MarkupSettings | None, until: str | None
) -> tuple[str, dict[str, int]]:
    """All that the client is told and what was counted. Faults are equal only to themselves, so as text."""
    events: list[Told] = []
    ledger = Ledger()
    pipeline = Pipeline(
        lambda emit, more: Playing(said, emit, more),
        names=NameTable(TOOLS),
        mint=counting_mint(),
        ledger=ledger,
        sink=recorder(events),
        thoughts_until=until,
        markup=markup,
        observer=observer,
    )
    pipeline.feed(b"data: x\n\n")
    pipeline.close()
    pieces = [event for event in events if isinstance(event, PartDelta)]
    assert all(piece.text for piece in pieces)
    return repr((events, pipeline.reply)), dict(ledger.oddities)


@examples(600)
@given(st.one_of(flows, deltas), st.sampled_from([None, SEARCHED]), st.sampled_from([None, "", "</think>"]))
def test_the_short_way_leads_to_the_same_reply(
    said: list[Delta], markup: MarkupSettings | None, until: str | None
) -> None:
    assert told(said, None, markup, until) == told(said, Seen(), markup, until)
