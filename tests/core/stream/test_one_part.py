"""What stands between parts, or is one by itself: messages one after another, hosted tools, and calls that are over.

Every reply here ends under the eyes of `read_events`, which checks the promises that no single test names.
"""

from typing import Any

from proxy.core.events import (
    CallDelta,
    CallEndDelta,
    CallHead,
    EndDelta,
    Ending,
    HostedDelta,
    MessageDelta,
    PartEnded,
    PartKind,
    PartStarted,
    ReasoningDelta,
    RefusalDelta,
    ReplyEnded,
    ReplyStarted,
    TextDelta,
)
from proxy.core.model import Call, HostedItem, Refusal, Text, ToolKind, ToolName
from tests.support.assembling import LENGTH, STOP, PartDelta, assemble
from tests.support.tables import table

LINK = {"type": "url_citation", "url": "https://x.example"}
SEARCH = {"type": "web_search_call", "id": "ws_1"}
PATCH = ToolName("apply_patch")


def parts(*deltas: Any) -> list[Any]:
    return [ended.part for ended in assemble(*deltas).parts]


# ── messages ──


def test_messages_are_parts_of_their_own_with_phases_and_annotations() -> None:
    assert assemble(
        MessageDelta(phase="commentary"),
        TextDelta("I look."),
        MessageDelta([LINK]),
        MessageDelta(phase="final_answer"),
        TextDelta("It"),
        TextDelta("!"),
        MessageDelta([LINK]),
        STOP,
    ).events == [
        ReplyStarted(),
        PartStarted(PartKind.TEXT, phase="commentary"),
        PartDelta("I look."),
        PartEnded(Text("I look.", annotations=[LINK], phase="commentary"), complete=True),
        PartStarted(PartKind.TEXT, phase="final_answer"),
        PartDelta("It"),
        PartDelta("!"),
        PartEnded(Text("It!", annotations=[LINK], phase="final_answer"), complete=True),
        ReplyEnded(Ending.COMPLETED),
    ]


def test_a_message_without_text_is_none() -> None:
    found = assemble(MessageDelta(), MessageDelta([LINK]), TextDelta("A"), MessageDelta(), STOP)
    assert [ended.part for ended in found.parts] == [Text("A")]
    assert found.odd == {"annotations_misplaced": 1}


def test_a_refusal_has_no_phase() -> None:
    assert parts(MessageDelta(phase="x"), RefusalDelta("No."), STOP) == [Refusal("No.")]


# ── hosted tools ──


def test_what_a_hosted_tool_did_is_a_part_by_itself() -> None:
    assert assemble(TextDelta("A"), HostedDelta(SEARCH), TextDelta("B"), STOP).events == [
        ReplyStarted(),
        PartStarted(PartKind.TEXT),
        PartDelta("A"),
        PartEnded(Text("A"), complete=True),
        PartStarted(PartKind.HOSTED, wordless=True),
        PartEnded(HostedItem(SEARCH), complete=True),
        PartStarted(PartKind.TEXT),
        PartDelta("B"),
        PartEnded(Text("B"), complete=True),
        ReplyEnded(Ending.COMPLETED),
    ]


def test_a_reply_of_nothing_else_is_one() -> None:
    """An agent's server may ask whether it may do something."""
    assert assemble(ReasoningDelta("Hm"), HostedDelta(SEARCH), STOP).ended.ending is Ending.COMPLETED


def test_all_wait_behind_a_call_that_is_not_whole() -> None:
    found = parts(
        CallDelta(0, "c1", "get_time", '{"a"'),
        MessageDelta(phase="x"),
        TextDelta("A"),
        MessageDelta([LINK]),
        HostedDelta(SEARCH),
        CallDelta(0, arguments=":1}"),
        TextDelta("B"),
        STOP,
    )
    assert found == [
        Call("c1", ToolName("get_time"), ToolKind.FUNCTION, '{"a":1}'),
        Text("A", annotations=[LINK], phase="x"),
        HostedItem(SEARCH),
        Text("B"),
    ]


# ── calls that are said to be over ──


def test_a_call_without_arguments_holds_nothing_up() -> None:
    found = assemble(CallDelta(0, "c1", "get_time"), TextDelta("A"), CallEndDelta(0), close=False)
    assert [type(event) for event in found.events[-2:]] == [PartStarted, PartDelta]
    assert found.parts[0].part == Call("c1", ToolName("get_time"), ToolKind.FUNCTION, "{}")


@table(
    ("deltas", "ended"),
    [
        ([CallEndDelta(0), EndDelta()], Ending.COMPLETED),
        ([EndDelta()], Ending.FAILED),
        ([CallEndDelta(7), EndDelta()], Ending.FAILED),
    ],
)
def test_the_end_mark_proves_a_success_where_all_calls_are_over(deltas: list[Any], ended: Ending) -> None:
    assert assemble(CallDelta(0, "c1", "get_time", "no object"), *deltas).ended.ending is ended


# ── what the client's own tool takes ──


def freeform(arguments: str = "") -> CallDelta:
    return CallDelta(0, "c1", "apply_patch", arguments, freeform=True)


def test_the_input_of_a_custom_tool_is_passed_on_as_it_comes() -> None:
    """Even what resembles the arguments of a function, or comes twice."""
    for words in ("*** Begin", '{"input":"x"}', "```\nx\n```", "{}"):
        found = assemble(
            freeform(), CallDelta(0, arguments=words), CallDelta(0, arguments=words), CallEndDelta(0), STOP
        )
        assert [ended.part for ended in found.parts] == [Call("c1", PATCH, ToolKind.CUSTOM, words * 2)]
        assert found.odd == {}


def test_it_streams() -> None:
    assert assemble(
        freeform(), CallDelta(0, arguments="*** "), CallDelta(0, arguments="Begin"), STOP
    ).events == [
        ReplyStarted(),
        PartStarted(PartKind.CALL, CallHead("c1", PATCH, ToolKind.CUSTOM)),
        PartDelta("*** "),
        PartDelta("Begin"),
        PartEnded(Call("c1", PATCH, ToolKind.CUSTOM, "*** Begin"), complete=True),
        ReplyEnded(Ending.COMPLETED),
    ]


@table(
    ("deltas", "complete"),
    [([LENGTH], False), ([CallEndDelta(0), LENGTH], True), ([STOP], True)],
)
def test_it_is_whole_when_that_is_said(deltas: list[Any], complete: bool) -> None:
    (ended,) = assemble(freeform("*** Begin"), *deltas).parts
    assert ended.complete is complete


def test_a_function_that_is_called_like_a_custom_tool() -> None:
    """The backend is wrong, and the client is told what there is."""
    found = assemble(CallDelta(0, "c1", "get_time", "now", freeform=True), CallEndDelta(0), STOP)
    assert [ended.part for ended in found.parts] == [
        Call("c1", ToolName("get_time"), ToolKind.FUNCTION, "now")
    ]
    assert found.odd == {"malformed_arguments": 1}
