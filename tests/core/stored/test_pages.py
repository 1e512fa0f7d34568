"""Pages of lists: walks, bounds and cursors."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.model import Reasoning
from proxy.core.stored.conversation import Entry, Order
from proxy.core.stored.pages import (
    Listed,
    PageWish,
    behind,
    input_items,
    listed_entries,
    listing,
    page,
    page_wish,
)
from proxy.core.stored.private import with_thought
from proxy.core.stored.queries import Query
from proxy.core.stored.record import Record, Status
from tests.support.tables import table

UP, DOWN = Order.ASCENDING, Order.DESCENDING


def wish(**words: str) -> PageWish:
    return page_wish(Query(words.items()))


def listed(ids: str, order: Order = UP) -> list[Listed]:
    return [Listed(id, jsontext.dumps({"id": id})) for id in (ids if order is UP else reversed(ids))]


def page_of(ids: str, wanted: PageWish) -> dict[str, Any]:
    value: dict[str, Any] = jsontext.loads(page(wanted, behind(wanted, listed(ids, wanted.reading))))
    assert value["object"] == "list"
    return value


def seen(value: dict[str, Any]) -> str:
    return "".join(item["id"] for item in value["data"])


# ── what is asked for ──


@table(
    ("words", "wanted"),
    [
        ({}, PageWish(20, DOWN)),
        ({"limit": "1", "order": "asc"}, PageWish(1, UP)),
        ({"limit": "100", "order": "desc", "after": "a", "before": "b"}, PageWish(100, DOWN, "a", "b")),
        ({"include[]": "reasoning.encrypted_content", "unknown": "x"}, PageWish()),
    ],
)
def test_what_a_query_wants(words: dict[str, str], wanted: PageWish) -> None:
    assert wish(**words) == wanted


@table(
    ("words", "code", "message"),
    [
        ({"limit": "0"}, "integer_below_min_value", "limit must be between 1 and 100, got '0'."),
        ({"limit": "-5"}, "integer_below_min_value", "limit must be between 1 and 100, got '-5'."),
        ({"limit": "101"}, "integer_above_max_value", "limit must be between 1 and 100, got '101'."),
        (
            {"limit": "9" * 30},
            "integer_above_max_value",
            f"limit must be between 1 and 100, got '{'9' * 30}'.",
        ),
        ({"limit": "x"}, "invalid_type", "limit must be a whole number, got 'x'."),
        ({"limit": "1.5"}, "invalid_type", "limit must be a whole number, got '1.5'."),
        ({"limit": ""}, "invalid_type", "limit must be a whole number, got ''."),
        ({"order": "up"}, "invalid_value", "order must be asc or desc, got 'up'."),
    ],
)
def test_t40_what_cannot_be_wanted(words: dict[str, str], code: str, message: str) -> None:
    with pytest.raises(ClientFault) as refused:
        wish(**words)
    fault = refused.value
    assert (fault.status, fault.code, fault.param, fault.message) == (400, code, next(iter(words)), message)


def test_an_unknown_word_to_include_is_refused_in_lists_too() -> None:
    with pytest.raises(ClientFault, match="include must be of"):
        wish(include="x")


# ── pages ──


@table(
    ("words", "ids", "more"),
    [
        ({}, "edcba", False),
        ({"order": "asc"}, "abcde", False),
        ({"limit": "2"}, "ed", True),
        ({"limit": "2", "order": "asc"}, "ab", True),
        ({"limit": "5"}, "edcba", False),
        ({"limit": "4"}, "edcb", True),
        ({"limit": "2", "after": "d"}, "cb", True),
        ({"limit": "2", "after": "c"}, "ba", False),
        ({"limit": "2", "after": "b"}, "a", False),
        ({"after": "a"}, "", False),
        ({"after": "e", "order": "asc"}, "", False),
        ({"limit": "2", "after": "b", "order": "asc"}, "cd", True),
        # The page that ends before an item, in the same order.
        ({"limit": "2", "before": "a"}, "cb", True),
        ({"limit": "2", "before": "c"}, "ed", False),
        ({"before": "e"}, "", False),
        ({"limit": "2", "before": "d", "order": "asc"}, "bc", True),
        # Between two.
        ({"after": "e", "before": "b"}, "dc", False),
        ({"after": "e", "before": "d"}, "", False),
        ({"limit": "2", "after": "e", "before": "b"}, "dc", False),
        ({"limit": "1", "after": "e", "before": "b"}, "d", True),
        ({"after": "c", "before": "d"}, "ba", False),
    ],
)
def test_a_page(words: dict[str, str], ids: str, more: bool) -> None:
    value = page_of("abcde", wish(**words))
    assert (seen(value), value["has_more"]) == (ids, more)
    ends = (ids[0], ids[-1]) if ids else (None, None)
    assert (value["first_id"], value["last_id"]) == ends


@table("param", ["after", "before"])
def test_t41_an_unknown_cursor_is_refused(param: str) -> None:
    with pytest.raises(ClientFault) as refused:
        page_of("abc", wish(**{param: "x"}))
    fault = refused.value
    assert (fault.status, fault.param, fault.message) == (404, param, "No item found with id 'x'")


def test_an_empty_list_begins_and_ends_with_nothing() -> None:
    empty = {"object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False}
    assert jsontext.loads(listing([])) == empty


@given(st.integers(0, 9), st.integers(1, 4), st.sampled_from(["asc", "desc"]))
def test_t39_a_walk_gives_each_item_once(count: int, limit: int, order: str) -> None:
    ids = "abcdefghi"[:count]
    found, words = "", {"limit": str(limit), "order": order}
    while True:
        value = page_of(ids, wish(**words))
        found += seen(value)
        if not value["has_more"]:
            break
        words["after"] = value["data"][-1]["id"]
    assert found == (ids if order == "asc" else ids[::-1])


# ── items ──


def record(input: list[Any], output: list[Any]) -> Record:
    return Record(
        "resp_1",
        Status.COMPLETED,
        created=1,
        model="m",
        input=jsontext.dumps(input),
        output=jsontext.dumps(output),
    )


THOUGHT = {"id": "c", "type": "reasoning", "summary": []}
HALF = {"id": "x", "type": "function_call", "call_id": "k", "status": "incomplete"}
CHAIN = [
    record([{"id": "a"}], [{"id": "b"}, HALF]),
    record([], [with_thought(THOUGHT, Reasoning("hidden"), "m")]),
    record([{"id": "d"}, {"id": "e"}], [{"id": "f"}]),
]


def test_t38_the_input_of_a_response_is_all_before_its_answer() -> None:
    assert [listed.id for listed in input_items(CHAIN, UP)] == list("abcde")
    assert [listed.id for listed in input_items(CHAIN, DOWN)] == list("edcba")
    assert [listed.item for listed in input_items(CHAIN, UP)][2] == jsontext.dumps(THOUGHT)


def test_a_first_page_reads_no_more_than_it_needs() -> None:
    damaged = Record("resp_0", Status.COMPLETED, created=1, model="m", input=b"damaged", output=b"[]")
    newest = wish(limit="1")
    assert [listed.id for listed in behind(newest, input_items([damaged, *CHAIN[2:]], DOWN))] == ["e", "d"]


def test_items_of_a_conversation_are_listed_without_what_is_private() -> None:
    kept = with_thought(THOUGHT, Reasoning("hidden"), "m")
    entries = [Entry(1, "a", b'{"id": "a"}'), Entry(2, "c", jsontext.dumps(kept))]
    assert listed_entries(entries) == [Listed("a", b'{"id": "a"}'), Listed("c", jsontext.dumps(THOUGHT))]
