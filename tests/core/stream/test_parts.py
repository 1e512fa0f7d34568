"""Prose while it grows; F51: which call a fragment belongs to, and what is known of one call while it is received."""

from itertools import product

import pytest

from proxy.core.events import CallDelta, PartKind
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Refusal, ReplyPart, Text
from proxy.core.stream.lifecycle import CALL_MOVES, BrokenOrder, CallPhase
from proxy.core.stream.parts import TEXT, Calls, CallState, Leading, OpenProse
from tests.support.tables import table

# ── prose ──


@table(
    ("kind", "part"),
    [(PartKind.TEXT, Text("ab")), (PartKind.REASONING, Reasoning("ab")), (PartKind.REFUSAL, Refusal("ab"))],
    ids=lambda value: getattr(value, "value", ""),
)
def test_its_pieces_become_one_part_of_its_kind(kind: PartKind, part: ReplyPart) -> None:
    assert OpenProse(kind, ["a", "b"]).part() == part


def test_log_probabilities_belong_to_a_text_if_there_are_any() -> None:
    assert OpenProse(PartKind.TEXT, ["a"], [1]).part() == Text("a", [1])
    assert OpenProse(PartKind.TEXT, ["a"]).part() == Text("a", None)


def test_two_parts_share_no_pieces() -> None:
    OpenProse(PartKind.TEXT).pieces.append("a")
    assert OpenProse(PartKind.TEXT).part() == Text("")


def test_v24_long_white_space_is_read_in_linear_time() -> None:
    leading = Leading(Ledger())
    for _ in range(100_000):
        assert leading.grow(TEXT, "\n", None) is None
    opened = leading.grow(TEXT, "Hi", None)
    assert opened is not None
    assert opened.so_far() == ("\n" * 100_000 + "Hi", None)
    leading.drop()
    assert leading.grow(TEXT, "a", None) is not opened


# ── one call ──


@table("phase", list(CallPhase))
def test_whether_the_end_was_told_is_read_off_the_phase(phase: CallPhase) -> None:
    assert CallState(0, phase=phase).end_emitted is (phase is CallPhase.ENDED)


@table(("before", "next_"), list(product(CallPhase, CallPhase)))
def test_a_call_moves_along_its_table_only(before: CallPhase, next_: CallPhase) -> None:
    call = CallState(0, name="f", phase=before)
    if next_ in CALL_MOVES[before]:
        call.move(next_)
        assert call.phase is next_
    else:
        with pytest.raises(BrokenOrder, match=f"call 'f' from {before.value} to {next_.value}"):
            call.move(next_)
        assert call.phase is before


@table(
    ("said", "name"),
    [
        pytest.param(["get_weather"], "get_weather", id="whole"),
        pytest.param(["get_weather", "get_weather"], "get_weather", id="repeated"),
        pytest.param(["get", "_wea", "ther"], "get_weather", id="in fragments"),
        pytest.param(["get", "get_wea", "get_weather"], "get_weather", id="growing"),
        pytest.param(["get_", "get_weather", "get_weather"], "get_weather", id="growing, then repeated"),
    ],
)
def test_f51_no_name_is_doubled_and_no_fragment_lost(said: list[str], name: str) -> None:
    call = CallState(0)
    for sight in said:
        call.learn_name(sight)
    assert call.name == name


@table(
    ("pieces", "whole"),
    [
        ([], False),
        (["{}"], True),
        (['{"a":1}'], True),
        (['{"a":', "1}"], True),
        (['{"a":{"b":1}', "}"], True),
        (['{"a":1}\n'], True),
        (['{"a":1}', "\n"], True),
        (['{"a":1}', " ", "\t\n"], True),
        (["\n", "{}"], True),
        (['{"a":1'], False),
        (['{"a":{"b":1}'], False),
        (['{"a":"}'], False),
        (['{"a":"}', '"'], False),
        (['{"a":"}', '"}'], True),
        (["{}", "{}"], False),
        (["}"], False),
        (["[1]"], False),
        (['"a"'], False),
        (["null"], False),
        (["\n"], False),
    ],
)
def test_arguments_are_whole_when_they_are_one_json_object(pieces: list[str], whole: bool) -> None:
    assert CallState(0, arguments=pieces).is_whole() is whole
    assert CallState(0, pending_args=pieces).is_whole() is whole


