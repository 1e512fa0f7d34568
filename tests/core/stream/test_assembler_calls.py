"""Calls leave whole and one after another, however late, split, repeated or interleaved their pieces come.

Every reply here ends under the eyes of `read_events`.
"""

import pytest

from proxy.core.errors import Empty
from proxy.core.events import (
    CallHead,
    Delta,
    EndDelta,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Call, Text, ToolKind, ToolName, Usage
from proxy.core.stream.client_call_ids import MAX_CALL_ID
from proxy.core.tools.names import NameTable
from tests.support.assembling import (
    LENGTH,
    STOP,
    TOOLS,
    PartDelta,
    assemble,
    call,
    done,
    says,
)
from tests.support.tables import table

END = EndDelta()

USAGE = Usage(10, 5, 15)


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


def test_r09_a_call_of_an_undeclared_tool_is_passed_on_and_counted() -> None:
    reply = assemble(says(0, "a", "no_such", "{}"), says(1, "b", "get_time", "{}"), STOP)
    assert reply.parts == done(call("a", "no_such", "{}"), call("b", "get_time", "{}"))
    assert reply.odd == {"call_undeclared": 1}


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
