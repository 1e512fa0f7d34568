"""What nobody can have: was never kept, is not any more, is not yet, or is another's (T02-T07, T24, T25, T35)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proxy.shell.stores import beats
from proxy.shell.stores.memory.records import MemoryRecords
from tests.support.background import FollowingClients, Talker, begun, ended, got, id_of
from tests.support.proxies import Proxy, StartProxy, events, final
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    finish,
    reply,
    text,
    usage,
)
from tests.support.state import asked, items, made, refused, sent
from tests.support.store_failing import Date, Failing
from tests.support.two_tenants import TENANTS, shown_by

DAY = 86_400
NOT_FOUND = (400, "previous_response_not_found", "previous_response_id")
ROUTES = (("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/input_items"))
"""Of one response."""


async def told(proxy: Proxy, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
    async with proxy.session.request(method, f"{proxy.url}/v1{path}", json=body, headers=headers) as response:
        return response.status, await response.text()


async def is_unknown(proxy: Proxy, id: str) -> None:
    """On every route, and as a parent."""
    for method, path in ROUTES:
        status, words = await told(proxy, method, f"/responses/{id}{path}")
        assert (status, f"Response with id '{id}' not found." in words) == (404, True)
    assert await refused(proxy, previous_response_id=id) == NOT_FOUND


@pytest.mark.parametrize("stream", [True, False])
async def test_t02_nothing_is_kept_of_what_was_not_to_be_stored(
    start_proxy: StartProxy, tmp_path: Path, stream: bool
) -> None:
    """No record, no item, no log: not a word of it is in the files."""
    proxy = await start_proxy(store={"url": f"sqlite:{tmp_path}"})
    body = {"input": "a secret word", "store": False}
    unkept = final(await proxy.stream(**body)) if stream else await asked(proxy, **body)
    await is_unknown(proxy, unkept["id"])
    named = {"type": "item_reference", "id": unkept["output"][0]["id"]}
    assert (await refused(proxy, input=[named]))[0] == 404
    kept = await asked(proxy, input="an open word")
    files = bytes_of(tmp_path)
    assert (b"an open word" in files, b"a secret word" in files) == (True, False)
    assert (kept["id"][5:].encode() in files, unkept["id"][5:].encode() in files) == (True, False)


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("stream", [True, False])
async def test_t05_what_names_an_unknown_parent_leaves_nothing(
    backend: ScriptedBackend, failing: Failing, start_proxy: StartProxy, stream: bool, background: bool
) -> None:
    proxy = await start_proxy()
    named = {"previous_response_id": "resp_" + "0" * 48}
    assert await refused(proxy, **named, stream=stream, background=background) == NOT_FOUND
    assert backend.received == []
    assert failing.engine is not None
    assert (await failing.engine.size()).responses == 0


async def test_t35_what_was_deleted_is_no_parent_either(proxy: Proxy) -> None:
    """T07."""
    kept = await asked(proxy)
    assert (await told(proxy, "DELETE", f"/responses/{kept['id']}"))[0] == 200
    await is_unknown(proxy, kept["id"])


async def test_t07_what_has_expired_is_unknown(date: Date, proxy: Proxy) -> None:
    """At once, not when it is swept. T30: so is an item that nothing holds any more."""
    kept, late = await asked(proxy), await asked(proxy)
    child = await asked(proxy, previous_response_id=late["id"])
    date.seconds += 29 * DAY
    assert (await got(proxy, kept["id"]))[0] == 200
    follower = await asked(proxy, previous_response_id=child["id"])
    date.seconds += DAY + 1
    await is_unknown(proxy, kept["id"])
    named = {"type": "item_reference", "id": kept["output"][0]["id"]}
    assert (await refused(proxy, input=[named]))[0] == 404
    await is_unknown(proxy, late["id"])
    again = await asked(proxy, previous_response_id=follower["id"])
    assert again["status"] == "completed"
    held = {"type": "item_reference", "id": late["output"][0]["id"]}
    assert (await asked(proxy, input=[held, {"role": "user", "content": "More"}]))["status"] == "completed"


async def test_t66_t47_ten_minutes_after_its_end(date: Date, proxy: Proxy) -> None:
    """Events expire, the response does not; what was not to be stored is unknown by then."""
    async with FollowingClients(proxy) as watchers:
        found = await (await watchers.begin()).all()
        id = id_of(found)
        brief = await ended(proxy, (await begun(proxy, store=False))["id"])
        date.seconds += 599
        assert await (await watchers.resume(id)).all() == found
    assert (await got(proxy, brief["id"]))[0] == 200
    date.seconds += 2
    status, refusal = await got(proxy, id, stream="true")
    assert (status, refusal["error"]["param"]) == (400, "stream")
    assert "its events have expired" in refusal["error"]["message"]
    assert (await got(proxy, id))[1]["status"] == "completed"
    await is_unknown(proxy, brief["id"])


async def test_t99_what_expires_while_it_is_read_is_there_whole_or_not_at_all(
    backend: ScriptedBackend, date: Date, start_proxy: StartProxy, tmp_path: Path
) -> None:
    proxy = await start_proxy(store={"url": f"sqlite:{tmp_path}"})
    parent = None
    for number in range(20):
        parent = (await asked(proxy, input=f"{number}", previous_response_id=parent))["id"]
    calls, statuses = len(backend.received), []

    some = asyncio.Semaphore(8)

    async def ask() -> None:
        body = {"model": "m", "input": "Last", "previous_response_id": parent, "store": False}
        async with some, proxy.post(body) as response:
            date.seconds += DAY  # a month after thirty answers
            statuses.append(response.status)
            if response.status != 200:
                assert (await response.json())["error"]["code"] == "previous_response_not_found"

    await asyncio.gather(*(ask() for _ in range(60)))
    assert {*statuses} == {200, 400}
    for request in backend.received[calls:]:
        said = [each["content"] for each in request.json["messages"] if each["role"] == "user"]
        assert said == [*map(str, range(20)), "Last"]


@pytest.mark.parametrize("store", ["memory:", "sqlite:{}"])
async def test_t100_a_date_that_jumps_ends_nothing_that_works(
    backend: ScriptedBackend,
    date: Date,
    start_proxy: StartProxy,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    store: str,
) -> None:
    """U54: neither a run nor the lock of its conversation, by a proxy that would end what the dead have left."""
    monkeypatch.setattr(beats, "LEASE_SECONDS", 0.0)  # it need not have waited for others
    proxy = await start_proxy(store={"url": store.format(tmp_path)})
    talker = Talker()
    backend.plays(talker)
    talk = await made(proxy)
    run = await begun(proxy, conversation=talk)
    for jump in (3600, -7200, 400 * DAY, -800 * DAY):
        date.seconds += jump
        assert (await got(proxy, run["id"]))[1]["status"] in ("queued", "in_progress")
        assert (await refused(proxy, conversation=talk))[1] == "conversation_locked"
    await talker.says(text("Hello"))
    await talker.ends()
    assert (await ended(proxy, run["id"]))["status"] == "completed"
    assert len(await items(proxy, talk)) == 2


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@asynccontextmanager
async def half_said(
    backend: ScriptedBackend, proxy: Proxy, **body: Any
) -> AsyncIterator[tuple[Any, str, Line]]:
    """A turn in the foreground that is under way: its response, its id, and the backend's side."""
    lines: list[Line] = []
    spoken, left = asyncio.Event(), asyncio.Event()

    async def half(line: Line) -> None:
        await line.request()
        line.send(HEAD + text("Hel"))
        lines.append(line)
        spoken.set()
        try:
            await line.closed()
        finally:
            left.set()

    backend.plays(half)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True} | body) as response:
        head = await response.content.readuntil(b"response.output_text.delta")
        id = events(head.rpartition(b"\n\n")[0])[0].data["response"]["id"]
        yield response, id, lines[0]
    async with asyncio.timeout(1):
        await left.wait()


