"""What only the backend understands goes with its reasoning, and is never lost in between."""

from proxy.core.errors import Truncated
from proxy.core.events import (
    CallHead,
    Ending,
    Event,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Call, Extras, Reasoning, Text, ToolKind, ToolName
from proxy.core.stream.stages.reasoning_extras import ReasoningExtras
from tests.support.assembling import PartDelta, Told, into, read_events, recorder

THOUGHT = [PartStarted(PartKind.REASONING), PartDelta("Hm."), PartEnded(Reasoning("Hm."), True)]
ANSWER = [PartStarted(PartKind.TEXT), PartDelta("Yes."), PartEnded(Text("Yes."), True)]
CALL = Call("a", ToolName("f"), ToolKind.FUNCTION, "{}")
CALLED = [
    PartStarted(PartKind.CALL, CallHead("a", CALL.tool, CALL.kind)),
    PartDelta("{}"),
    PartEnded(CALL, True),
]
END = ReplyEnded(Ending.COMPLETED)


def proofs(*details: int) -> Extras:
    return {"chat": {"reasoning_details": list(details)}}


def thoughts(*said: Event | int) -> list[Reasoning]:
    """The reasoning of a reply in which the numbers are kept as they come."""
    extras = ReasoningExtras()
    events: list[Told] = []
    feed = into(extras.stage(recorder(events)))
    for one in (ReplyStarted(), *said):
        if isinstance(one, int):
            extras.add(proofs(one))
        else:
            feed(one)
    read_events(events)
    return [
        event.part for event in events if isinstance(event, PartEnded) and isinstance(event.part, Reasoning)
    ]


def test_those_of_what_is_left_out_go_with_it() -> None:
    extras = ReasoningExtras()
    events: list[Told] = []
    feed = into(extras.stage(recorder(events)))
    extras.add(proofs(1))
    extras.discard()
    for event in (ReplyStarted(), *ANSWER, END):
        feed(event)
    assert events == [ReplyStarted(), *ANSWER, END]


def test_without_any_the_events_pass_as_they_are() -> None:
    assert thoughts(*THOUGHT, *ANSWER, END) == [Reasoning("Hm.")]


def test_those_of_a_stream_become_one_list_in_their_order() -> None:
    started, delta, ended = THOUGHT
    assert thoughts(1, started, 2, delta, 3, ended, *ANSWER, END) == [Reasoning("Hm.", proofs(1, 2, 3))]


def test_those_that_come_when_the_words_are_over_have_reasoning_of_their_own() -> None:
    """OpenRouter sends a model's signature beside the call that it belongs to."""
    assert thoughts(*THOUGHT, *ANSWER, 1, *CALLED, END) == [Reasoning("Hm."), Reasoning("", proofs(1))]


def test_those_before_the_first_word_of_an_answer_have_reasoning_of_their_own() -> None:
    assert thoughts(1, *ANSWER, END) == [Reasoning("", proofs(1))]


def test_those_that_come_last_come_before_the_end() -> None:
    assert thoughts(*ANSWER, 1, 2, END) == [Reasoning("", proofs(1, 2))]


def test_those_within_an_answer_wait_for_its_end() -> None:
    started, delta, ended = ANSWER
    assert thoughts(started, 1, delta, ended, END) == [Reasoning("", proofs(1))]


def test_a_reply_that_failed_is_not_gone_on_with() -> None:
    assert thoughts(*ANSWER, 1, ReplyEnded(Ending.FAILED, fault=Truncated("Gone."))) == []


def test_attack_12_what_came_in_pieces_is_joined_once_where_it_is_kept() -> None:
    extras = ReasoningExtras()
    events: list[Told] = []
    feed = into(extras.stage(recorder(events)))
    piece = {"type": "reasoning.text", "text": "a"}
    for _ in range(3):
        extras.add({"chat": {"reasoning_details": [piece]}})
    for event in (ReplyStarted(), *THOUGHT):
        feed(event)
    assert events[-1] == PartEnded(
        Reasoning("Hm.", {"chat": {"reasoning_details": [piece | {"text": "aaa"}]}}), True
    )
