"""The items of a conversation: added, linked, read page by page, and taken out."""

from typing import Any

import pytest
from yarl import URL

from proxy.core.stored.conversation import Order
from proxy.core.stored.private import KEPT
from tests.support.keeping import TENANT, Keeping, both
from tests.support.stores import ids_of, item, record

LARGE = "x" * (1 << 18)


async def made(keeping: Keeping, *texts: str) -> str:
    items = [{"role": "user", "content": text} for text in texts]
    created = await keeping.ask("POST", "/conversations", {"items": items})
    return str(created.body["id"])


async def added(keeping: Keeping, id: str, *items: Any) -> list[dict[str, Any]]:
    told = await keeping.ask("POST", f"/conversations/{id}/items", {"items": items})
    assert told.status == 200, told.body
    assert (told.body["object"], told.body["has_more"]) == ("list", False)
    assert (told.body["first_id"], told.body["last_id"]) == (told.ids[0], told.ids[-1])
    return list(told.body["data"])


async def listed(keeping: Keeping, id: str, query: str = "?order=asc") -> list[str]:
    told = await keeping.ask("GET", f"/conversations/{id}/items{query}")
    assert told.status == 200
    return told.ids


def said(item: dict[str, Any]) -> str:
    return str(item["content"][0]["text"])


# ── added ──


@both
@pytest.mark.parametrize("text", ["Hi", LARGE])
async def test_t72_a_message_gets_its_whole_form(keeping: Keeping, text: str) -> None:
    id = await made(keeping)
    user, assistant = await added(
        keeping, id, {"role": "user", "content": text}, {"role": "assistant", "content": text}
    )
    told = {"type": "message", "role": "user", "status": "completed"}
    assert user == {"id": user["id"], "content": [{"type": "input_text", "text": text}]} | told
    assert assistant["content"] == [{"type": "output_text", "text": text, "annotations": []}]
    assert user["id"].startswith("msg_")
    assert (await keeping.ask("GET", f"/conversations/{id}/items/{user['id']}")).body == user
    assert await listed(keeping, id) == [user["id"], assistant["id"]]


@both
async def test_calls_thoughts_and_results_are_kept_too(keeping: Keeping) -> None:
    id = await made(keeping)
    items = await added(
        keeping,
        id,
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
    )
    assert items[0] == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
    assert [each["id"].partition("_")[0] for each in items] == ["rs", "fc", "fco"]
    assert [each["status"] for each in items[1:]] == ["completed", "completed"]


@both
async def test_t73_an_item_that_is_known_elsewhere_is_linked(keeping: Keeping) -> None:
    """What is kept stands, whatever was sent."""
    kept = record()
    await keeping.records.save(TENANT, kept)
    [theirs, mine] = ids_of(kept)
    id = await made(keeping)
    told = await added(keeping, id, item(theirs, "another text"), {"type": "item_reference", "id": mine})
    assert [each["id"] for each in told] == [theirs, mine]
    assert [said(each) for each in told] == ["text in 0", "text out 0"]
    await keeping.records.delete(TENANT, kept.id)
    assert await listed(keeping, id) == [theirs, mine]


async def test_a_new_conversation_is_made_with_what_is_known(keeping: Keeping) -> None:
    """Some clients leave the type of a reference out."""
    [old] = await listed(keeping, first := await made(keeping, "Hi"))
    created = await keeping.ask("POST", "/conversations", {"items": [{"id": old}]})
    assert created.status == 200
    assert created.body["id"] != first
    [entry] = await keeping.records.page(TENANT, created.body["id"], Order.ASCENDING, None, 9)
    assert entry.id == old


@both
@pytest.mark.parametrize("form", ["whole", "reference"])
async def test_t73_an_item_is_in_a_conversation_once(keeping: Keeping, form: str) -> None:
    id = await made(keeping, "Hi")
    [old] = await listed(keeping, id)
    again = item(old) if form == "whole" else {"type": "item_reference", "id": old}
    new = {"role": "user", "content": "new"}
    told = await keeping.ask("POST", f"/conversations/{id}/items", {"items": [new, again]})
    assert told.refusal == (400, "item_already_in_conversation", "items")
    assert told.error["message"] == "Item already in conversation"
    assert await listed(keeping, id) == [old]


@pytest.mark.parametrize(
    ("wrong", "refusal", "says"),
    [
        (item("fc_1"), (400, "invalid_value", "items[1].id"), "Expected an ID that begins with 'msg'"),
        (
            {"type": "function_call", "id": "msg_1", "call_id": "c", "name": "f", "arguments": ""},
            (400, "invalid_value", "items[1].id"),
            "Expected an ID that begins with 'fc'",
        ),
        ({"role": "user", "id": 7, "content": ""}, (400, "invalid_type", "items[1].id"), "must be a string"),
        ({"role": "nobody", "content": ""}, (400, "invalid_value", "items[1].role"), "must be one of user"),
        (7, (400, "invalid_type", "items[1]"), "must be an object"),
        ({"type": "item_reference", "id": "msg_0"}, (404, None, "input"), "Item with id 'msg_0' not found."),
    ],
)
async def test_t73_all_items_are_added_or_none(keeping: Keeping, wrong: Any, refusal: Any, says: str) -> None:
    id = await made(keeping)
    items = [{"role": "user", "content": "first"}, wrong, {"role": "user", "content": "third"}]
    for path in (f"/conversations/{id}/items", "/conversations"):
        told = await keeping.ask("POST", path, {"items": items})
        assert told.refusal == refusal
        assert says in told.error["message"]
    assert await listed(keeping, id) == []
    assert (await keeping.records.size()).conversations == 1


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({}, (400, "missing_required_parameter", "items")),
        ({"items": None}, (400, "missing_required_parameter", "items")),
        ({"items": {}}, (400, "invalid_type", "items")),
        (
            {"items": [item(f"msg_{number}") for number in range(21)]},
            (400, "array_above_max_length", "items"),
        ),
    ],
)
async def test_items_are_a_list_of_twenty_at_most(keeping: Keeping, body: Any, refusal: Any) -> None:
    id = await made(keeping)
    assert (await keeping.ask("POST", f"/conversations/{id}/items", body)).refusal == refusal


