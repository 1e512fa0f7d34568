"""A request that continues another is completed: previous input, previous output, new input, and nothing else."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault, NotFound
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning
from proxy.core.stored.named import NOTHING_NAMED, Known
from proxy.core.stored.private import with_thought
from proxy.core.surfaces.responses.whole_input import WholeInput, items_of, whole_input
from tests.support.tables import table

USER = {"type": "message", "role": "user", "content": "Hi"}
ANSWER = {"id": "msg_1", "type": "message", "role": "assistant", "content": "Hello"}
MORE = {"type": "message", "role": "user", "content": "More"}


def known(*history: Any, **references: Any) -> Known:
    found = {id: jsontext.dumps(item) for id, item in references.items()}
    return Known(NOTHING_NAMED, jsontext.dumps([*history]), found)


@table(("given", "new"), [("More", [MORE]), ([MORE], [MORE]), ([], []), (None, [])])
def test_what_is_new_comes_after_what_was_said(given: Any, new: list[Any]) -> None:
    whole = whole_input({"model": "m", "input": given}, "m", known(USER, ANSWER), Ledger())
    assert whole == WholeInput([USER, ANSWER], new, [*range(len(new))])
    assert whole.items == [USER, ANSWER, *new]


def test_what_is_no_input_is_said_to_be_none() -> None:
    with pytest.raises(ClientFault, match="input must be a string or an array of items, got number"):
        items_of(5)


def test_a_reference_stands_for_its_item() -> None:
    whole = whole_input(
        {"model": "m", "input": [{"id": "msg_1"}, MORE]}, "m", known(USER, msg_1=ANSWER), Ledger()
    )
    assert whole.items == [USER, ANSWER, MORE]


def test_a_reference_to_nothing_is_refused() -> None:
    with pytest.raises(NotFound, match="Item with id 'msg_2' not found"):
        whole_input(
            {"model": "m", "input": [{"type": "item_reference", "id": "msg_2"}]}, "m", known(), Ledger()
        )


def test_what_another_model_thought_is_left_out() -> None:
    thought = with_thought({"id": "rs_1", "type": "reasoning", "summary": []}, Reasoning("Hm."), "claude-5")
    ledger = Ledger()
    assert whole_input({"model": "gemini-3", "input": "x"}, "gemini-3", known(thought), ledger).history == []
    assert ledger.warnings