@table("pieces", [['{"a":"}', '"}'], ['{"a":{', "}", "}"], ["{}", " ", "{}"], ['{"a":1}', "\n", " "]])
def test_looking_early_and_often_does_not_change_the_answer(pieces: list[str]) -> None:
    call = CallState(0)
    for piece in pieces:
        call.arguments.append(piece)
        assert call.is_whole() == call.is_whole() == CallState(0, arguments=list(call.arguments)).is_whole()


# ── which call ──


def find(*deltas: CallDelta, identity: str = "id") -> list[int]:
    """The number of the call that each fragment was given to, in order of appearance."""
    calls = Calls(identity)
    found = []
    for delta in deltas:
        call = calls.find(delta)
        if delta.name and call.phase is CallPhase.WAITING:
            call.learn_name(delta.name)
        if delta.arguments:
            call.pending_args.append(delta.arguments)
        found.append(calls.all.index(call))
    return found


def said(
    index: int | None = None, id: str | None = None, name: str | None = None, arguments: str = ""
) -> CallDelta:
    return CallDelta(index, id, name, arguments)


@table(
    ("deltas", "calls"),
    [
        pytest.param(
            [
                said(0, "a", "f"),
                said(0, None, None, "{"),
                said(1, "b", "g"),
                said(1, None, None, "{"),
                said(0, None, None, "}"),
            ],
            [0, 0, 1, 1, 0],
            id="by index, as OpenAI does it",
        ),
        pytest.param(
            [said(1, "a", "f"), said(1, None, None, "{}"), said(2, "b", "f")],
            [0, 0, 1],
            id="indexes from one",
        ),
        pytest.param(
            [said(7, "a", "f"), said(3, "b", "f"), said(7, None, None, "{}")], [0, 1, 0], id="any indexes"
        ),
        pytest.param(
            [said(0, "a", "f"), said(0, "b", "f"), said(0, "a", None, "{"), said(0, "b", None, "{")],
            [0, 1, 0, 1],
            id="the id comes before the index",
        ),
        pytest.param(
            [said(0, "a", "f"), said(0, "b", "g"), said(0, None, None, "{}")],
            [0, 1, 1],
            id="at a used index an unknown id with a name is a new call, and the newest there",
        ),
        pytest.param(
            [said(0, "a", "f"), said(0, "b", None, "{"), said(0, "c", None, "}")],
            [0, 0, 0],
            id="an unknown id without a name continues the call at that index",
        ),
        pytest.param(
            [said(0, "a", "f"), said(0, "b", None, "{"), said(1, "c", "g"), said(0, "b", None, "}")],
            [0, 0, 1, 0],
            id="and is known from then on",
        ),
        pytest.param(
            [said(0, "a", "f", "{"), said(0, "a", "f", "}"), said(0, "a", "f")],
            [0, 0, 0],
            id="everything repeated in each chunk",
        ),
        pytest.param([said(None, "a", "f"), said(None, None, None, "{}")], [0, 0], id="no index: the latest"),
        pytest.param(
            [
                said(None, "a", "f"),
                said(None, "b", "g"),
                said(None, "a", None, "{}"),
                said(None, None, None, "{}"),
            ],
            [0, 1, 0, 1],
            id="no index: by id, else the latest that began",
        ),
        pytest.param(
            [said(None, None, None, "{"), said(None, None, None, "}")], [0, 0], id="nothing but arguments"
        ),
        pytest.param(
            [said(None, None, None, "{}"), said(0, "a", "f")], [0, 1], id="an index that nobody has"
        ),
        pytest.param([said(0, None, None, "{}"), said(0, "a", "f")], [0, 0], id="the name late, with its id"),
        pytest.param(
            [said(0, "a", None, "{}"), said(0, None, "f")], [0, 0], id="the name late, without an id"
        ),
        pytest.param([said(0, None, "ge"), said(0, None, "t")], [0, 0], id="the name in fragments"),
        pytest.param(
            [said(0, None, "f", '{"a":1}'), said(0, None, "g", '{"a":2}')],
            [0, 1],
            id="no ids: another name is another call",
        ),
        pytest.param(
            [said(0, None, "f", '{"a":1}'), said(0, None, "f", '{"a":2}')],
            [0, 1],
            id="no ids: the name again with arguments, after whole ones, is another call",
        ),
        pytest.param(
            [said(0, None, "f", '{"a"'), said(0, None, "f", ":1}"), said(0, None, "f")],
            [0, 0, 0],
            id="no ids: the name again within the arguments is a repetition",
        ),
        pytest.param(
            [said(None, None, "f", "{}"), said(None, None, "g", "{}"), said(None, None, "g", "{}")],
            [0, 1, 2],
            id="neither ids nor indexes",
        ),
        pytest.param(
            [said(0, "same", "f", '{"a":1}'), said(1, "same", "f", '{"a":2}')],
            [0, 1],
            id="F51 index, then id: one id for two calls that have indexes and names of their own",
        ),
        pytest.param(
            [
                said(0, "same", "f"),
                said(1, "same", "g"),
                said(0, "same", None, "{}"),
                said(1, "same", None, "{}"),
                said(2, "same", None, "{}"),
            ],
            [0, 1, 0, 1, 1],
            id="F51 and all their fragments, by index as long as there is a call",
        ),
        pytest.param(
            [said(0, None, "f", '{"a"'), said(0, None, "g"), said(0, None, None, "{}")],
            [0, 1, 1],
            id="no ids: another name is another call although arguments are missing",
        ),
    ],
)
def test_f51_the_call_of_a_fragment(deltas: list[CallDelta], calls: list[int]) -> None:
    assert find(*deltas) == calls