async def test_nothing_may_be_added(keeping: Keeping) -> None:
    id = await made(keeping, "Hi")
    told = await keeping.ask("POST", f"/conversations/{id}/items", {"items": []})
    assert (told.status, told.body["data"], told.body["first_id"]) == (200, [], None)


async def test_what_is_private_of_an_item_is_neither_shown_nor_believed(keeping: Keeping) -> None:
    private = {"model": "m", "text": "a secret thought", "extras": {}}
    kept = record(outputs=0)
    thought = {"type": "reasoning", "id": f"rs_{kept.id[-48:]}", "summary": [], KEPT: private}
    await keeping.records.save(TENANT, kept)
    id = await made(keeping)
    [told] = await added(keeping, id, thought)
    assert KEPT not in told
    entry = await keeping.records.entry(TENANT, id, told["id"])
    assert b"a secret thought" not in entry.item


@pytest.mark.parametrize("path", ["/items", "/items/msg_1"])
async def test_t33_what_may_be_included(keeping: Keeping, path: str) -> None:
    id = await made(keeping)
    for method, body in (("GET", None), ("POST", {"items": []})):
        if method == "GET" or path == "/items":
            told = await keeping.ask(method, f"/conversations/{id}{path}?include[]=everything", body)
            assert told.refusal == (400, "invalid_value", "include")


# ── page by page ──


@both
@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_t39_a_walk_gives_each_item_once(keeping: Keeping, order: str) -> None:
    """What is added meanwhile moves no other item."""
    id = await made(keeping, *"abcde")
    all_items = await listed(keeping, id, f"?order={order}")
    walked: list[str] = []
    more, after = True, ""
    while more:
        page = await keeping.ask("GET", f"/conversations/{id}/items?limit=1&order={order}{after}")
        assert page.ids, "the page before it was the last"
        walked += page.ids
        more, after = page.body["has_more"], f"&after={page.body['last_id']}"
        if len(walked) == 2:
            [late] = await added(keeping, id, {"role": "user", "content": "late"})
    assert walked == ([*all_items, late["id"]] if order == "asc" else all_items)


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("limit=0", (400, "integer_below_min_value", "limit")),
        ("limit=101", (400, "integer_above_max_value", "limit")),
        ("limit=x", (400, "invalid_type", "limit")),
        ("order=up", (400, "invalid_value", "order")),
        ("after=msg_1", (404, None, "after")),
        ("before=msg_1", (404, None, "before")),
    ],
)
async def test_t40_t41_a_wrong_page_is_refused(keeping: Keeping, query: str, refusal: Any) -> None:
    id = await made(keeping, "Hi")
    assert (await keeping.ask("GET", f"/conversations/{id}/items?{query}")).refusal == refusal


async def test_a_page_before_an_item(keeping: Keeping) -> None:
    id = await made(keeping, *"abcde")
    all_items = await listed(keeping, id)
    assert await listed(keeping, id, f"?order=asc&limit=2&before={all_items[3]}") == all_items[1:3]
    assert await listed(keeping, id, f"?limit=2&before={all_items[1]}") == all_items[3:1:-1]


# ── taken out ──


@both
async def test_t74_an_item_is_taken_out_of_its_conversation_only(keeping: Keeping) -> None:
    id = await made(keeping, *"abc")
    first, second, third = await listed(keeping, id)
    other = await made(keeping)
    await added(keeping, other, {"type": "item_reference", "id": second})
    told = await keeping.ask("DELETE", f"/conversations/{id}/items/{second}")
    assert told.body == (await keeping.ask("GET", f"/conversations/{id}")).body
    assert await listed(keeping, id) == [first, third]
    assert await listed(keeping, id, f"?order=asc&after={first}") == [third]
    assert await listed(keeping, other) == [second]
    for method in ("DELETE", "GET"):
        told = await keeping.ask(method, f"/conversations/{id}/items/{second}")
        assert told.refusal == (404, "item_not_found", None)
        assert told.error["message"] == f"Item with id '{second}' not found in conversation."


@both
@pytest.mark.parametrize("sent", ["a%2fb", "..", "%00", "%ff", "item%20with%20words", "x" * 4000])
async def test_any_id_can_be_asked_for(keeping: Keeping, sent: str) -> None:
    """A client may have made it up."""
    id = await made(keeping, "Hi")
    session, url = keeping.proxy.session, keeping.proxy.url
    async with session.get(URL(f"{url}/v1/conversations/{id}/items/{sent}", encoded=True)) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (404, "item_not_found")


async def test_an_id_with_a_slash_is_found(keeping: Keeping) -> None:
    id = await made(keeping)
    await added(keeping, id, item("msg_a/b"))
    found = await keeping.ask("GET", f"/conversations/{id}/items/msg_a%2Fb")
    assert found.body["id"] == "msg_a/b"
