"""The member that no client is shown, and that only the store can set."""

from typing import Any

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning
from proxy.core.stored.private import (
    FOREIGN,
    KEPT,
    KeptThought,
    family_of_model,
    opened,
    packed_again,
    public,
    public_item,
    public_list,
    thought_in,
    with_thought,
)
from tests.support.tables import table

ITEM = {"id": "rs_1", "type": "reasoning", "summary": []}
TEXT = {"id": "msg_1", "type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
THOUGHT = Reasoning("hidden", {"anthropic": {"blocks": [{"block": {"type": "thinking"}}]}})
KEPT_ITEM = with_thought(ITEM, THOUGHT, "claude-4")


def from_store(*items: Any) -> list[Any]:
    value: list[Any] = jsontext.loads(jsontext.dumps(list(items)))
    return value


# ── for clients ──


def test_an_item_is_shown_without_it() -> None:
    assert public(KEPT_ITEM) == ITEM
    assert public(TEXT) is TEXT


@table(
    ("items", "seen"),
    [
        ([], []),
        ([TEXT], [TEXT]),
        ([KEPT_ITEM, TEXT], [ITEM, TEXT]),
        ([TEXT | {KEPT: None}], [TEXT]),
        # Not ours: in a text, or within an object.
        ([TEXT | {"note": '"_kept":'}], [TEXT | {"note": '"_kept":'}]),
        ([TEXT | {"content": [{KEPT: 1}]}], [TEXT | {"content": [{KEPT: 1}]}]),
    ],
)
def test_a_list_is_shown_without_it(items: list[Any], seen: list[Any]) -> None:
    assert jsontext.loads(public_list(jsontext.dumps(items))) == seen


def test_one_item_is_shown_like_those_in_a_list() -> None:
    assert jsontext.loads(public_item(jsontext.dumps(KEPT_ITEM))) == ITEM


def test_what_has_none_is_not_read() -> None:
    damaged = b'[{"id": "msg_1"'
    assert public_list(damaged) is public_item(damaged) is damaged


# ── for the backend ──


def test_a_thought_comes_back_to_its_own_family_as_it_was() -> None:
    ledger = Ledger()
    text, item = opened(from_store(TEXT, KEPT_ITEM), "anthropic/claude-3-haiku", ledger)
    assert text == TEXT
    assert thought_in(item) == THOUGHT
    assert public(item) == ITEM
    assert not ledger.warnings


def test_t15_another_family_does_not_get_it_and_the_client_is_told() -> None:
    ledger = Ledger()
    assert opened(from_store(KEPT_ITEM, TEXT, KEPT_ITEM), "gpt-5", ledger) == [TEXT]
    assert ledger.warnings == [FOREIGN]
    assert ledger.dropped == {"foreign_reasoning": 2}


GOOD = {"model": "m", "text": "", "extras": {}}


@table(
    "kept",
    [
        None,
        7,
        [],
        {},
        GOOD | {"model": None},
        GOOD | {"text": 1},
        GOOD | {"extras": []},
        GOOD | {"extras": {"a": 1}},
    ],
)
def test_what_cannot_be_read_is_not_there(kept: Any) -> None:
    assert opened(from_store(ITEM | {KEPT: kept}), "m", Ledger()) == [ITEM]


@table("said", [None, KEPT_ITEM[KEPT], GOOD, "text"])
def test_a_client_that_sends_it_is_not_believed(said: Any) -> None:
    sent = from_store(ITEM | {KEPT: said})[0]
    assert thought_in(sent) is None
    assert packed_again(sent) == ITEM


def test_an_item_is_kept_again_as_it_was() -> None:
    [item] = opened(from_store(KEPT_ITEM), "claude", Ledger())
    assert isinstance(item[KEPT], KeptThought)
    assert packed_again(item) == KEPT_ITEM
    assert packed_again(TEXT) is TEXT


@table(
    ("model", "family"),
    [
        ("claude-opus-4.1", "claude"),
        ("openrouter/anthropic/Claude-3:thinking", "claude"),
        ("gpt-5", "gpt"),
        ("o3", "o"),
        ("qwen3-32b", "qwen"),
        ("default", "default"),
        ("4o", "4o"),
        ("m/", ""),
        ("", ""),
    ],
)
def test_the_family_of_a_model(model: str, family: str) -> None:
    assert family_of_model(model) == family
