"""The machine's contract: whatever order deltas come in, events leave in the order that was promised.

Every reply here ends under the eyes of `read_events`, which checks the promises that no single test names.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from proxy.core.errors import BackendFault, Empty, Garbled, Overloaded, Truncated
from proxy.core.events import (
    CallDelta,
    CallHead,
    Delta,
    EndDelta,
    Ending,
    ErrorDelta,
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
from proxy.core.model import Call, Reasoning, Refusal, Text, ToolKind, ToolName, Usage
from proxy.core.stream.assembler import MAX_CALLS, MAX_LATE, Assembler
from proxy.core.stream.client_call_ids import MAX_CALL_ID, ClientCallIds
from proxy.core.stream.lifecycle import BrokenOrder, ReplyPhase
from proxy.core.tools.names import NameTable
from tests.support.assembling import (
    FILTER,
    LENGTH,
    STOP,
    TOOLS,
    PartDelta,
    assemble,
    call,
    cut,
    done,
    recorder,
)
from tests.support.replies import counting_mint
from tests.support.tables import table

END = EndDelta()
USAGE = Usage(10, 5, 15)


def says(index: int | None, id: str | None = None, name: str | None = None, arguments: str = "") -> CallDelta:
    return CallDelta(index, id, name, arguments)


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


# ── a call ──


def test_a_call_begins_with_its_name_and_ends_with_the_stream() -> None:
    deltas = [says(0, "call_1", "get_weather"), says(0, arguments='{"city":'), says(0, arguments='"Rome"}')]
    assert assemble(*deltas, STOP, END).events == [
        ReplyStarted(),
        PartStarted(PartKind.CALL, CallHead("call_1", ToolName("get_weather"), ToolKind.FUNCTION)),
        PartDelta('{"city":'),
        PartDelta('"Rome"}'),
        PartEnded(call("call_1", "get_weather", '{"city":"Rome"}'), complete=True),
        ReplyEnded(Ending.COMPLETED),
    ]


def test_r07_arguments_before_the_name_leave_as_the_first_delta() -> None:
    deltas = [
        says(0, "call_1", arguments='{"a"'),
        says(0, arguments=":1"),
        says(0, name="get_weather"),
        says(0, arguments="}"),
    ]
    assert assemble(*deltas, STOP, END).events[1:4] == [
        PartStarted(PartKind.CALL, CallHead("call_1", ToolName("get_weather"), ToolKind.FUNCTION)),
        PartDelta('{"a":1'),
        PartDelta("}"),
    ]


def test_a_declared_name_opens_at_once() -> None:
    assert assemble(says(0, "call_1", "get_weather"), close=False).assembler.begun


@table("name", ["exec", "get_", "unheard_of"])
def test_a_name_that_may_be_a_fragment_waits_for_the_first_argument(name: str) -> None:
    assert not assemble(says(0, "call_1", name), close=False).assembler.begun
    reply = assemble(says(0, "call_1", name), says(0, arguments="{}"), close=False)
    assert reply.events[1] == PartStarted(
        PartKind.CALL, CallHead("call_1", ToolName(name), ToolKind.FUNCTION)
    )


@table("pieces", [("get_", "wea", "ther"), ("get", "get_weather"), ("get_weather", "get_weather")])
def test_f51_a_name_in_fragments_is_one_name(pieces: tuple[str, ...]) -> None:
    deltas = [says(0, "call_1" if number == 0 else None, piece) for number, piece in enumerate(pieces)]
    reply = assemble(*deltas, says(0, arguments="{}"), STOP, END)
    assert reply.parts == done(call("call_1", "get_weather"))


def test_f51_a_fragment_that_is_a_declared_name_waits_for_the_rest() -> None:
    reply = assemble(says(0, "call_1", "exec"), says(0, None, "_command"), says(0, arguments="{}"), STOP, END)
    assert reply.parts == done(call("call_1", "exec_command"))


@table("name", ["exec", "unheard_of"])
def test_a_name_without_arguments_is_settled_by_the_end(name: str) -> None:
    assert assemble(says(0, "call_1", name), STOP, END).parts == done(call("call_1", name, "{}"))


def test_f53_no_arguments_are_an_empty_object_and_still_a_delta() -> None:
    assert assemble(says(0, "call_1", "get_time"), STOP, END).events[2:4] == [
        PartDelta("{}"),
        PartEnded(call("call_1", "get_time", "{}"), complete=True),
    ]


def test_f51_a_missing_id_is_made_up_once() -> None:
    reply = assemble(says(0, None, "get_time"), says(0, arguments="{"), says(0, arguments="}"), STOP, END)
    [ended] = reply.parts
    assert isinstance(ended.part, Call)
    assert ended.part.call_id == f"call_{1:032x}"


def test_the_longest_id_that_clients_may_send_back_is_kept() -> None:
    long = "x" * MAX_CALL_ID
    assert assemble(says(0, long, "get_time"), STOP, END).parts == done(call(long, "get_time"))


@table("id", ["x" * (MAX_CALL_ID + 1), "a\nb", "a\x00", "\ud83d", "call_taken"])
def test_an_id_that_clients_cannot_use_is_replaced(id: str) -> None:
    reply = assemble(says(0, id, "get_time"), says(0, id, None, "{}"), STOP, END, taken_ids={"call_taken"})
    assert reply.parts == done(call(f"call_{1:032x}", "get_time"))


@table("before", [[], [says(1, "b", "get_weather", "{")]], ids=["open", "queued"])
def test_a_name_that_comes_after_the_name_is_settled_changes_nothing(before: list[Delta]) -> None:
    reply = assemble(*before, says(0, "a", "get_time", "{"), says(0, "a", "_zone", "}"), STOP, END)
    assert reply.parts[-1:] == done(call("a", "get_time"))


def test_an_id_that_comes_after_the_call_has_opened_is_too_late() -> None:
    """Clients have seen the one that was made up."""
    reply = assemble(says(0, None, "get_time"), says(0, "late", None, "{}"), STOP, END)
    assert reply.parts == done(call(f"call_{1:032x}", "get_time"))


def test_the_clients_own_name_is_restored() -> None:
    reply = assemble(says(0, "call_1", "mcp__docs__search", "{}"), STOP, END)
    assert reply.parts == done(call("call_1", "search", "{}", namespace="mcp__docs"))


def test_a_custom_call_gets_its_input_unwrapped_in_one_delta() -> None:
    deltas = [says(0, "call_1", "apply_patch", '{"input":"*** '), says(0, arguments='Begin"}')]
    assert assemble(*deltas, STOP, END).events[1:4] == [
        PartStarted(PartKind.CALL, CallHead("call_1", ToolName("apply_patch"), ToolKind.CUSTOM)),
        PartDelta("*** Begin"),
        PartEnded(call("call_1", "apply_patch", "*** Begin", ToolKind.CUSTOM), complete=True),
    ]


@table("arguments", ["", '{"input":""}'])
def test_a_custom_call_may_have_no_input(arguments: str) -> None:
    reply = assemble(says(0, "call_1", "apply_patch", arguments), STOP, END)
    assert reply.parts == done(call("call_1", "apply_patch", "", ToolKind.CUSTOM))


@table("arguments", ["", '{"input":"*** Beg'])
def test_a_custom_call_that_was_cut_is_incomplete(arguments: str) -> None:
    reply = assemble(says(0, "call_1", "apply_patch", arguments), LENGTH, END)
    assert [(type(ended.part), ended.complete) for ended in reply.parts] == [(Call, False)]


@table("arguments", ['{"a":', "nonsense", "[1]", '{"a":1}{"a":1}'])
def test_r09_f54_broken_arguments_of_a_finished_call_are_passed_on_and_counted(arguments: str) -> None:
    reply = assemble(says(0, "call_1", "get_weather", arguments), STOP, END)
    assert reply.parts == done(call("call_1", "get_weather", arguments))
    assert reply.ended.ending is Ending.COMPLETED
    assert reply.odd == {"malformed_arguments": 1}


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


# ── several calls ──


def test_f52_parallel_calls_come_one_after_another() -> None:
    deltas = [
        says(0, "a", "get_time", "{}"),
        says(1, "b", "get_weather", "{}"),
        says(2, "c", "get_time", "{}"),
    ]
    assert assemble(*deltas, STOP, END).parts == done(
        call("a", "get_time"), call("b", "get_weather"), call("c", "get_time")
    )


def test_f52_interleaved_calls_are_told_apart_and_put_in_order() -> None:
    deltas = [
        says(0, "a", "get_weather"),
        says(1, "b", "get_time"),
        says(0, arguments='{"city":'),
        says(2, "c", "exec_command", '{"cmd":'),
        says(1, arguments='{"zone":'),
        says(0, arguments='"Rome"}'),
        says(2, arguments='"ls"}'),
        says(1, arguments='"UTC"}'),
    ]
    assert assemble(*deltas, STOP, END).parts == done(
        call("a", "get_weather", '{"city":"Rome"}'),
        call("b", "get_time", '{"zone":"UTC"}'),
        call("c", "exec_command", '{"cmd":"ls"}'),
    )


def test_f52_text_between_interleaved_calls_keeps_its_place() -> None:
    deltas = [
        says(0, "a", "get_weather", "{"),
        TextDelta("x"),
        says(1, "b", "get_time", "{"),
        TextDelta("y"),
        says(0, arguments="}"),
        TextDelta("z"),
        says(1, arguments="}"),
    ]
    assert assemble(*deltas, STOP, END).parts == done(
        call("a", "get_weather"), Text("x"), call("b", "get_time"), Text("yz")
    )


def test_a_whole_call_ends_when_the_next_one_starts() -> None:
    reply = assemble(says(0, "a", "get_time", "{}"), says(1, "b", "get_weather"), close=False)
    assert reply.parts == done(call("a", "get_time"))


def test_a_call_never_ends_merely_because_its_json_parses() -> None:
    assert assemble(says(0, "a", "get_time", '{"a":1}'), UsageDelta(USAGE), close=False).parts == []


HOLDING_UP = [
    pytest.param([says(0, "a", "get_time")], [], id="open"),
    pytest.param([says(0, "a")], [says(0, None, "get_time")], id="waiting for its name"),
    pytest.param([says(0, "a", "exec_")], [says(0, None, "command")], id="waiting for the rest of its name"),
    pytest.param(
        [says(1, "b", "get_weather", "{"), says(0, "a", "get_time")], [says(1, None, None, "}")], id="queued"
    ),
]


@table(("before", "after"), HOLDING_UP)
@table(
    ("pieces", "arguments"),
    [
        (["{}", '{"zone":', "1}"], '{"zone":1}'),
        (["{}", "\n", '{"zone":1}'], '{"zone":1}'),
        (["{}"], "{}"),
        (["{}", "\n"], "{}\n"),
        (["{", "}"], "{}"),
        (["{}", "{}"], "{}"),
        (['{"a":1}', '{"zone":1}'], '{"a":1}{"zone":1}'),
        (["", "{}", ""], "{}"),
    ],
)
def test_an_empty_object_before_the_real_arguments_is_a_placeholder(
    before: list[Delta], after: list[Delta], pieces: list[str], arguments: str
) -> None:
    """Some backends send `{}` first: the same wherever the call stands when it comes."""
    reply = assemble(*before, *(says(0, "a", None, piece) for piece in pieces), *after, STOP, END)
    [text] = [
        ended.part.arguments
        for ended in reply.parts
        if isinstance(ended.part, Call) and ended.part.call_id == "a"
    ]
    assert text == arguments


def test_arguments_that_come_twice_are_told_once_and_counted() -> None:
    """F53: a second object behind the first would make both unreadable."""
    once = says(0, "a", "get_time", '{"x":1}')
    reply = assemble(once, once, STOP, END)
    assert reply.parts == done(call("a", "get_time", '{"x":1}'))
    assert reply.odd == {"arguments_repeated": 1}


def test_a_placeholder_that_was_left_out_is_counted() -> None:
    reply = assemble(says(0, "a", "get_time", "{}"), says(0, arguments='{"zone":1}'), STOP, END)
    assert reply.parts == done(call("a", "get_time", '{"zone":1}'))
    assert reply.odd == {"placeholder_arguments": 1}


def test_an_empty_object_that_stays_alone_is_the_arguments() -> None:
    for rest in (
        [STOP, END],
        [TextDelta("x"), STOP, END],
        [says(1, "b", "get_time"), STOP, END],
        [END],
        [LENGTH, END],
    ):
        reply = assemble(says(0, "a", "get_time", "{}"), *rest)
        assert reply.parts[0] == PartEnded(call("a", "get_time", "{}"), complete=True)


def test_the_next_call_waits_while_arguments_are_missing() -> None:
    reply = assemble(says(0, "a", "get_time", "{"), says(1, "b", "get_weather", "{}"), close=False)
    assert [event for event in reply.events if isinstance(event, PartStarted)] == [
        PartStarted(PartKind.CALL, CallHead("a", ToolName("get_time"), ToolKind.FUNCTION))
    ]


def test_a_call_that_waits_is_not_queued_twice() -> None:
    deltas = [
        says(0, "a", "get_time", "{"),
        says(1, "b", "get_weather"),
        says(1, "b", "get_weather", "{"),
        says(1, arguments="}"),
    ]
    assert assemble(*deltas, STOP, END).parts == done(call("a", "get_time", "{"), call("b", "get_weather"))


def test_white_space_after_the_arguments_leaves_them_whole() -> None:
    reply = assemble(
        says(0, "a", "get_time", "{}"), says(0, arguments="\n"), says(1, "b", "get_weather"), close=False
    )
    assert reply.parts == done(call("a", "get_time", "{}\n"))


def test_broken_arguments_hold_up_what_follows_only_until_the_finish() -> None:
    deltas = [says(0, "a", "get_time", "{"), TextDelta("x"), says(1, "b", "get_time", "["), TextDelta("y")]
    assert assemble(*deltas, STOP, END).parts == done(
        call("a", "get_time", "{"), Text("x"), call("b", "get_time", "["), Text("y")
    )


def test_f51_backends_that_say_index_zero_for_every_call() -> None:
    deltas = [says(0, "a", "get_time", "{}"), says(0, "b", "get_time"), says(0, arguments='{"zone":1}')]
    assert assemble(*deltas, STOP, END).parts == done(
        call("a", "get_time"), call("b", "get_time", '{"zone":1}')
    )


def test_f51_backends_that_say_another_id_in_each_chunk() -> None:
    deltas = [says(0, "a", "get_time"), says(0, "b", None, "{"), says(0, "c", None, "}")]
    assert assemble(*deltas, STOP, END).parts == done(call("a", "get_time"))


def test_f51_backends_that_repeat_the_name_and_change_the_id_are_a_matter_of_the_profile() -> None:
    deltas = [says(0, "a", "get_time", "{"), says(0, "b", "get_time", "}")]
    assert assemble(*deltas, STOP, END, identity="index").parts == done(call("a", "get_time"))


def test_f51_one_id_for_two_calls_is_given_to_the_first() -> None:
    deltas = [says(0, "same", "get_time", "{}"), says(1, "same", "get_weather", "{}")]
    assert assemble(*deltas, STOP, END).parts == done(
        call("same", "get_time"), call(f"call_{1:032x}", "get_weather")
    )


def test_a_call_at_a_used_index_whose_name_comes_late_is_not_lost() -> None:
    deltas = [
        says(0, "a", "get_time", "{}"),
        TextDelta("x"),
        says(0, "b", None, '{"city":'),
        says(0, "b", "get_weather"),
        says(0, arguments="1}"),
    ]
    assert assemble(*deltas, STOP, END).parts == done(
        call("a", "get_time"), Text("x"), call("b", "get_weather", '{"city":1}')
    )


def test_arguments_for_a_call_that_is_over_are_counted() -> None:
    reply = assemble(says(0, "a", "get_time", "{}"), TextDelta("x"), says(0, arguments="{}"), STOP, END)
    assert reply.parts == done(call("a", "get_time"), Text("x"))
    assert reply.odd == {"arguments_after_call": 1}


# ── calls that never open ──


@table("ending", [STOP, LENGTH], ids=["stop", "length"])
def test_a_call_without_a_name_is_dropped_and_counted(ending: Delta) -> None:
    reply = assemble(TextDelta("x"), says(0, "a", None, "{}"), ending, END)
    assert [ended.part for ended in reply.parts] == [Text("x")]
    assert reply.odd == {"call_dropped_nameless": 1}


def test_a_call_without_a_name_and_nothing_else_is_never_an_empty_success() -> None:
    reply = assemble(says(0, "a", None, "{}"), STOP, END)
    assert isinstance(reply.ended.fault, Empty)


NO_WEATHER = NameTable(TOOLS, only=[ToolName("get_time")])


def test_a_call_that_the_client_forbade_is_dropped_and_counted() -> None:
    reply = assemble(
        TextDelta("x"), says(0, "a", "get_weather", "{"), says(0, arguments="}"), STOP, END, names=NO_WEATHER
    )
    assert reply.parts == done(Text("x"))
    assert reply.odd == {"call_dropped_forbidden": 1, "arguments_after_call": 1}


def test_a_forbidden_call_holds_nothing_up() -> None:
    deltas = [says(0, "a", "get_weather", "{"), says(1, "b", "get_time", "{}"), TextDelta("x")]
    assert assemble(*deltas, STOP, END, names=NO_WEATHER).parts == done(call("b", "get_time"), Text("x"))


def test_nothing_but_forbidden_calls_is_never_an_empty_success() -> None:
    reply = assemble(says(0, "a", "get_weather", "{}"), STOP, END, names=NO_WEATHER)
    assert isinstance(reply.ended.fault, Empty)


# ── the ending ──


def test_f43_usage_after_the_finish_is_waited_for() -> None:
    reply = assemble(TextDelta("x"), STOP, UsageDelta(USAGE), END)
    assert reply.ended == ReplyEnded(Ending.COMPLETED, USAGE)


def test_f44_the_last_usage_wins() -> None:
    reply = assemble(UsageDelta(Usage(1, 1, 2)), TextDelta("x"), UsageDelta(USAGE), STOP, END)
    assert reply.ended.usage == USAGE


def test_f45_what_comes_after_the_finish_is_still_delivered() -> None:
    reply = assemble(TextDelta("x"), STOP, TextDelta("y"), says(0, "a", "get_time", "{}"), END)
    assert reply.parts == done(Text("xy"), call("a", "get_time"))


def test_f45_a_reply_that_was_cut_is_not_complete_after_that() -> None:
    reply = assemble(TextDelta("x"), LENGTH, STOP, END)
    assert reply.ended.ending is Ending.MAX_TOKENS
    assert reply.odd == {"finish_repeated": 1}


def test_f45_a_reply_that_was_complete_may_prove_to_be_cut() -> None:
    reply = assemble(TextDelta("x"), STOP, TextDelta("y"), LENGTH, END)
    assert reply.ended.ending is Ending.MAX_TOKENS


def test_f40_a_finish_is_proof_without_an_end_mark() -> None:
    assert assemble(TextDelta("x"), STOP).ended == ReplyEnded(Ending.COMPLETED)


@table(
    "deltas",
    [
        pytest.param([TextDelta("x")], id="text"),
        pytest.param([RefusalDelta("x")], id="refusal"),
        pytest.param([says(0, "a", "get_time", "{}")], id="a whole call"),
        pytest.param(
            [says(0, "a", "get_time", '{"a":1}'), says(0, arguments="\n")], id="white space after it"
        ),
        pytest.param([says(0, "a", "get_time", "{}"), TextDelta("x")], id="an ended call"),
    ],
)
def test_f41_an_end_mark_is_proof_when_all_is_whole(deltas: list[Delta]) -> None:
    reply = assemble(*deltas, END)
    assert reply.ended == ReplyEnded(Ending.COMPLETED)
    assert all(ended.complete for ended in reply.parts)
    assert reply.odd == {"finish_missing": 1}


@table(
    ("deltas", "fault"),
    [
        pytest.param([], Truncated, id="nothing"),
        pytest.param([UsageDelta(USAGE)], Truncated, id="usage"),
        pytest.param([says(0, "a", "get_time", "{")], Truncated, id="half a call"),
        pytest.param([says(0, "a", "get_time")], Truncated, id="a call without arguments"),
        pytest.param([TextDelta("x"), says(0, "a", None, "{")], Truncated, id="half a nameless call"),
        pytest.param([ReasoningDelta("x")], Empty, id="reasoning"),
    ],
)
def test_f41_an_end_mark_alone_proves_nothing(deltas: list[Delta], fault: type[BackendFault]) -> None:
    assert type(assemble(*deltas, END).ended.fault) is fault


@table("deltas", [[], [TextDelta("x")], [TextDelta("x"), STOP]], ids=["nothing", "text", "finished"])
def test_an_end_mark_ends_the_reply_at_once(deltas: list[Delta]) -> None:
    """The connection may stay open for minutes after it."""
    assert assemble(*deltas, END, close=False).assembler.phase is ReplyPhase.ENDED


def test_f39_an_end_of_the_bytes_is_no_proof_of_anything() -> None:
    reply = assemble(ReasoningDelta("x"), TextDelta("y"))
    assert reply.parts == [*done(Reasoning("x")), *cut(Text("y"))]
    assert isinstance(reply.ended.fault, Truncated)


def test_f39_a_call_that_was_whole_is_not_proved_either() -> None:
    assert assemble(says(0, "a", "get_time", "{}")).parts == cut(call("a", "get_time"))


@table("deltas", [[], [UsageDelta(USAGE)]], ids=["nothing", "usage"])
def test_a_finish_without_anything_is_never_a_success(deltas: list[Delta]) -> None:
    reply = assemble(*deltas, STOP, END)
    assert isinstance(reply.ended.fault, Empty)


def test_v21_thoughts_alone_are_a_success_that_says_what_is_missing() -> None:
    reply = assemble(ReasoningDelta("x"), TextDelta("\n"), STOP, UsageDelta(USAGE), END)
    assert (reply.parts, reply.ended) == (done(Reasoning("x")), ReplyEnded(Ending.COMPLETED, USAGE))
    assert reply.odd == {"blank_prose": 1, "no_answer": 1}
    assert [warning.partition(":")[0] for warning in reply.ledger.warnings] == ["no_answer"]


@table(
    "deltas",
    [
        [ReasoningDelta("x"), END],  # the model has not said that it finished
        [ReasoningDelta("x"), says(0, "a", None, "{}"), STOP, END],  # it said more than is passed on
    ],
)
def test_v21_thoughts_alone_are_a_failure_where_more_was_meant(deltas: list[Delta]) -> None:
    assert isinstance(assemble(*deltas).ended.fault, BackendFault)


@table(
    ("finish", "ending"), [(LENGTH, Ending.MAX_TOKENS), (FILTER, Ending.FILTERED)], ids=["length", "filter"]
)
class TestF56CutByTheModel:
    def test_a_text_is_incomplete(self, finish: Delta, ending: Ending) -> None:
        reply = assemble(TextDelta("x"), finish, UsageDelta(USAGE), END)
        assert reply.parts == cut(Text("x"))
        assert reply.ended == ReplyEnded(ending, USAGE)

    def test_f54_half_a_call_is_incomplete(self, finish: Delta, ending: Ending) -> None:
        reply = assemble(says(0, "a", "get_time", '{"a"'), finish, END)
        assert reply.parts == cut(call("a", "get_time", '{"a"'))
        assert reply.ended == ReplyEnded(ending)

    def test_a_whole_call_is_complete(self, finish: Delta, ending: Ending) -> None:
        reply = assemble(says(0, "a", "get_time", "{}"), finish, END)
        assert reply.parts == done(call("a", "get_time"))
        assert reply.ended == ReplyEnded(ending)

    def test_a_call_without_arguments_is_incomplete(self, finish: Delta, ending: Ending) -> None:
        reply = assemble(says(0, "a", "exec"), finish, END)
        assert reply.parts == cut(call("a", "exec", ""))
        assert reply.ended == ReplyEnded(ending)

    def test_nothing_at_all_is_no_fault(self, finish: Delta, ending: Ending) -> None:
        assert assemble(finish, END).events == [ReplyStarted(), ReplyEnded(ending)]

    def test_of_several_calls_only_the_last_is_incomplete(self, finish: Delta, ending: Ending) -> None:
        reply = assemble(says(0, "a", "get_time", "{}"), says(1, "b", "get_time", "{"), finish, END)
        assert reply.parts == [*done(call("a", "get_time")), *cut(call("b", "get_time", "{"))]

    def test_half_a_call_that_was_held_back_is_dropped_and_counted(
        self, finish: Delta, ending: Ending
    ) -> None:
        reply = assemble(says(0, "a", "get_time", "{"), says(1, "b", "get_time", "{"), finish, END)
        assert reply.parts == cut(call("a", "get_time", "{"))
        assert reply.odd == {"call_dropped_cut": 1}

    @table(
        "held",
        [
            [TextDelta("x")],
            [ReasoningDelta("x"), TextDelta("y")],
            [says(1, "b", "get_weather", "{}")],
            [TextDelta("x"), says(1, "b", "get_weather", "{}"), says(2, "c", "get_time", "{")],
        ],
        ids=["text", "prose", "a whole call", "all of it"],
    )
    def test_nothing_follows_a_call_that_was_cut_and_what_is_lost_is_counted(
        self, finish: Delta, ending: Ending, held: list[Delta]
    ) -> None:
        """An item that ends incomplete is the last one."""
        reply = assemble(says(0, "a", "get_time", "{"), *held, finish, END)
        assert reply.parts == cut(call("a", "get_time", "{"))
        assert reply.ended == ReplyEnded(ending)
        assert reply.odd


def test_after_the_end_every_delta_is_counted_and_ignored() -> None:
    late = [
        TextDelta("y"),
        says(0, "a", "get_time", "{}"),
        UsageDelta(USAGE),
        STOP,
        ErrorDelta(Overloaded("no")),
        END,
    ]
    reply = assemble(TextDelta("x"), STOP, END, *late)
    assert reply.parts == done(Text("x"))
    assert reply.odd == {"delta_after_end": len(late)}
    reply.assembler.close()
    assert reply.ended == ReplyEnded(Ending.COMPLETED)


# ── failures ──

FAULT = Overloaded("Busy.")


def test_f20_a_failure_ends_the_open_part_incomplete() -> None:
    reply = assemble(ReasoningDelta("x"), TextDelta("y"), UsageDelta(USAGE), ErrorDelta(FAULT), END)
    assert reply.parts == [*done(Reasoning("x")), *cut(Text("y"))]
    assert reply.ended == ReplyEnded(Ending.FAILED, USAGE, FAULT)


def test_a_failure_before_anything_was_said_leaves_nothing_but_itself() -> None:
    assert assemble(ErrorDelta(FAULT)).events == [ReplyStarted(), ReplyEnded(Ending.FAILED, None, FAULT)]


def test_a_failure_after_the_finish_is_still_a_failure() -> None:
    reply = assemble(TextDelta("x"), STOP, ErrorDelta(FAULT))
    assert reply.ended.fault is FAULT


def test_what_a_failure_leaves_unopened_is_dropped_and_counted() -> None:
    deltas = [
        says(0, "a", "get_time", "{"),
        TextDelta("x"),
        says(1, "b", "get_time", "{}"),
        says(2, "c", None, "{}"),
    ]
    reply = assemble(*deltas, ErrorDelta(FAULT))
    assert reply.parts == cut(call("a", "get_time", "{"))
    assert reply.odd == {"call_dropped_cut": 2, "text_cut": 1}


def test_a_second_failure_is_counted() -> None:
    reply = assemble(TextDelta("x"), ErrorDelta(FAULT), close=False)
    reply.assembler.fail(Truncated("Gone."))
    assert reply.ended.fault is FAULT
    assert reply.odd == {"fault_after_end": 1}


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


# ── E7, F32: what a hostile backend can cost ──


def work(deltas: list[Delta]) -> int:
    """Python functions entered, each parse counted once more for every character: what no machine's load can change."""
    spent = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal spent
        if event == "call":
            spent += 1
            if frame.f_code.co_name == "is_object":
                spent += len(frame.f_locals["text"])

    sys.setprofile(count)
    try:
        assemble(*deltas, STOP, END, close=False)
    finally:
        sys.setprofile(None)
    return spent


