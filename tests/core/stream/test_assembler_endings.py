"""A reply ends once, by what proves that it is whole, and a failure leaves nothing open.

Every reply here ends under the eyes of `read_events`.
"""

import pytest

from proxy.core.errors import BackendFault, Empty, Overloaded, Truncated
from proxy.core.events import (
    Delta,
    EndDelta,
    Ending,
    ErrorDelta,
    ReasoningDelta,
    RefusalDelta,
    ReplyEnded,
    ReplyStarted,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Reasoning, Text, Usage
from proxy.core.stream.lifecycle import ReplyPhase
from tests.support.assembling import (
    FILTER,
    LENGTH,
    STOP,
    assemble,
    call,
    cut,
    done,
    says,
)
from tests.support.tables import table

END = EndDelta()

USAGE = Usage(10, 5, 15)


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


def test_after_the_end_every_delta_but_the_end_mark_is_counted_and_ignored() -> None:
    late = [
        TextDelta("y"),
        says(0, "a", "get_time", "{}"),
        UsageDelta(USAGE),
        STOP,
        ErrorDelta(Overloaded("no")),
    ]
    reply = assemble(TextDelta("x"), STOP, END, *late, END)
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
    assert "delta_after_end" not in reply.odd, "vLLM and others send the end mark after an error, too"


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
