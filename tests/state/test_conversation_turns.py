"""Turns of a conversation: it is their history, and they become its items (T75-T82)."""

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest

from proxy.shell.stores.memory.records import MemoryRecords
from tests.support.background import got
from tests.support.proxies import Proxy, StartProxy, final
from tests.support.sockets import (
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    delta,
    finish,
    reply,
    silent_after_hello,
    text,
    usage,
)
from tests.support.state import asked, items, made, refused, sent
from tests.support.store_failing import Date, Failing
from tests.support.weather import CALL, WEATHER

DAY = 86_400


def texts(found: list[dict[str, object]]) -> list[object]:
    return [item["content"][0]["text"] for item in found]  # type: ignore[index]


@pytest.mark.parametrize("stream", [True, False])
async def test_t75_the_second_turn_sees_the_first(
    backend: ScriptedBackend, proxy: Proxy, stream: bool
) -> None:
    """T76: named by its id, or by an object that has it."""
    backend.answers(reply(text("One")), reply(text("Two")))
    id = await made(proxy)
    first = await asked(proxy, conversation=id, instructions="Be brief.")
    body = {"input": "More", "conversation": {"id": id}}
    second = final(await proxy.stream(**body)) if stream else await asked(proxy, **body)
    assert first["conversation"] == second["conversation"] == {"id": id}
    assert sent(backend) == [("user", "Hi"), ("assistant", "One"), ("user", "More")]
    found = await items(proxy, id)
    assert texts(found) == ["Hi", "One", "More", "Two"]
    assert found[1]["id"] == first["output"][0]["id"]
    assert "conversation" not in await asked(proxy)


async def test_t74_what_is_taken_out_is_gone_for_whoever_comes_later(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Not for a turn that has seen it: who continues that one has its history."""
    id = await made(proxy, items=[{"role": "user", "content": "Before"}])
    turn = await asked(proxy, conversation=id)
    [before, hi, hello] = await items(proxy, id)
    url = f"{proxy.url}/v1/conversations/{id}/items"
    async with proxy.session.delete(f"{url}/{before['id']}") as response:
        assert response.status == 200
    assert await items(proxy, id) == [hi, hello]
    async with proxy.session.get(f"{url}/{before['id']}") as response:
        assert response.status == 404
    await asked(proxy, input="More", conversation=id)
    assert sent(backend) == [("user", "Hi"), ("assistant", "Hello"), ("user", "More")]
    await asked(proxy, input="Else", previous_response_id=turn["id"])
    assert sent(backend) == [("user", "Before\n\nHi"), ("assistant", "Hello"), ("user", "Else")]


@pytest.mark.parametrize(
    ("named", "code", "param"),
    [
        ({}, "missing_required_parameter", "conversation.id"),
        (7, "invalid_type", "conversation"),
        ("abc", "invalid_value", "conversation"),
        ({"id": "abc"}, "invalid_value", "conversation.id"),
    ],
)
async def test_t76_what_names_no_conversation_is_refused(
    backend: ScriptedBackend, proxy: Proxy, named: Any, code: str, param: str
) -> None:
    assert await refused(proxy, conversation=named) == (400, code, param)
    assert backend.received == []


async def test_t77_a_busy_conversation_is_locked_until_its_turn_ends(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """T78: reads are free, and the client's own retry succeeds later."""
    id = await made(proxy)
    goes_on, arrived = asyncio.Event(), asyncio.Semaphore(0)

    async def slow(line: Line) -> None:
        while True:
            await line.request()
            arrived.release()
            await goes_on.wait()
            line.send(reply(text("Hello")))

    backend.plays(slow)
    first = asyncio.create_task(asked(proxy, conversation=id))  # noqa: TID251 - awaited below
    await arrived.acquire()
    status, error = await proxy.refused(conversation=id)
    assert (status, error["code"], error["param"]) == (400, "conversation_locked", "conversation")
    async with proxy.post({"model": "m", "input": "Hi", "conversation": id}) as response:
        assert response.headers["x-should-retry"] == "true"
        assert int(response.headers["retry-after-ms"]) > 0
    url = f"{proxy.url}/v1/conversations/{id}"
    async with proxy.session.delete(url) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (400, "conversation_locked")
    async with proxy.session.get(url) as response:
        assert response.status == 200
    without = asyncio.create_task(asked(proxy, conversation=id, store=False))  # noqa: TID251
    await arrived.acquire()
    goes_on.set()
    await first
    assert (await without)["store"] is False
    assert (await asked(proxy, conversation=id))["status"] == "completed"
    assert len(await items(proxy, id)) == 4


async def test_t77_the_sdks_own_retry_succeeds(backend: ScriptedBackend, proxy: Proxy) -> None:
    id = await made(proxy)
    client = openai.AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="none")
    async with client:
        both = await asyncio.gather(
            *(client.responses.create(model="m", input=f"{n}", conversation=id) for n in range(2))
        )
    assert [each.status for each in both] == ["completed", "completed"]
    assert len(await items(proxy, id)) == 4