async def test_t93_a_turn_that_somebody_waits_for_is_unknown_until_its_end(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """T07: whatever is asked of it meanwhile has no effect on it."""
    async with half_said(backend, proxy) as (response, id, line):
        await is_unknown(proxy, id)
        line.send(reply(text("lo")).removeprefix(HEAD))
        assert b"response.completed" in await response.read()
        assert (await got(proxy, id))[1]["status"] == "completed"
        line.close()


@pytest.mark.parametrize("how", ["a stream", "not streamed", "not stored"])
async def test_t25_a_client_leaves_in_the_middle(
    backend: ScriptedBackend, failing: Failing, start_proxy: StartProxy, how: str
) -> None:
    """The backend is left within a second. Only of a stream was an id told, so only a stream is kept."""
    proxy = await start_proxy()
    if how == "not streamed":
        asking, left = asyncio.Event(), asyncio.Event()

        async def begins(line: Line) -> None:
            await line.request()
            line.send(HEAD + text("Hel"))
            asking.set()
            await line.closed()
            left.set()

        backend.plays(begins)
        asker = asyncio.ensure_future(asked(proxy))  # noqa: TID251 - ended here
        await asyncio.wait_for(asking.wait(), PROMPTLY)
        for _ in range(50):
            await asyncio.sleep(0)  # the proxy reads it meanwhile
        asker.cancel()
        async with asyncio.timeout(1):
            await left.wait()
        await proxy.log.wait_for("request")
    else:
        async with half_said(backend, proxy, store=how == "a stream") as (_, id, _):
            pass
        await proxy.log.wait_for("request")
        if how == "a stream":
            found = (await got(proxy, id))[1]
            assert (found["status"], found["output"][0]["status"]) == ("cancelled", "incomplete")
        else:
            await is_unknown(proxy, id)
    assert failing.engine is not None
    assert (await failing.engine.size()).responses == (how == "a stream")


async def test_u04_who_leaves_after_the_last_word_is_answered_all_the_same(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the last piece of text and the commit."""
    saving, may_save, save = asyncio.Event(), asyncio.Event(), MemoryRecords.save

    async def slow(*args: Any) -> Any:
        saving.set()
        await may_save.wait()
        return await save(*args)

    monkeypatch.setattr(MemoryRecords, "save", slow)
    async with half_said(backend, proxy) as (response, id, line):
        line.send(finish(), usage(), DONE, END)
        await asyncio.wait_for(saving.wait(), PROMPTLY)
        response.close()
        line.close()
    assert (await got(proxy, id))[0] == 404
    may_save.set()
    await proxy.log.wait_for("request")
    assert (await got(proxy, id))[1]["status"] == "completed"


async def test_t24_a_refusal_leaves_nothing_and_a_failure_its_record(
    backend: ScriptedBackend, failing: Failing, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(retries={"attempts": 1})
    no = answer(400, {"error": {"message": "No."}})
    backend.answers(no, no, HEAD + text("Hel") + END)
    assert failing.engine is not None
    for stream in (False, True):
        assert (await refused(proxy, stream=stream))[0] == 400
        assert (await failing.engine.size()).responses == 0
    failed = final(await proxy.stream())
    assert await got(proxy, failed["id"]) == (200, failed)


async def test_t06_what_another_tenant_has_is_as_unknown_as_anything(start_proxy: StartProxy) -> None:
    """As a parent, as an item, as a conversation; and on each of its routes."""
    proxy = await start_proxy(tenants=TENANTS)
    ann, bob = shown_by("ann"), shown_by("bob")
    _, talk = await told(proxy, "POST", "/conversations", {}, **ann)
    async with proxy.post({"model": "m", "input": "Hi"}, **ann) as response:
        mine = await response.json()
    talk = talk.partition('"id":"')[2].partition('"')[0]
    nobody = "0" * 48
    for theirs, unknown, body in (
        (mine["id"], f"resp_{nobody}", {"previous_response_id": "X"}),
        (mine["output"][0]["id"], f"msg_{nobody}", {"input": [{"type": "item_reference", "id": "X"}]}),
        (talk, f"conv_{nobody}", {"conversation": "X"}),
        (talk, f"conv_{nobody}", {"conversation": {"id": "X"}, "store": False}),
    ):
        seen = []
        for named in (theirs, unknown):
            asking = _with({"model": "m", "input": "Hi"} | body, named)
            status, words = await told(proxy, "POST", "/responses", asking, **bob)
            seen.append((status, words.replace(named, "X")))
        assert seen[0] == seen[1]
        assert seen[0][0] in (400, 404)
    for method, path in (("GET", ""), ("POST", ""), ("DELETE", ""), ("GET", "/items"), ("POST", "/items")):
        body = {"metadata": {}, "items": []} if method == "POST" else None
        seen = [
            (status, words.replace(named, "X"))
            for named in (talk, f"conv_{nobody}")
            for status, words in [await told(proxy, method, f"/conversations/{named}{path}", body, **bob)]
        ]
        assert seen[0] == seen[1]
        assert seen[0][0] == 404


def _with(body: Any, named: str) -> Any:
    if isinstance(body, dict):
        return {name: _with(value, named) for name, value in body.items()}
    return [_with(each, named) for each in body] if isinstance(body, list) else named if body == "X" else body


async def test_t71_a_deleted_conversation_is_unknown_to_turns_and_its_responses_stay(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    id = await made(proxy, items=[{"role": "user", "content": "Before"}])
    turn = await asked(proxy, conversation=id)
    assert len(await items(proxy, id)) == 3
    assert (await told(proxy, "DELETE", f"/conversations/{id}"))[0] == 200
    calls = len(backend.received)
    for store in (True, False):
        assert (await refused(proxy, conversation=id, store=store))[:2] == (404, "conversation_not_found")
    for path in ("", "/items"):
        assert (await told(proxy, "GET", f"/conversations/{id}{path}"))[0] == 404
    assert len(backend.received) == calls
    assert await got(proxy, turn["id"]) == (200, turn)
    await asked(proxy, input="More", previous_response_id=turn["id"])
    assert sent(backend) == [("user", "Before\n\nHi"), ("assistant", "Hello"), ("user", "More")]


async def test_t12_neither_of_two_is_looked_up(failing: Failing, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    before = list(failing.asked)
    named = {"previous_response_id": "resp_" + "0" * 48, "conversation": "conv_" + "0" * 48}
    assert await refused(proxy, **named) == (400, "mutually_exclusive_parameters", None)
    assert {*failing.asked[len(before) :]} <= {"beat", "sweep", "settle"}
