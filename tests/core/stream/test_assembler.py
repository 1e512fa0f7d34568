"""The machine's contract: whatever order deltas come in, events leave in the order that was promised.

Every reply here ends under the eyes of `read_events`, which checks the promises that no single test names.
"""

from collections.abc import Callable
from typing import Any

import pytest

from proxy.core.events import (
    Delta,
    EndDelta,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReasoningDelta,
    RefusalDelta,
    ReplyEnded,
    ReplyStarted,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Refusal, Text, Usage
from proxy.core.stream.assembler import MAX_LATE, Assembler
from proxy.core.stream.client_call_ids import ClientCallIds
from proxy.core.stream.lifecycle import BrokenOrder, ReplyPhase
from proxy.core.tools.names import NameTable
from tests.support.assembling import (
    LENGTH,
    STOP,
    PartDelta,
    assemble,
    call,
    done,
    recorder,
    says,
)
from tests.support.replies import counting_mint
from tests.support.tables import table

END = EndDelta()

USAGE = Usage(10, 5, 15)


# ── prose ──


def test_a_text_is_one_part() -> None:
    assert assemble(TextDelta("Hel"), TextDelta("lo"), STOP, END).events == [
        ReplyStarted(),
        PartStarted(PartKind.TEXT),
        PartDelta("Hel"),
        PartDelta("lo"),
        PartEnded(Text("Hello"), complete=True),
        ReplyEnded(Ending.COMPLETED),
    ]


def test_each_change_of_kind_ends_one_part_and_starts_another() -> None:
    deltas = [
        ReasoningDelta("a"),
        TextDelta("b"),
        TextDelta("c"),
        RefusalDelta("d"),
        TextDelta("e"),
        ReasoningDelta("f"),
    ]
    assert assemble(*deltas, STOP, END).parts == done(
        Reasoning("a"), Text("bc"), Refusal("d"), Text("e"), Reasoning("f")
    )


@table("kind", [TextDelta, ReasoningDelta, RefusalDelta])
def test_f48_nothing_is_said_of_an_empty_delta(kind: Callable[[str], Delta]) -> None:
    reply = assemble(kind(""), TextDelta("a"), kind(""), TextDelta("b"), STOP, END)
    assert reply.parts == done(Text("ab"))
    assert not assemble(kind(""), close=False).assembler.begun


def test_v24_white_space_waits_for_the_first_visible_character() -> None:
    """V36, F48: then it is told, to the byte; and what comes after that, at once."""
    deltas = TextDelta("\n", [1]), TextDelta(" "), TextDelta("Hi", [2]), TextDelta("\n"), TextDelta(" ")
    assert assemble(*deltas, STOP, END).events == [
        ReplyStarted(),
        PartStarted(PartKind.TEXT),
        PartDelta("\n Hi", [1, 2]),
        PartDelta("\n"),
        PartDelta(" "),
        PartEnded(Text("\n Hi\n ", [1, 2]), complete=True),
        ReplyEnded(Ending.COMPLETED),
    ]


@table("kind", [TextDelta, ReasoningDelta, RefusalDelta])
def test_v24_white_space_alone_is_left_out_and_counted(kind: Callable[[str], Delta]) -> None:
    calls = says(0, "a", "get_time", "{}"), says(1, "b", "get_time", "{}")
    made = done(call("a", "get_time"), call("b", "get_time"))
    for deltas in ([kind("\n"), *calls], [calls[0], kind("\n"), kind(" "), calls[1]], [*calls, kind("\n")]):
        reply = assemble(*deltas, STOP, END)
        assert (reply.parts, reply.odd) == (made, {"blank_prose": 1})
        assert assemble(*deltas, LENGTH, END).odd == {"blank_prose": 1}
    assert not assemble(kind("\n"), close=False).assembler.begun


def test_v24_white_space_within_the_arguments_goes_too() -> None:
    reply = assemble(says(0, "a", "get_time", "{"), TextDelta("\n"), says(0, arguments="}"), STOP, END)
    assert (reply.parts, reply.odd) == (done(call("a", "get_time")), {"blank_prose": 1})


def test_v24_white_space_of_another_kind_is_no_beginning() -> None:
    reply = assemble(ReasoningDelta("\n"), TextDelta("\n"), TextDelta("Hi"), STOP, END)
    assert (reply.parts, reply.odd) == (done(Text("\nHi")), {"blank_prose": 1})


def test_v24_a_reply_of_white_space_alone_is_none() -> None:
    for deltas in ([TextDelta(" \n"), STOP, END], [TextDelta(" \n"), END], [TextDelta(" \n")]):
        reply = assemble(*deltas)
        assert (reply.parts, reply.ended.ending) == ([], Ending.FAILED)
        assert reply.odd == {"blank_prose": 1}


def test_log_probabilities_stay_with_their_delta_and_gather_in_the_part() -> None:
    reply = assemble(TextDelta("a", [1]), TextDelta("b"), TextDelta("c", [2, 3]), STOP, END)
    assert reply.events[2:6] == [
        PartDelta("a", [1]),
        PartDelta("b"),
        PartDelta("c", [2, 3]),
        PartEnded(Text("abc", [1, 2, 3]), complete=True),
    ]


def test_a_text_without_log_probabilities_has_none() -> None:
    assert assemble(TextDelta("a", []), STOP, END).parts == done(Text("a", None))


# ── one part at a time ──


def test_a_call_ends_the_text_before_it() -> None:
    reply = assemble(TextDelta("Let me see."), says(0, "call_1", "get_time", "{}"), STOP, END)
    assert reply.parts == done(Text("Let me see."), call("call_1", "get_time"))


def test_a_text_after_a_whole_call_opens_a_new_part() -> None:
    reply = assemble(
        TextDelta("a"), says(0, "call_1", "get_time", "{}"), TextDelta("b"), TextDelta("c"), STOP, END
    )
    assert reply.parts == done(Text("a"), call("call_1", "get_time"), Text("bc"))


@table(
    ("delta", "part"),
    [(TextDelta("x"), Text("x")), (ReasoningDelta("x"), Reasoning("x")), (RefusalDelta("x"), Refusal("x"))],
    ids=["text", "reasoning", "refusal"],
)
def test_prose_within_the_arguments_follows_them(delta: Delta, part: Any) -> None:
    reply = assemble(says(0, "call_1", "get_time", '{"a"'), delta, says(0, arguments=":1}"), STOP, END)
    assert reply.parts == done(call("call_1", "get_time", '{"a":1}'), part)


def test_what_was_held_back_follows_as_soon_as_the_call_is_whole() -> None:
    reply = assemble(
        says(0, "call_1", "get_time", '{"a"'), TextDelta("x"), says(0, arguments=":1}"), close=False
    )
    assert reply.events[-3:] == [
        PartEnded(call("call_1", "get_time", '{"a":1}'), complete=True),
        PartStarted(PartKind.TEXT),
        PartDelta("x"),
    ]


def test_prose_that_was_held_back_keeps_its_order_and_its_log_probabilities() -> None:
    reply = assemble(
        says(0, "call_1", "get_time", "{"),
        TextDelta("a", [1]),
        TextDelta("b"),
        ReasoningDelta("c"),
        TextDelta("d"),
        says(0, arguments="}"),
        TextDelta("e"),
        STOP,
        END,
    )
    assert reply.parts == done(call("call_1", "get_time"), Text("ab", [1]), Reasoning("c"), Text("de"))


# ── what others may know ──


def test_it_has_begun_when_a_part_has_started() -> None:
    for delta in (TextDelta("x"), ReasoningDelta("x"), RefusalDelta("x"), says(0, "a", "get_time")):
        assert assemble(delta, close=False).assembler.begun
    for delta in (UsageDelta(USAGE), STOP, TextDelta(""), says(0, "a", None, "{}")):
        assert not assemble(delta, close=False).assembler.begun


def test_it_has_ended_with_its_last_event_and_not_with_the_finish() -> None:
    assert assemble(TextDelta("x"), STOP, close=False).assembler.phase is not ReplyPhase.ENDED
    assert assemble(TextDelta("x"), STOP, END, close=False).assembler.phase is ReplyPhase.ENDED


def test_what_came_too_late_in_an_earlier_attempt_is_not_held_against_this_one() -> None:
    reply = assemble(TextDelta("x"), STOP)
    for _ in range(MAX_LATE):
        reply.ledger.odd("delta_after_end")
    reply.assembler.feed(TextDelta("late"))
    assert reply.odd == {"delta_after_end": MAX_LATE + 1}


def test_breaking_the_order_is_our_bug_and_raises() -> None:
    assembler = Assembler(
        recorder([]), NameTable(), ClientCallIds(counting_mint(), set, always_ours=False), Ledger()
    )
    with pytest.raises(BrokenOrder):
        assembler.feed(TextDelta("x"))
    assembler.start()
    with pytest.raises(BrokenOrder):
        assembler.start()


class Diary:
    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def debug(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))

    info = debug