async def test_t79_a_turn_that_fails_adds_nothing_and_frees_the_lock(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(retries={"attempts": 1})
    id = await made(proxy)
    refusal = answer(400, {"error": {"message": "No."}})
    backend.answers(refusal, HEAD + text("Hel") + END, reply(text("Fine")))
    assert (await proxy.refused(conversation=id))[0] == 400
    assert final(await proxy.stream(conversation=id))["status"] == "failed"
    assert (await refused(proxy, conversation=id, input=[{"type": "item_reference", "id": "msg_0"}]))[
        0
    ] == 404
    assert await items(proxy, id) == []
    assert (await asked(proxy, conversation=id))["status"] == "completed"


@pytest.mark.parametrize("stream", [True, False])
async def test_t79_of_a_turn_that_was_cut_short_all_but_half_a_call_is_added(
    backend: ScriptedBackend, proxy: Proxy, stream: bool
) -> None:
    id = await made(proxy)
    half = delta(tool_calls=[{"index": 1, "id": "call_2", "function": {"name": "f", "arguments": '{"a'}}])
    cut = HEAD + text("Let me") + CALL + half + finish("length") + usage() + END
    backend.answers(cut, reply(text("Fine")))
    body = {"conversation": id, "tools": [WEATHER, WEATHER | {"name": "f"}]}
    turn = final(await proxy.stream(**body)) if stream else await asked(proxy, **body)
    assert turn["status"] == "incomplete"
    assert [item["type"] for item in await items(proxy, id)] == ["message", "message", "function_call"]
    result = {"type": "function_call_output", "call_id": turn["output"][1]["call_id"], "output": "sun"}
    assert (await asked(proxy, input=[result], **body))["status"] == "completed"
    assert sent(backend) == [("user", "Hi"), ("assistant", "Let me"), ("tool", "sun")]


async def test_t79_who_is_refused_may_ask_again_at_once(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever hears the refusal finds the conversation free, however long the store takes to unlock it."""
    unlocking, may_unlock, unlock = asyncio.Event(), asyncio.Event(), MemoryRecords.unlock

    async def slow(*args: Any) -> None:
        unlocking.set()
        await may_unlock.wait()
        await unlock(*args)

    monkeypatch.setattr(MemoryRecords, "unlock", slow)
    id = await made(proxy)
    backend.answers(answer(400, {"error": {"message": "No."}}), reply(text("Fine")))
    refusal = asyncio.create_task(proxy.refused(conversation=id))  # noqa: TID251 - awaited below
    await asyncio.wait_for(unlocking.wait(), PROMPTLY)
    for _ in range(3):
        assert await items(proxy, id) == []
    assert not refusal.done()
    may_unlock.set()
    assert (await refusal)[0] == 400
    assert (await asked(proxy, conversation=id))["status"] == "completed"


async def test_t21_a_conversation_of_very_much_can_be_made_smaller(
    backend: ScriptedBackend, start_proxy: StartProxy, tmp_path: Path
) -> None:
    """Nobody loads all of it to find out that it is too much. A walk in small pages finds what to delete."""
    proxy = await start_proxy(
        server={"body_limit_mib": 1}, store={"url": f"sqlite:{tmp_path}", "max_response_mib": 1}
    )
    id = await made(proxy)
    url = f"{proxy.url}/v1/conversations/{id}/items"
    for _ in range(4):
        message = {"role": "user", "content": "x" * 700_000}
        async with proxy.session.post(url, json={"items": [message]}) as response:
            assert response.status == 200
            last = (await response.json())["last_id"]
    for path in ("", "?limit=3"):
        async with proxy.session.get(url + path) as response:
            assert (response.status, (await response.json())["error"]["code"]) == (413, "request_too_large")
    for body in ({}, {"store": False}):
        assert (await refused(proxy, conversation=id, **body))[:2] == (413, "request_too_large")
    while last is not None:
        async with proxy.session.delete(f"{url}/{last}") as response:
            assert response.status == 200
        async with proxy.session.get(f"{url}?limit=1") as response:
            last = (await response.json())["last_id"]
    assert (await asked(proxy, conversation=id))["status"] == "completed"


async def test_t79_a_call_and_an_output_that_its_client_calls_incomplete_stay_a_pair(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Each of them alone would have every later turn refused, or the model told that nobody answered."""
    pair = [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": "incomplete"},
        {"type": "function_call_output", "call_id": "c", "output": "18", "status": "incomplete"},
    ]
    id = await made(proxy)
    first = await asked(proxy, conversation=id, input=[{"role": "user", "content": "Hi"}, *pair])
    await asked(proxy, conversation=id, input="More")
    assert [role for role, _ in sent(backend)] == ["user", "assistant", "tool", "assistant", "user"]
    assert ("tool", "18") in sent(backend)
    async with proxy.session.get(f"{proxy.url}/v1/responses/{first['id']}/input_items") as response:
        listed = [item["type"] for item in (await response.json())["data"]]
    assert listed == ["function_call_output", "function_call", "message"]


async def test_t79_a_client_that_leaves_frees_the_lock(backend: ScriptedBackend, proxy: Proxy) -> None:
    id = await made(proxy)

    backend.plays(silent_after_hello)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True, "conversation": id}) as response:
        await response.content.readuntil(b"response.output_text.delta")
    await proxy.log.wait_for("request")
    backend.answers(reply(text("Fine")))
    client = openai.AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="none")
    async with client:  # the lock is given back by the store's own task, perhaps a moment later
        again = await client.responses.create(model="m", input="Again", conversation=id)
    assert again.status == "completed"
    assert texts(await items(proxy, id)) == ["Again", "Fine"]


