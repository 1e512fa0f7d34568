"""Responses that are kept: read, cancelled and deleted by those who have their ids."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core.stored.record import Record, Status
from proxy.shell.stores.protocol import RecordUnreadable, StoreDown
from tests.support.asking import refused, spoken
from tests.support.keeping import TENANT, WORKER, Answer, Keeping, StartKeeping, both
from tests.support.proxies import StartProxy
from tests.support.stores import ids_of, item, record, run
from tests.support.two_tenants import TENANTS, shown_by

LARGE = "x" * (1 << 18)
ROUTES = (
    ("GET", ""),
    ("DELETE", ""),
    ("POST", "/cancel"),
    ("GET", "/input_items"),
)
"""Of one response."""

every_route = pytest.mark.parametrize(("method", "path"), ROUTES)


async def save(keeping: Keeping, *saved: Record) -> None:
    for each in saved:
        await keeping.records.save(TENANT, each)


async def begin(keeping: Keeping, **members: Any) -> Record:
    begun = run(**members)
    await keeping.records.begin(TENANT, begun, WORKER)
    return begun


async def ended(keeping: Keeping, status: Status, **members: Any) -> Record:
    """Background work that is over."""
    final = replace(await begin(keeping, **members), status=status)
    await keeping.records.start(TENANT, final.id, WORKER, b"{}")
    await keeping.records.finish(TENANT, final, WORKER)
    return final


def not_found(answer: Answer, id: str) -> bool:
    return answer.refusal == (404, "response_not_found", None) and answer.error["message"] == (
        f"Response with id '{id}' not found."
    )


# ── reading ──


@both
@pytest.mark.parametrize("text", ["text", LARGE])
async def test_a_response_is_read_as_it_ended(keeping: Keeping, text: str) -> None:
    """T01: the object alone; what the request was, is not in it."""
    kept = record(text=text, outputs=2)
    await save(keeping, kept)
    found = await keeping.ask("GET", f"/responses/{kept.id}")
    assert (found.status, found.headers["Content-Type"]) == (200, "application/json")
    output = [item(id, f"{text} out {n}") for n, id in enumerate(ids_of(kept)[1:])]
    assert found.body == {"id": kept.id, "object": "response", "status": "completed", "output": output}


@both
@every_route
async def test_t06_t32_t52_u50_what_is_unknown_and_what_is_another_s_are_alike(
    start_keeping: StartKeeping, method: str, path: str
) -> None:
    """The same words, the same status, as many questions to the store."""
    keeping = await start_keeping(tenants=TENANTS)
    kept, other = record(), record()
    await keeping.records.save("ann", kept)
    keeping.headers = shown_by("bob")
    told = [await keeping.ask(method, f"/responses/{id}{path}") for id in (kept.id, other.id)]
    assert not_found(told[0], kept.id)
    assert not_found(told[1], other.id)
    questions = keeping.watched.asked
    assert questions
    assert questions[: len(questions) // 2] == questions[len(questions) // 2 :]
    keeping.headers = shown_by("ann")
    assert (await keeping.ask("GET", f"/responses/{kept.id}")).status == 200


@every_route
@pytest.mark.parametrize(
    ("sent", "id"),
    [
        ("resp_a%2fb", "resp_a/b"),
        ("resp_a%252Fb", "resp_a%2Fb"),
        ("..", ".."),
        ("%2e%2e", ".."),
        ("msg_1", "msg_1"),
        ("input_tokens", "input_tokens"),
        ("resp_%ff", "resp_%ff"),
        (f"resp_{'a' * 4000}", ""),
    ],
)
async def test_t32_what_is_no_id_is_not_looked_up(
    keeping: Keeping, method: str, path: str, sent: str, id: str
) -> None:
    if (sent, path) == ("input_tokens", ""):
        return
    head = f"{method} /v1/responses/{sent}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    said = (await spoken(keeping.proxy, head.encode())).decode()
    assert said.startswith("HTTP/1.1 404 ")
    assert '"code":"response_not_found"' in said
    assert f"Response with id '{id}" in said
    assert keeping.watched.asked == []


async def test_t32_the_names_of_other_routes_are_no_ids(keeping: Keeping) -> None:
    for name in ("compact", "input_tokens"):
        told = await keeping.ask("GET", f"/responses/{name}")
        assert told.refusal[:2] == (405, "method_not_allowed")
    assert keeping.watched.asked == []


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("include[]=reasoning.encrypted_content", (400, None, "include")),
        ("include[]=web_search_call.results&include%5B%5D=message.output_text.logprobs", None),
        ("include=web_search_call.results", None),
        ("include[]=everything", (400, "invalid_value", "include")),
        ("stream=maybe", (400, "invalid_value", "stream")),
        ("stream=false", None),
        ("starting_after=3", None),
        ("starting_after=x", None),
        ("stream=true&starting_after=x", (400, "invalid_value", "starting_after")),
        ("stream=true&starting_after=-1", (400, "invalid_value", "starting_after")),
        ("include_obfuscation=false", None),
    ],
)
async def test_t33_t34_t60_how_it_is_wanted(keeping: Keeping, query: str, refusal: Any) -> None:
    kept = record()
    await save(keeping, kept)
    found = await keeping.ask("GET", f"/responses/{kept.id}?{query}")
    assert found.refusal == refusal if refusal else found.status == 200


@pytest.mark.parametrize(
    ("background", "streamed", "words"),
    [
        (False, True, "This response cannot be streamed because it was not created with background=true."),
        (True, False, "This response cannot be streamed because it was not created with stream=true."),
        (True, None, "This response can no longer be streamed because its events have expired."),
        (True, True, "This response can no longer be streamed because its events have expired."),
    ],
)
async def test_t61_t66_what_cannot_be_streamed_again(
    keeping: Keeping, background: bool, streamed: bool | None, words: str
) -> None:
    kept = record(background=background, streamed=streamed)
    await save(keeping, kept)
    refused = await keeping.ask("GET", f"/responses/{kept.id}?stream=true")
    assert refused.refusal == (400, "invalid_request_error", "stream")
    assert refused.error["message"] == words
    assert not_found(await keeping.ask("GET", "/responses/resp_1?stream=true"), "resp_1")


async def test_what_is_read_writes_no_line_and_has_a_head(keeping: Keeping) -> None:
    """Clients poll: what they are refused is logged, as with every other small question."""
    kept = record()
    await save(keeping, kept)
    async with keeping.proxy.session.head(f"{keeping.proxy.url}/v1/responses/{kept.id}") as response:
        assert (response.status, await response.read()) == (200, b"")
    await keeping.ask("GET", f"/responses/{kept.id}/input_items")
    assert not keeping.proxy.log.named("request") + keeping.proxy.log.named("refusal")
    await keeping.ask("GET", "/responses/resp_1")
    [line] = keeping.proxy.log.named("refusal")
    assert (line["path"], line["code"]) == ("/v1/responses/resp_1", "response_not_found")


# ── deleting ──


@both
async def test_t35_what_is_deleted_is_unknown_from_then_on(keeping: Keeping) -> None:
    kept = record()
    await save(keeping, kept)
    deleted = await keeping.ask("DELETE", f"/responses/{kept.id}")
    assert deleted.status == 200
    assert deleted.body == {"id": kept.id, "object": "response.deleted", "deleted": True}
    for method, path in ROUTES:
        assert not_found(await keeping.ask(method, f"/responses/{kept.id}{path}"), kept.id)


async def test_t53_a_run_is_cancelled_before_it_is_deleted(keeping: Keeping) -> None:
    begun = await begin(keeping)
    refused = await keeping.ask("DELETE", f"/responses/{begun.id}")
    assert refused.refusal == (400, None, None)
    assert refused.error["message"] == "Cannot delete an in-flight response."
    assert (await keeping.ask("POST", f"/responses/{begun.id}/cancel")).status == 200
    assert (await keeping.ask("DELETE", f"/responses/{begun.id}")).status == 200


# ── cancelling ──


@both
async def test_t50_t51_a_run_is_cancelled_once_and_told_twice(keeping: Keeping) -> None:
    begun = await begin(keeping)
    first, again = [await keeping.ask("POST", f"/responses/{begun.id}/cancel") for _ in range(2)]
    assert first.status == again.status == 200
    assert first.body == again.body == (await keeping.ask("GET", f"/responses/{begun.id}")).body
    told = {name: first.body[name] for name in ("id", "status", "error", "completed_at", "output")}
    assert told == {"id": begun.id, "status": "cancelled", "error": None, "completed_at": None, "output": []}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status.COMPLETED, "Cannot cancel a completed response."),
        (Status.FAILED, "Cannot cancel a failed response."),
        (Status.INCOMPLETE, "Cannot cancel a response in terminal state."),
    ],
)
async def test_t52_what_has_ended_is_not_cancelled(keeping: Keeping, status: Status, words: str) -> None:
    final = await ended(keeping, status)
    refused = await keeping.ask("POST", f"/responses/{final.id}/cancel")
    assert (refused.refusal, refused.error["message"]) == ((400, None, None), words)
    assert (await keeping.records.get(TENANT, final.id)).status is status


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.CANCELLED])
async def test_t52_what_its_client_waited_for_is_not_cancelled(keeping: Keeping, status: Status) -> None:
    kept = record(status)
    await save(keeping, kept)
    refused = await keeping.ask("POST", f"/responses/{kept.id}/cancel")
    assert (refused.refusal, refused.error["message"]) == (
        (400, None, None),
        "Cannot cancel a synchronous response.",
    )


@pytest.mark.parametrize("how", ["ends", "is deleted"])
async def test_t92_whoever_was_first_decides(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The run ends between the question and the writing."""
    begun = await begin(keeping)
    cancel = keeping.records.cancel

    async def late(tenant: str, cancelled: Record) -> Any:
        final = replace(begun, status=Status.COMPLETED)
        await keeping.records.start(tenant, begun.id, WORKER, begun.answer)
        await keeping.records.finish(tenant, final, WORKER)
        if how == "is deleted":
            await keeping.records.delete(tenant, begun.id)
        return await cancel(tenant, cancelled)

    monkeypatch.setattr(keeping.records, "cancel", late)
    refused = await keeping.ask("POST", f"/responses/{begun.id}/cancel")
    if how == "ends":
        assert refused.error["message"] == "Cannot cancel a completed response."
    else:
        assert not_found(refused, begun.id)


