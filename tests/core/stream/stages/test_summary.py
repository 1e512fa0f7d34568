"""Of a reply to a request for a summary, nothing is left but the whole summary."""

from proxy.core.errors import Truncated
from proxy.core.events import (
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Reasoning, Refusal, Summary, Text, Usage
from proxy.core.stream.stages.summary import as_summary
from tests.support.assembling import PartDelta, Told, into, recorder
from tests.support.tables import table

THOUGHT = [PartStarted(PartKind.REASONING), PartDelta("Hm."), PartEnded(Reasoning("Hm."), True)]
SAID = [PartStarted(PartKind.TEXT), PartDelta("We met."), PartEnded(Text("We met."), True)]
REFUSED = [PartStarted(PartKind.REFUSAL), PartDelta("No."), PartEnded(Refusal("No."), True)]
END = ReplyEnded(Ending.COMPLETED, Usage(1, 2, 3))


def told(*events: Told) -> list[Told]:
    out: list[Told] = []
    feed = into(as_summary(recorder(out)))
    for event in (ReplyStarted(), *events):
        feed(event)
    assert out[0] == ReplyStarted()
    return out[1:]


@table(
    ("events", "summary"),
    [
        (SAID, "We met."),
        ([*THOUGHT, *SAID], "We met."),
        ([*SAID, *THOUGHT, *SAID], "We met.\n\nWe met."),
        (REFUSED, "No."),
    ],
)
def test_what_was_said_is_one_part_at_the_end(events: list[Told], summary: str) -> None:
    assert told(*events, END) == [
        PartStarted(PartKind.SUMMARY, wordless=True),
        PartEnded(Summary(summary), True),
        END,
    ]


@table(
    "end",
    [ReplyEnded(Ending.MAX_TOKENS), ReplyEnded(Ending.FAILED, fault=Truncated("Gone."))],
)
def test_half_a_summary_is_none(end: ReplyEnded) -> None:
    assert told(*SAID, end) == [end]