async def test_t80_a_turn_of_it_may_be_continued_by_its_id_alone(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    id = await made(proxy, items=[{"role": "user", "content": "Before"}])
    first = await asked(proxy, conversation=id)
    await asked(proxy, input="Later", conversation=id)
    branch = await asked(proxy, input="Elsewhere", previous_response_id=first["id"])
    assert "conversation" not in branch
    assert sent(backend) == [
        ("user", "Before\n\nHi"),
        ("assistant", "Hello"),
        ("user", "Elsewhere"),
    ]
    assert len(await items(proxy, id)) == 5


async def test_t81_without_storing_nothing_is_added(backend: ScriptedBackend, proxy: Proxy) -> None:
    id = await made(proxy, items=[{"role": "user", "content": "Before"}])
    turn = await asked(proxy, conversation=id, store=False)
    assert turn["store"] is False
    assert any("conversation" in warning for warning in turn["_proxy"]["warnings"])
    assert sent(backend) == [("user", "Before\n\nHi")]
    assert len(await items(proxy, id)) == 1
    assert (await got(proxy, turn["id"]))[0] == 404


async def test_t71_an_unknown_one_is_refused(backend: ScriptedBackend, proxy: Proxy) -> None:
    unknown = "conv_" + "0" * 48
    for store in (True, False):
        status, error = await proxy.refused(conversation=unknown, store=store)
        assert (status, error["message"]) == (404, f"Conversation with id '{unknown}' not found.")
    assert backend.received == []


async def test_t71_what_cannot_be_one_is_not_looked_up(failing: Failing, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    for never in ("conv_../etc", "conv_" + "0" * 4000):
        assert (await refused(proxy, conversation=never))[:2] == (404, "conversation_not_found")
    assert not {"lock", "entries"} & set(failing.asked)


@pytest.mark.parametrize("stream", [True, False])
async def test_u47_a_turn_that_its_conversation_would_lack_has_failed(
    failing: Failing, start_proxy: StartProxy, stream: bool
) -> None:
    """T84."""
    proxy = await start_proxy()
    id = await made(proxy)
    failing.down = {"save"}
    if stream:
        failed = final(await proxy.stream(conversation=id))
        assert (failed["status"], failed["error"]["code"], failed["store"]) == (
            "failed",
            "storage_error",
            False,
        )
    else:
        assert await refused(proxy, conversation=id) == (503, "storage_error", None)
    failing.down = set()
    assert await items(proxy, id) == []


async def test_a_conversation_ends_so_many_days_after_its_last_use(
    date: Date, start_proxy: StartProxy
) -> None:
    """Reading is no use; its responses stay, and can be continued."""
    proxy = await start_proxy(store={"conversation_days": 2})
    used, left = await made(proxy), await made(proxy)
    date.seconds += DAY
    answer = await asked(proxy, conversation=used)
    assert len(await items(proxy, left)) == 0
    date.seconds += DAY
    assert await refused(proxy, conversation=left) == (404, "conversation_not_found", None)
    assert len(await items(proxy, used)) == 2
    date.seconds += DAY
    assert await refused(proxy, conversation=used) == (404, "conversation_not_found", None)
    again = await asked(proxy, previous_response_id=answer["id"])
    assert again["previous_response_id"] == answer["id"]


async def test_a_conversation_is_kept_for_ever_unless_the_settings_say_otherwise(
    date: Date, proxy: Proxy
) -> None:
    id = await made(proxy)
    date.seconds += 10_000 * DAY
    assert (await asked(proxy, conversation=id))["conversation"] == {"id": id}
