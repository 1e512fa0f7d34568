"""Chains and conversations, joined."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.stored.conversation import Entry
from proxy.core.stored.histories import entries_of, history_of, history_of_conversation, joined
from proxy.core.stored.record import Record, Status
from tests.support.tables import table


def message(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "message", "status": "completed", "content": []} | more


def call(id: str, status: str = "completed") -> dict[str, Any]:
    return {"id": id, "type": "function_call", "status": status, "call_id": f"call_{id}", "arguments": "{"}


def record(input: list[Any], output: list[Any], status: Status = Status.COMPLETED) -> Record:
    return Record(
        "resp_1", status, created=1, model="m", input=jsontext.dumps(input), output=jsontext.dumps(output)
    )


def ids_in(history: bytes) -> list[str]:
    return [item["id"] for item in jsontext.strict(history)]


FIRST = record([message("a"), message("b")], [message("c")])
SECOND = record([], [call("d"), call("e")])
THIRD = record([message("f")], [])


@table(
    ("chain", "ids"),
    [
        ([FIRST], ["a", "b", "c"]),
        ([FIRST, SECOND, THIRD], ["a", "b", "c", "d", "e", "f"]),
        ([record([], [])], []),
    ],
)
def test_t04_a_history_is_all_items_in_their_order(chain: list[Record], ids: list[str]) -> None:
    ledger = Ledger()
    assert ids_in(history_of(chain, ledger)) == ids
    assert not ledger.warnings
    assert not ledger.dropped


def test_nothing_is_read_that_has_nothing_cut_in_it() -> None:
    """The bytes are passed on as they lie."""
    odd = replace(FIRST, output=b'[{"id": 1.10}]')
    assert b'{"id": 1.10}' in history_of([odd], Ledger())


def test_t09_cut_text_stays_and_a_cut_call_is_left_out_and_counted() -> None:
    cut = record(
        [message("a")],
        [message("b", status="incomplete"), call("c"), call("d", "incomplete")],
        Status.INCOMPLETE,
    )
    ledger = Ledger()
    assert ids_in(history_of([cut, THIRD], ledger)) == ["a", "b", "c", "f"]
    assert ledger.dropped == {"half_call": 1}


@table("status", [Status.FAILED, Status.CANCELLED])
def test_t10_a_chain_goes_on_after_an_end_without_an_answer_with_a_warning(status: Status) -> None:
    broken = replace(FIRST, status=status)
    ledger = Ledger()
    assert ids_in(history_of([broken], ledger)) == ["a", "b", "c"]
    [warning] = ledger.warnings
    assert status in warning
    ledger = Ledger()
    assert ids_in(history_of([broken, THIRD], ledger)) == ["a", "b", "c", "f"]
    assert not ledger.warnings  # who continued it was told


@table("status", [Status.FAILED, Status.CANCELLED])
def test_t10_of_an_answer_that_broke_off_only_finished_items_go_on(status: Status) -> None:
    """Wherever in the chain it is."""
    said = [message("b"), call("c"), message("d", status="incomplete"), call("e", "incomplete")]
    broken = record([message("a")], said, status)
    for chain, ids in (([broken], ["a", "b", "c"]), ([broken, THIRD], ["a", "b", "c", "f"])):
        ledger = Ledger()
        assert ids_in(history_of(chain, ledger)) == ids
        assert ledger.dropped == {"half_call": 1}


def test_a_conversation_is_all_its_items() -> None:
    entries = [Entry(at, id, jsontext.dumps(message(id))) for at, id in ((3, "a"), (9, "b"))]
    assert ids_in(history_of_conversation(entries)) == ["a", "b"]
    assert history_of_conversation([]) == b"[]"


@table(
    ("status", "ids"),
    [
        (Status.COMPLETED, ["a", "b", "c"]),
        (Status.INCOMPLETE, ["a", "b", "c"]),
        (Status.FAILED, []),
        (Status.CANCELLED, []),
    ],
)
def test_t79_a_conversation_gets_whole_items_of_a_turn_that_went_well(status: Status, ids: list[str]) -> None:
    items = [message("b", status="incomplete"), call("c"), call("d", "incomplete")]
    assert entries_of(record([message("a")], items, status)) == ids


def test_t79_a_clients_own_items_are_kept_whatever_their_status_says() -> None:
    """A call that its client has answered, and an output that it broke off: without one, the other is no pair."""
    output = {"id": "f", "type": "function_call_output", "call_id": "call_e", "status": "incomplete"}
    own = record([call("e", "incomplete"), output], [message("g")])
    assert entries_of(own) == ids_in(history_of([own], Ledger())) == ["e", "f", "g"]


@given(st.lists(st.lists(st.sampled_from([{}, {"a": "]"}, ["["], 1]), max_size=3), max_size=5))
def test_lists_are_joined_whatever_is_in_them(lists: list[list[Any]]) -> None:
    assert jsontext.strict(joined(map(jsontext.dumps, lists))) == [item for items in lists for item in items]
