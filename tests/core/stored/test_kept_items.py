"""The form in which items are kept, whichever form they came in."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.ids import ItemIds, tail_of
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning
from proxy.core.stored.kept_items import PREFIXES, kept_items
from proxy.core.stored.private import KEPT, opened, with_thought
from proxy.core.surfaces.responses.calls import FORMS
from proxy.core.surfaces.responses.items import ITEMS
from tests.support.replies import counting_mint
from tests.support.tables import table

USER = {"type": "message", "role": "user", "status": "completed"}
HI = [{"type": "input_text", "text": "Hi"}]


def ids() -> ItemIds:
    mint = counting_mint()
    return mint.items_of(mint.response())


def without_ids(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in item.items() if name != "id"} for item in items]


@table(
    ("given", "kept"),
    [
        (None, []),
        ([], []),
        ("Hi", [USER | {"content": HI}]),
        ("", [USER | {"content": [{"type": "input_text", "text": ""}]}]),
        ([{"role": "user", "content": "Hi"}], [USER | {"content": HI}]),
        ([{"type": None, "role": "user", "content": HI}], [USER | {"content": HI}]),
        ([{"role": "developer", "content": "Hi"}], [USER | {"role": "developer", "content": HI}]),
        (
            [{"role": "assistant", "content": "Hi", "phase": "final"}],
            [
                USER
                | {
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
                    "phase": "final",
                }
            ],
        ),
        ([{"role": "assistant", "content": None}], [USER | {"role": "assistant", "content": []}]),
        (
            [{"type": "message", "role": "user", "content": HI, "status": "incomplete"}],
            [USER | {"content": HI, "status": "incomplete"}],
        ),
        (
            [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": None}],
            [
                {
                    "type": "function_call",
                    "call_id": "c",
                    "name": "f",
                    "arguments": "{}",
                    "status": "completed",
                }
            ],
        ),
        (
            [{"type": "function_call_output", "call_id": "c", "output": "1"}],
            [{"type": "function_call_output", "call_id": "c", "output": "1", "status": "completed"}],
        ),
        ([{"type": "reasoning", "summary": []}], [{"type": "reasoning", "summary": []}]),
        ([{"type": "of_tomorrow", "a": 1}], [{"type": "of_tomorrow", "a": 1}]),
    ],
)
def test_t72_items_are_kept_in_one_form(given: Any, kept: list[Any]) -> None:
    assert without_ids(kept_items(given, ids())) == kept


def test_each_item_without_an_id_gets_one_of_its_kind() -> None:
    new = ids()
    kinds = [*PREFIXES, "of_tomorrow"]
    kept = kept_items([{"type": kind} for kind in kinds], new)
    assert [item["id"].rpartition("_")[0] for item in kept] == [*PREFIXES.values(), "item"]
    assert {tail_of(item["id"]) for item in kept} == {tail_of(new.input("msg", 0))}
    assert [item["id"].rpartition("_")[2] for item in kept] == sorted(
        item["id"].rpartition("_")[2] for item in kept
    )


def test_every_kind_that_is_read_has_a_prefix_and_output_the_same_as_input() -> None:
    assert ITEMS.keys() - PREFIXES.keys() == {"item_reference", "compaction_trigger"}
    assert {form.item: form.prefix for form in FORMS.values()}.items() <= PREFIXES.items()


def test_a_clients_own_id_is_kept_once() -> None:
    sent = [{"id": "mine", "role": "user", "content": "Hi"}] * 2
    first, second = kept_items(sent, ids())
    assert first["id"] == "mine"
    assert second["id"].startswith("msg_000001")
    [again] = kept_items(sent[:1], ids(), {"mine"})
    assert again["id"].startswith("msg_000000")


@table("odd", [None, "", 7, [], {}])
def test_what_is_no_id_is_replaced_by_one(odd: Any) -> None:
    [item] = kept_items([{"id": odd, "role": "user", "content": "Hi"}], ids())
    assert item["id"].startswith("msg_000000")


def test_only_the_store_sets_what_is_private() -> None:
    thought = with_thought({"id": "rs_1", "type": "reasoning", "summary": []}, Reasoning("hidden"), "m")
    assert KEPT not in kept_items([thought], ids())[0]
    assert kept_items(opened([thought], "m", Ledger()), ids()) == [thought]


JSON = st.sampled_from([None, "", "a", "b", 0, 1])
ITEM = st.fixed_dictionaries(
    {},
    optional={"id": JSON, "type": st.sampled_from([None, *PREFIXES, "x"]), "content": JSON, "status": JSON},
)


@given(st.lists(ITEM, max_size=6))
def test_whatever_comes_each_has_an_id_of_its_own_and_nothing_else_is_lost(
    items: list[dict[str, Any]],
) -> None:
    kept = kept_items(items, ids())
    assert len({item["id"] for item in kept}) == len(items)
    for before, after in zip(items, kept, strict=True):
        assert before.keys() <= after.keys()
        assert kept_items([after], ids()) == [after]


def test_the_clients_own_objects_stay_as_they_are() -> None:
    sent = {"role": "user", "content": "Hi"}
    kept_items([sent], ids())
    assert sent == {"role": "user", "content": "Hi"}