def test_by_index_alone_when_the_profile_says_so() -> None:
    """A name and another id in each chunk cannot be told apart by rule: a datum of the profile."""
    deltas = [said(0, "a", "f", "{"), said(0, "b", "f", "}"), said(1, "c", "f"), said(None, "d", None, "{}")]
    assert find(*deltas, identity="index") == [0, 0, 1, 1]
    assert find(*deltas, identity="id") == [0, 1, 2, 2]


def test_by_index_alone_the_first_fragment_needs_no_index() -> None:
    assert find(said(None, "a", "f"), said(None, "b", "f"), identity="index") == [0, 0]


@table("phase", [CallPhase.ENDED, CallPhase.DROPPED])
@table("index", [0, None])
def test_a_name_after_the_end_is_a_new_call(phase: CallPhase, index: int | None) -> None:
    calls = Calls("id")
    first = calls.find(said(index, None, "f"))
    first.name, first.phase = "f", phase
    assert calls.find(said(index, None, "f", "{}")) is not first


@table("phase", [CallPhase.ENDED, CallPhase.DROPPED])
def test_an_unknown_id_after_the_end_is_a_new_call_whose_name_may_still_come(phase: CallPhase) -> None:
    """Nothing can continue a call that is over: taken for a fragment of it, the whole new call would be lost."""
    calls = Calls("id")
    first = calls.find(said(0, "a", "f", "{}"))
    first.name, first.phase = "f", phase
    second = calls.find(said(0, "b", None, '{"x":1}'))
    assert second is not first
    assert calls.find(said(0, "b", "g")) is second


def test_the_first_id_stays() -> None:
    calls = Calls("id")
    call = calls.find(said(0, None, "f"))
    assert call.id is None
    for id in ("a", "b"):
        calls.find(said(0, id))
    assert call.id == "a"


# ── all calls ──


@table(
    ("call", "whole"),
    [
        (CallState(0, name="f", arguments=["{}"], phase=CallPhase.OPEN), True),
        (CallState(0, name="f", arguments=["{"], phase=CallPhase.OPEN), False),
        (CallState(0, name="f", phase=CallPhase.OPEN), False),
        (CallState(0, name="f", pending_args=["{}"]), True),
        (CallState(0, name="f", pending_args=["{"]), False),
        (CallState(0, name="f", phase=CallPhase.ENDED), True),
        (CallState(0, name="f", pending_args=["{"], phase=CallPhase.DROPPED), True),
    ],
)
def test_all_calls_are_whole_when_none_lacks_anything(call: CallState, whole: bool) -> None:
    calls = Calls("id")
    assert calls.all_whole()
    calls.all += [CallState(1, name="g", arguments=["{}"], phase=CallPhase.OPEN), call]
    assert calls.all_whole() is whole


@table(
    ("told", "text", "repeats"),
    [
        (['{"a":', "1}"], '{"a":1}', True),
        (['{"a":1}'], ' {"a":1}\n', True),
        (['{"a":1}'], '{"a":2}', False),
        (['{"a":'], '{"a":', False),
        ([], "{}", False),
    ],
)
def test_only_whole_arguments_can_be_repeated(told: list[str], text: str, repeats: bool) -> None:
    """F53: inside of an object the same piece may well come twice."""
    assert CallState(0, name="f", arguments=told, phase=CallPhase.OPEN).repeats(text) is repeats
