"""What a response was asked, page by page."""

from typing import Any

import pytest

from proxy.core.stored.record import Record
from tests.support.keeping import TENANT, WORKER, Keeping, both
from tests.support.stores import ids_in, ids_of, record, run


async def chain_of(keeping: Keeping, turns: int) -> list[Record]:
    chain: list[Record] = []
    for _ in range(turns):
        chain.append(record(parent=chain[-1] if chain else None, inputs=1, outputs=1))
        await keeping.records.save(TENANT, chain[-1])
    return chain


def asked(chain: list[Record]) -> list[str]:
    """All that the last of them was asked, oldest first."""
    return [id for each in chain for id in ids_of(each)][: -len(ids_in(chain[-1].output))]


@both
async def test_t38_all_that_the_third_turn_was_asked(keeping: Keeping) -> None:
    chain = await chain_of(keeping, 3)
    newest = await keeping.ask("GET", f"/responses/{chain[-1].id}/input_items")
    oldest = await keeping.ask("GET", f"/responses/{chain[-1].id}/input_items?order=asc")
    assert newest.status == oldest.status == 200
    assert oldest.ids == asked(chain)
    assert newest.ids == asked(chain)[::-1]
    assert (oldest.body["object"], oldest.body["has_more"]) == ("list", False)
    assert (oldest.body["first_id"], oldest.body["last_id"]) == (oldest.ids[0], oldest.ids[-1])


async def test_t38_what_a_run_is_asked(keeping: Keeping) -> None:
    [parent] = await chain_of(keeping, 1)
    for lasting in (True, False):
        begun = run(parent=parent, lasting=lasting)
        await keeping.records.begin(TENANT, begun, WORKER)
        listed = await keeping.ask("GET", f"/responses/{begun.id}/input_items?order=asc")
        assert listed.ids == ids_of(parent) + ids_of(begun)


async def test_what_is_kept_for_minutes_only_is_listed_without_what_is_gone(keeping: Keeping) -> None:
    """T47: nobody continues it, so its ancestors need not stay."""
    [parent] = await chain_of(keeping, 1)
    alone, child = run(lasting=False), run(parent=parent, lasting=False)
    for begun in (alone, child):
        await keeping.records.begin(TENANT, begun, WORKER)
    await keeping.records.delete(TENANT, parent.id)
    for begun in (alone, child):
        assert (await keeping.ask("GET", f"/responses/{begun.id}/input_items")).ids == ids_of(begun)


@both
@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_t39_a_walk_gives_each_item_once(keeping: Keeping, order: str) -> None:
    chain = await chain_of(keeping, 3)
    walked: list[str] = []
    more, after = True, ""
    while more:
        page = await keeping.ask("GET", f"/responses/{chain[-1].id}/input_items?limit=1&order={order}{after}")
        assert page.ids, "the page before it was the last"
        walked += page.ids
        more, after = page.body["has_more"], f"&after={page.body['last_id']}"
    assert walked == (asked(chain) if order == "asc" else asked(chain)[::-1])


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("limit=0", (400, "integer_below_min_value", "limit")),
        ("limit=101", (400, "integer_above_max_value", "limit")),
        ("limit=x", (400, "invalid_type", "limit")),
        ("order=up", (400, "invalid_value", "order")),
        ("include[]=everything", (400, "invalid_value", "include")),
        ("after=msg_1", (404, None, "after")),
        ("after=", (404, None, "after")),
        ("before=msg_1", (404, None, "before")),
    ],
)
async def test_t40_t41_a_wrong_page_is_refused(keeping: Keeping, query: str, refusal: Any) -> None:
    chain = await chain_of(keeping, 2)
    answer = await keeping.ask("GET", f"/responses/{chain[0].id}/input_items?{query}")
    assert answer.refusal == refusal


async def test_t41_an_item_of_another_response_is_none_of_this_list(keeping: Keeping) -> None:
    chain = await chain_of(keeping, 2)
    later = asked(chain)[-1]
    answer = await keeping.ask("GET", f"/responses/{chain[0].id}/input_items?after={later}")
    assert answer.refusal == (404, None, "after")
    assert answer.error["message"] == f"No item found with id '{later}'"


async def test_a_page_before_an_item(keeping: Keeping) -> None:
    chain = await chain_of(keeping, 3)
    known = asked(chain)
    path = f"/responses/{chain[-1].id}/input_items?order=asc&limit=2&before={known[3]}"
    assert (await keeping.ask("GET", path)).ids == known[1:3]
