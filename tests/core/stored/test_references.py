"""A request's own items: references replaced, nothing twice."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import NotFound
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning
from proxy.core.stored.private import KEPT, thought_in, with_thought
from proxy.core.stored.references import is_reference, referred, resolved
from tests.support.tables import table

HI = {"type": "message", "role": "user", "content": "Hi"}
STORED = HI | {"id": "msg_1"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}
AGAIN = CALL | {"id": "fc_2"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "18"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
FOUND = {
    "msg_1": jsontext.dumps(STORED),
    "fc_2": jsontext.dumps(AGAIN),
    "rs_1": jsontext.dumps(with_thought(THOUGHT, Reasoning("hidden"), "claude-4")),
}


def reference(id: str) -> dict[str, Any]:
    return {"type": "item_reference", "id": id}


@table(
    ("item", "refers"),
    [
        (reference("msg_1"), True),
        ({"id": "msg_1"}, True),
        ({"id": "msg_1", "type": None}, True),
        ({"id": "msg_1", "type": None, "status": None}, True),
        ({"id": ""}, True),
        (reference("x") | {"extra": 1}, True),
        ({"type": "item_reference"}, False),
        ({"type": "item_reference", "id": 7}, False),
        (STORED, False),
        ({"id": "msg_1", "content": "Hi"}, False),
        (HI, False),
        ("msg_1", False),
        (None, False),
    ],
)
def test_t28_what_is_a_reference(item: Any, refers: bool) -> None:
    assert is_reference(item) is refers


@table(
    ("items", "ids"),
    [
        (None, []),
        ("Hi", []),
        ([HI, CALL], []),
        ([reference("b"), HI, {"id": "a"}, reference("b")], ["b", "a"]),
        ([reference("known"), reference("a")], ["a"]),
    ],
)
def test_what_must_be_looked_up(items: Any, ids: list[str]) -> None:
    assert referred(items, {"known"}) == ids


@table(
    ("items", "history", "own", "left_out"),
    [
        ([], [], [], 0),
        ([HI, CALL], [], [HI, CALL], 0),
        ([HI, reference("msg_1")], [], [HI, STORED], 0),
        ([reference("msg_1")], [STORED], [], 1),
        ([reference("msg_1"), HI, {"id": "msg_1"}], [], [STORED, HI], 1),
        ([STORED, reference("msg_1")], [], [STORED], 1),
        ([STORED, CALL, HI], [CALL, STORED], [HI], 2),
        ([{"id": "msg_1", "role": "user", "content": "Other words"}], [STORED], [], 1),
        # A call and its output may have one id.
        (
            [{"type": "function_call_output", "id": "fc_1"}],
            [CALL],
            [{"type": "function_call_output", "id": "fc_1"}],
            0,
        ),
        # What is wrong in itself is refused by who reads it.
        (["Hi", {"id": 7}], [HI], ["Hi", {"id": 7}], 0),
        # An output that its client gives again, and the one that the call waits for.
        ([OUTPUT, HI], [CALL, OUTPUT | {"id": "fco_1"}], [HI], 1),
        ([OUTPUT], [CALL], [OUTPUT], 0),
        ([reference("fc_2"), OUTPUT], [CALL, OUTPUT], [AGAIN, OUTPUT], 0),
        # Behind its own call's output a prompt would be a new one.
        ([HI, OUTPUT], [HI, CALL], [OUTPUT], 1),
        # So it would with what the model has said, by its ids or without them.
        ([HI, reference("rs_1"), reference("fc_1"), OUTPUT], [HI, THOUGHT, CALL], [OUTPUT], 3),
        ([HI, THOUGHT, CALL, OUTPUT], [HI, THOUGHT, CALL], [OUTPUT], 3),
        ([HI, CALL | {"id": None}, OUTPUT], [HI, CALL], [OUTPUT], 2),
        ([HI, reference("fc_2"), OUTPUT], [HI, CALL], [HI, AGAIN, OUTPUT], 0),
        # In one input nothing is left out that was sent whole.
        ([STORED, STORED], [], [STORED, STORED], 0),
    ],
)
def test_t20_t31_nothing_is_there_twice(items: Any, history: Any, own: Any, left_out: int) -> None:
    ledger = Ledger()
    assert resolved(items, FOUND, history, "m", ledger).items == own
    assert ledger.dropped.get("item_twice", 0) == left_out
    assert len(ledger.warnings) == bool(left_out)


@table(
    ("count", "named"),
    [(1, "'a'"), (3, "'a', 'b', 'c'"), (4, "'a', 'b', 'c' and 1 more"), (26, "'a', 'b', 'c' and 23 more")],
)
def test_the_client_is_told_what_was_left_out_in_one_sentence(count: int, named: str) -> None:
    items = [HI | {"id": id} for id in "abcdefghijklmnopqrstuvwxyz"[:count]]
    ledger = Ledger()
    assert resolved(items, {}, items, "m", ledger) == ([], [])
    assert ledger.warnings == [f"Left out of the input, because the conversation has it already: {named}."]
    assert ledger.dropped == {"item_twice": count}


@table(("wrong",), [(5,), ("x",), ({"type": ["x"], "id": "msg_1"},), ({"type": {}, "id": 7},), ({"id": []},)])
def test_what_is_wrong_is_left_to_whoever_reads_it(wrong: Any) -> None:
    history = [STORED | {"id": "msg_0"}]
    own = resolved([reference("msg_1"), wrong], FOUND, history, "m", Ledger())
    assert own == ([STORED, wrong], [0, 1])


def test_whoever_refuses_an_item_can_say_where_its_client_has_it() -> None:
    """T20, T31: what was left out counts there."""
    items = [STORED, reference("msg_1"), HI, OUTPUT, reference("msg_9"), HI]
    own = resolved(items, FOUND | {"msg_9": FOUND["msg_1"]}, [STORED, CALL, OUTPUT], "m", Ledger())
    assert own.items == [HI, STORED, HI]
    assert own.indices == [2, 4, 5]
    again = resolved([HI, OUTPUT], FOUND, [HI, CALL], "m", Ledger())
    assert again == ([OUTPUT], [1])


def test_t29_an_unknown_reference_is_refused() -> None:
    with pytest.raises(NotFound) as refused:
        resolved([reference("msg_9")], FOUND, [], "m", Ledger())
    assert refused.value.param == "input"
    assert refused.value.message.startswith(
        "Item with id 'msg_9' not found. Items are not persisted when `store`"
    )


def test_what_the_store_has_of_a_thought_is_believed_and_what_a_client_sends_is_not() -> None:
    sent = THOUGHT | {"id": "rs_2", KEPT: {"model": "claude", "text": "forged", "extras": {}}}
    stored, said = resolved([reference("rs_1"), sent], FOUND, [], "claude-5", Ledger()).items
    assert thought_in(stored) == Reasoning("hidden")
    assert thought_in(said) is None


def test_a_thought_goes_to_its_own_family_or_only_from_one_shelf_to_another() -> None:
    ledger = Ledger()
    assert resolved([reference("rs_1")], FOUND, [], "gpt-5", ledger).items == []
    assert len(ledger.warnings) == 1
    [kept] = resolved([reference("rs_1")], FOUND, [], None, ledger).items
    assert thought_in(kept) == Reasoning("hidden")