def test_r11_the_log_tells_the_story_of_a_call() -> None:
    diary = Diary()
    deltas = [
        says(0, "a", None, '{"a"'),
        says(0, "a", None, ":"),
        says(0, None, "get_time"),
        says(0, arguments="1}"),
    ]
    assemble(*deltas, STOP, END, log=diary)
    assert diary.lines == [
        ("call_arguments_buffered", {"index": 0, "bytes": 4}),
        ("call_arguments_buffered", {"index": 0, "bytes": 1}),
        ("call_started", {"name": "get_time", "index": 0}),
        ("call_arguments_replayed", {"name": "get_time", "bytes": 5}),
        ("call_complete", {"name": "get_time", "bytes": 7, "complete": True}),
    ]


def test_r11_arguments_of_a_call_that_waits_for_its_turn_are_no_news() -> None:
    diary = Diary()
    deltas = [
        says(0, "a", "get_time", "{"),
        says(1, "b", "get_time"),
        says(1, arguments="{}"),
        says(0, arguments="}"),
    ]
    assemble(*deltas, STOP, END, log=diary)
    assert "call_arguments_buffered" not in dict(diary.lines)
    assert "call_arguments_replayed" not in dict(diary.lines)


def test_r11_only_what_was_buffered_is_replayed() -> None:
    """Not what came with the name, or after it."""
    diary = Diary()
    early = [says(0, "a", None, '{"a"'), says(0, None, "get_time", ":1}")]
    assemble(*early, says(1, "b", "get_time", "{}"), STOP, END, log=diary)
    sizes = [(event, fields["bytes"]) for event, fields in diary.lines if "_arguments_" in event]
    assert sizes == [("call_arguments_buffered", 4), ("call_arguments_replayed", 4)]
