"""Conversations: made, read, changed and deleted by their clients."""

from typing import Any

import pytest

from proxy.core.stored.conversation import Conversation
from proxy.shell.stores.protocol import Began, Outcome, StoreDown
from tests.support.asking import refused, spoken
from tests.support.keeping import NOW, TENANT, WORKER, Answer, Keeping, StartKeeping, both
from tests.support.proxies import StartProxy
from tests.support.stores import ids_of, record
from tests.support.two_tenants import TENANTS, shown_by

ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
ROUTES = (
    ("GET", "", None),
    ("POST", "", {"metadata": {"a": "b"}}),
    ("DELETE", "", None),
    ("GET", "/items", None),
    ("POST", "/items", {"items": [ITEM]}),
    ("GET", "/items/msg_1", None),
    ("DELETE", "/items/msg_1", None),
)
"""Of one conversation."""

every_route = pytest.mark.parametrize(("method", "path", "body"), ROUTES)


async def made(keeping: Keeping, **members: Any) -> str:
    created = await keeping.ask("POST", "/conversations", members)
    assert created.status == 200, created.body
    return str(created.body["id"])


async def locked(keeping: Keeping, id: str) -> None:
    """As a turn does it."""
    assert isinstance(await keeping.records.lock(TENANT, id, WORKER, "resp_1"), Began)


def not_found(answer: Answer, id: str) -> bool:
    return answer.refusal == (404, "conversation_not_found", None) and answer.error["message"] == (
        f"Conversation with id '{id}' not found."
    )


# ── made and read ──


@both
@pytest.mark.parametrize("body", [None, b"", {}, b"null", {"items": []}, {"items": None, "metadata": None}])
async def test_t36_t69_a_conversation_is_made_of_nothing(keeping: Keeping, body: Any) -> None:
    created = await keeping.ask("POST", "/conversations", body)
    assert created.status == 200
    id = created.body["id"]
    assert id.startswith("conv_")
    assert created.body == {"id": id, "object": "conversation", "created_at": NOW, "metadata": {}}
    assert (await keeping.ask("GET", f"/conversations/{id}")).body == created.body
    assert (await keeping.ask("GET", f"/conversations/{id}/items")).body == {
        "object": "list",
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }


@both
async def test_t69_a_conversation_is_made_with_at_most_twenty_items(keeping: Keeping) -> None:
    items = [ITEM | {"content": str(number)} for number in range(21)]
    told = await keeping.ask("POST", "/conversations", {"items": items})
    assert told.refusal == (400, "array_above_max_length", "items")
    id = await made(keeping, items=items[:20])
    listed = await keeping.ask("GET", f"/conversations/{id}/items?order=asc&limit=100")
    assert [item["content"][0]["text"] for item in listed.body["data"]] == list(map(str, range(20)))
    assert len(set(listed.ids)) == 20
    assert (await keeping.records.size()).conversations == 1


@both
async def test_a_conversation_and_its_items_are_made_in_one_step(keeping: Keeping) -> None:
    """Should the store go in between, there is neither."""
    for items in ([], [ITEM]):
        before = len(keeping.watched.asked)
        await made(keeping, items=items)
        assert keeping.watched.asked[before:] == ["create"]


@pytest.mark.parametrize(
    ("metadata", "refusal"),
    [
        ({str(number): "" for number in range(17)}, (400, "object_above_max_properties", "metadata")),
        ({"a" * 65: ""}, (400, "property_name_above_max_length", f"metadata.{'a' * 65}")),
        ({"a": "b" * 513}, (400, "string_above_max_length", "metadata.a")),
        ([], (400, "invalid_type", "metadata")),
    ],
)
async def test_t22_metadata_has_its_bounds(keeping: Keeping, metadata: Any, refusal: Any) -> None:
    id = await made(keeping, metadata={"a": "b"})
    for path in ("/conversations", f"/conversations/{id}"):
        assert (await keeping.ask("POST", path, {"metadata": metadata})).refusal == refusal
    assert (await keeping.ask("GET", f"/conversations/{id}")).body["metadata"] == {"a": "b"}


# ── changed and deleted ──


@both
async def test_t70_metadata_is_replaced(keeping: Keeping) -> None:
    id = await made(keeping, metadata={"a": "b"})
    path = f"/conversations/{id}"
    assert (await keeping.ask("POST", path, {})).refusal == (400, "missing_required_parameter", "metadata")
    for metadata, then in (({"c": "d"}, {"c": "d"}), (None, {})):
        changed = await keeping.ask("POST", path, {"metadata": metadata})
        assert changed.status == 200
        assert changed.body == (await keeping.ask("GET", path)).body
        assert changed.body["metadata"] == then