@pytest.mark.parametrize("body", [None, b"", b"{}", b"null"])
@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/json"}])
async def test_t36_no_body_is_missed_where_none_is_needed(
    keeping: Keeping, body: bytes | None, headers: dict[str, str]
) -> None:
    """Python's client sends the type of nothing, Node's does not. What is sent does no harm to what follows it."""
    for method, path in (("POST", "/cancel"), ("DELETE", "")):
        begun = await begin(keeping) if path else await ended(keeping, Status.COMPLETED)
        assert (await keeping.ask(method, f"/responses/{begun.id}{path}", body, **headers)).status == 200
        assert (await keeping.ask("GET", f"/responses/{begun.id}")).status == (200 if path else 404)


# ── paths and failures ──


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/responses", "POST"),
        ("PUT", "/v1/responses/resp_1", "GET, HEAD, DELETE"),
        ("POST", "/responses/resp_1/", "GET, HEAD, DELETE"),
        ("GET", "/v1/responses/resp_1/cancel", "POST"),
        ("DELETE", "/v1/responses/resp_1/input_items", "GET, HEAD"),
    ],
)
async def test_t42_a_wrong_method_is_told_the_right_one(
    keeping: Keeping, method: str, path: str, allowed: str
) -> None:
    status, error, allow = await refused(keeping.proxy, method, path)
    assert (status, error["code"], allow) == (405, "method_not_allowed", allowed)
    assert keeping.watched.asked == []