@table(
    "deltas",
    [
        pytest.param(lambda n: [TextDelta("x")] * n, id="text"),
        pytest.param(lambda n: [says(0, "a", "get_time"), *[says(0, arguments="x")] * n], id="arguments"),
        pytest.param(
            lambda n: [says(0, "a", "get_time", "{"), *[TextDelta("x"), ReasoningDelta("y")] * n],
            id="held prose",
        ),
        pytest.param(
            lambda n: [
                says(0, "a", "get_time", "{"),
                *[TextDelta("x"), ReasoningDelta("y")] * n,
                says(1, "b", "get_time"),
                *[says(1, arguments="x")] * n,
            ],
            id="arguments behind held prose",
        ),
        pytest.param(
            lambda n: [says(0, "a", "get_time", '{"x":"'), TextDelta("x"), *[says(0, arguments="}")] * n],
            id="arguments that seem whole at each fragment",
        ),
        pytest.param(
            lambda n: [says(0, "a", "get_time", "{}{"), TextDelta("x"), *[says(0, arguments="{}")] * n],
            id="objects that repeat",
        ),
        pytest.param(
            lambda n: [
                says(0, "a", "get_time", "{"),
                *(
                    delta
                    for i in range(1, n)
                    for delta in (TextDelta("x"), says(i, f"c{i}", "get_time", "{"))
                ),
            ],
            id="calls behind held prose",
        ),
    ],
)
def test_twice_as_much_costs_twice_as_much(deltas: Callable[[int], list[Delta]]) -> None:
    assert work(deltas(200)) < 2.5 * work(deltas(100))


def test_r7_a_reply_of_endless_calls_fails() -> None:
    """Each call costs memory until the reply ends, and a hostile backend knows no end."""
    calls = [says(index, f"c{index}", "get_time", "{}") for index in range(MAX_CALLS + 1)]
    reply = assemble(*calls, STOP, END)
    assert len(reply.parts) == MAX_CALLS
    assert reply.ended is not None
    assert isinstance(reply.ended.fault, Garbled)


def test_r7_a_name_that_does_not_end_is_taken_as_it_is() -> None:
    reply = assemble(*[says(0, "a" if not at else None, f"{at:09d}") for at in range(8)], STOP, END)
    (ended,) = reply.parts
    assert isinstance(ended.part, Call)
    assert len(ended.part.tool.name) == 72