@both
@every_route
async def test_t06_t71_what_is_unknown_deleted_or_another_s_is_alike(
    start_keeping: StartKeeping, method: str, path: str, body: Any
) -> None:
    keeping = await start_keeping(tenants=TENANTS)
    keeping.headers = shown_by("ann")
    hers, gone, unknown = await made(keeping), await made(keeping), "conv_1"
    assert (await keeping.ask("DELETE", f"/conversations/{gone}")).body == {
        "id": gone,
        "object": "conversation.deleted",
        "deleted": True,
    }
    asked: list[list[str]] = []
    for who, id in (("bob", hers), ("ann", gone), ("ann", unknown)):
        keeping.headers = shown_by(who)
        keeping.watched.asked.clear()
        assert not_found(await keeping.ask(method, f"/conversations/{id}{path}", body), id)
        asked.append([*keeping.watched.asked])
    assert asked[0] == asked[1] == asked[2] != []


async def test_t71_the_responses_of_a_deleted_conversation_stay(keeping: Keeping) -> None:
    id = await made(keeping, items=[ITEM])
    kept = record(conversation=Conversation(id, NOW))
    await keeping.records.lock(TENANT, id, WORKER, kept.id)
    assert await keeping.records.save(TENANT, kept, ids_of(kept), WORKER) is Outcome.DONE
    assert (await keeping.ask("DELETE", f"/conversations/{id}")).status == 200
    assert (await keeping.ask("GET", f"/responses/{kept.id}")).status == 200
    listed = await keeping.ask("GET", f"/responses/{kept.id}/input_items?order=asc")
    assert [item["content"][0]["text"] for item in listed.body["data"]] == ["Hi", "text in 0"]


# ── while a turn is under way ──


@both
async def test_t78_nothing_changes_while_a_turn_is_under_way(keeping: Keeping) -> None:
    id = await made(keeping, items=[ITEM])
    [item] = (await keeping.ask("GET", f"/conversations/{id}/items")).ids
    await locked(keeping, id)
    for method, path, body in ROUTES:
        told = await keeping.ask(method, f"/conversations/{id}{path.replace('msg_1', item)}", body)
        if method == "GET":
            assert told.status == 200
        else:
            assert told.refusal == (400, "conversation_locked", "conversation")
            assert (told.headers["X-Should-Retry"], told.headers["Retry-After-Ms"]) == ("true", "1000")
    await keeping.records.unlock(TENANT, id, "resp_1")
    assert (await keeping.ask("DELETE", f"/conversations/{id}/items/{item}")).status == 200


# ── paths and failures ──


@every_route
@pytest.mark.parametrize(
    ("sent", "id"),
    [("conv_a%2fb", "conv_a/b"), ("..", ".."), ("resp_1", "resp_1"), (f"conv_{'a' * 4000}", "")],
)
async def test_t71_what_is_no_id_is_not_looked_up(
    keeping: Keeping, method: str, path: str, body: Any, sent: str, id: str
) -> None:
    head = f"{method} /v1/conversations/{sent}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    said = (await spoken(keeping.proxy, head.encode())).decode()
    assert said.startswith("HTTP/1.1 404 ")
    assert '"code":"conversation_not_found"' in said
    assert f"Conversation with id '{id}" in said
    assert keeping.watched.asked == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/conversations", "POST"),
        ("PUT", "/v1/conversations/conv_1", "GET, HEAD, POST, DELETE"),
        ("DELETE", "/conversations/conv_1/items", "GET, HEAD, POST"),
        ("POST", "/conversations/conv_1/items/msg_1", "GET, HEAD, DELETE"),
    ],
)
async def test_t42_a_wrong_method_is_told_the_right_one(
    keeping: Keeping, method: str, path: str, allowed: str
) -> None:
    status, error, allow = await refused(keeping.proxy, method, path)
    assert (status, error["code"], allow) == (405, "method_not_allowed", allowed)


@every_route
async def test_t83_a_store_that_is_away_makes_nothing_unknown(
    keeping: Keeping, method: str, path: str, body: Any
) -> None:
    id = await made(keeping)
    keeping.watched.failure = StoreDown("the disk is gone")
    told = await keeping.ask(method, f"/conversations/{id}{path}", body)
    assert (told.refusal, told.headers["Retry-After"]) == ((503, "storage_error", None), "1")
    assert (await keeping.ask("POST", "/conversations")).refusal == (503, "storage_error", None)


@every_route
async def test_t23_where_nothing_is_kept_no_conversation_is_known(
    start_proxy: StartProxy, method: str, path: str, body: Any
) -> None:
    keeping: Any = Keeping(await start_proxy(store={"url": "off"}), None, Any)
    assert not_found(await keeping.ask(method, f"/conversations/conv_1{path}", body), "conv_1")
    told = await keeping.ask("POST", "/conversations")
    assert told.refusal == (404, "not_found", None)
    assert "Send the whole history as input" in told.error["message"]