@every_route
async def test_t83_a_store_that_is_away_makes_nothing_unknown(
    keeping: Keeping, method: str, path: str
) -> None:
    """And it is logged and counted as every other fault."""
    kept = record()
    await save(keeping, kept)
    keeping.watched.failure = StoreDown("the disk is gone")
    told = await keeping.ask(method, f"/responses/{kept.id}{path}")
    assert told.refusal == (503, "storage_error", None)
    assert told.headers["Retry-After"] == "1"
    (line,) = keeping.proxy.log.named("refusal")
    assert (line["status"], line["code"], line["cause"]) == (503, "storage_error", "StoreDown")
    async with keeping.proxy.session.get(f"{keeping.proxy.url}/metrics") as metrics:
        assert 'code="storage_error"' in await metrics.text()


async def test_t88_a_record_that_cannot_be_read_is_not_asked_for_again(keeping: Keeping) -> None:
    keeping.watched.failure = RecordUnreadable("resp_1 is damaged")
    told = await keeping.ask("GET", "/responses/resp_1")
    assert told.refusal == (500, "storage_error", None)
    assert told.headers["X-Should-Retry"] == "false"
    assert keeping.proxy.log.named("refusal")[0]["cause"] == "RecordUnreadable"


@every_route
async def test_t23_where_nothing_is_kept_no_response_is_known(
    start_proxy: StartProxy, method: str, path: str
) -> None:
    proxy = await start_proxy(store={"url": "off"})
    status, error, _ = await refused(proxy, method, f"/v1/responses/resp_1{path}")
    assert (status, error["code"]) == (404, "response_not_found")
    assert error["message"] == "Response with id 'resp_1' not found."
