"""Work that no client waits for: begun, polled, and what can go wrong with it (T43-T49, T54), over real sockets."""

import asyncio
from contextlib import suppress
from itertools import groupby
from typing import Any

import pytest

from tests.support.background import (
    FINAL,
    FollowingClients,
    Talker,
    begun,
    cancelled,
    deleted,
    ended,
    got,
    id_of,
    until,
)
from tests.support.proxies import Proxy, StartProxy, final
from tests.support.sockets import END, HEAD, PROMPTLY, ScriptedBackend, answer, finish, reply, text, usage
from tests.support.store_failing import Failing
from tests.support.weather import CALL, WEATHER
from tests.support.websockets import talking


async def test_t43_the_answer_comes_before_the_backends(backend: ScriptedBackend, proxy: Proxy) -> None:
    """T43, T44."""
    talker = Talker()
    backend.plays(talker)
    queued = await begun(proxy)
    assert (queued["status"], queued["output"], queued["usage"]) == ("queued", [], None)
    assert (queued["background"], queued["store"]) == (True, True)
    running = await until(proxy, queued["id"], "in_progress")
    assert running == queued | {"status": "in_progress"}
    await talker.says(text("Hello"))
    assert (await got(proxy, queued["id"]))[1]["status"] == "in_progress"
    await talker.ends()
    done = await ended(proxy, queued["id"])
    assert (done["status"], done["output"][0]["content"][0]["text"]) == ("completed", "Hello")
    assert done["completed_at"] >= done["created_at"]
    assert done["usage"]["total_tokens"] == 8
    for _ in range(2):
        assert await got(proxy, queued["id"]) == (200, done)


async def test_t44_a_status_never_goes_back(backend: ScriptedBackend, proxy: Proxy) -> None:
    """However often it is asked for, and whenever: also at the moment in which it changes."""
    talker = Talker()
    backend.plays(talker)
    id = (await begun(proxy))["id"]
    seen = ["queued"]

    async def poll() -> None:
        while seen[-1] not in FINAL:
            seen.append((await got(proxy, id))[1]["status"])

    async with asyncio.timeout(PROMPTLY), asyncio.TaskGroup() as pollers:
        pollers.create_task(poll())
        await talker.says(text("Hello"))
        await talker.ends()
    assert list(dict.fromkeys(seen)) == [status for status, _ in groupby(seen)]
    assert seen[-1] == "completed"


async def test_t44_the_line_in_the_log_is_that_of_any_request(proxy: Proxy) -> None:
    queued = await begun(proxy)
    line = await proxy.log.wait_for("request")
    assert (line["status"], line["ending"], line["background"]) == (200, "completed", True)
    assert line["stored"] is True
    assert line["response_id"] == queued["id"]
    assert line["output_tokens"] == 5


async def test_it_is_continued_like_any_other(backend: ScriptedBackend, proxy: Proxy) -> None:
    first = await ended(proxy, (await begun(proxy))["id"])
    await ended(proxy, (await begun(proxy, input="More", previous_response_id=first["id"]))["id"])
    said = [message["content"] for message in backend.received[-1].json["messages"]]
    assert said == ["Hi", "Hello", "More"]


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ({"temperature": 9}, (400, "invalid_value", "temperature")),
        ({"input": None}, (400, "missing_required_parameter", "input")),
        ({"previous_response_id": "resp_1"}, (400, "previous_response_not_found", "previous_response_id")),
        ({"conversation": "conv_1"}, (404, "conversation_not_found", None)),
        ({"background": "yes"}, (400, "invalid_type", "background")),
        ({"tools": [{"type": "function", "name": ""}]}, (400, "invalid_value", "tools[0].name")),
    ],
)
async def test_t45_what_is_wrong_is_refused_at_once(
    backend: ScriptedBackend,
    failing: Failing,
    start_proxy: StartProxy,
    wrong: dict[str, Any],
    refusal: tuple[int, str, str | None],
) -> None:
    """And there is no response."""
    proxy = await start_proxy()
    status, error = await proxy.refused(**{"background": True} | wrong)
    assert (status, error["code"], error["param"]) == refusal
    assert backend.received == []
    assert (await failing.engine.size()).responses == 0


async def test_t08_a_run_is_no_parent(backend: ScriptedBackend, proxy: Proxy) -> None:
    talker = Talker()
    backend.plays(talker)
    run = await begun(proxy)
    status, error = await proxy.refused(previous_response_id=run["id"])
    assert (status, error["code"]) == (400, "previous_response_not_completed")
    await talker.says(text("Hello"))
    await talker.ends()
    done = await ended(proxy, run["id"])
    assert (done["status"], done["output"][0]["content"][0]["text"]) == ("completed", "Hello")
    assert len(backend.received) == 1


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("says", "status", "why"),
    [
        (answer(400, {"error": {"message": "No."}}), "failed", "server_error"),
        (HEAD + text("Hel") + END, "failed", "upstream_stream_truncated"),
        (HEAD + text("Hel") + finish("length") + usage() + END, "incomplete", "max_output_tokens"),
        (HEAD + text("Hel") + finish("content_filter") + usage() + END, "incomplete", "content_filter"),
    ],
)
async def test_t46_it_ends_as_in_the_foreground(
    backend: ScriptedBackend, start_proxy: StartProxy, says: bytes, status: str, why: str, stream: bool
) -> None:
    proxy = await start_proxy(retries={"attempts": 1})
    backend.answers(says)
    if stream:
        async with FollowingClients(proxy) as watchers:
            found = await (await watchers.begin()).all()
        id = id_of(found)
        assert found[-2].data["response"] == (await got(proxy, id))[1]
    else:
        id = (await begun(proxy))["id"]
    done = await ended(proxy, id)
    said = done["error"]["code"] if status == "failed" else done["incomplete_details"]["reason"]
    assert (done["status"], said) == (status, why)
    assert done["completed_at"] is None


async def test_t46_a_call_that_does_not_fit_ends_it_as_in_the_foreground(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    tool = WEATHER | {"parameters": {"type": "object", "properties": {"city": {}}, "required": ["city"]}}
    backend.answers(reply(CALL))
    body = {"tools": [tool], "request_options": {"validate_tool_arguments": True}}
    before = final(await proxy.stream(**body))
    done = await ended(proxy, (await begun(proxy, **body))["id"])
    assert done["status"] == before["status"] == "failed"
    assert done["error"] == before["error"]
    assert done["error"]["code"] == "invalid_tool_arguments"


async def test_t46_it_may_not_take_longer_than_any_other(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"total_seconds": 0.2}, retries={"attempts": 1})
    talker = Talker()
    backend.plays(talker)
    run = await begun(proxy, stream=False)
    await talker.says(text("Hel"))
    done = await ended(proxy, run["id"])
    assert (done["status"], done["error"]["code"]) == ("failed", "upstream_timeout")


async def test_t47_without_store_it_can_be_read_and_not_continued(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    run = await begun(proxy, store=False)
    assert run["store"] is False
    done = await ended(proxy, run["id"])
    assert (done["status"], done["store"]) == ("completed", False)
    status, error = await proxy.refused(previous_response_id=run["id"])
    assert (status, error["code"]) == (400, "previous_response_not_found")
    async with FollowingClients(proxy) as watchers:
        found = await (await watchers.begin(store=False)).all()
        id = id_of(found)
        assert found[-2].data["response"] == (await got(proxy, id))[1]
        assert await (await watchers.resume(id, starting_after=4)).all() == found[5:]
    named = {"type": "item_reference", "id": done["output"][0]["id"]}
    assert (await proxy.refused(input=[named]))[0] == 404
    talker = Talker()
    backend.plays(talker)
    other = await begun(proxy, store=False)
    assert (await cancelled(proxy, other["id"]))[1]["status"] == "cancelled"
    assert (await deleted(proxy, other["id"]))[0] == 200


async def test_t48_it_is_not_offered_where_nothing_is_kept(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(store={"url": "off"})
    status, error = await proxy.refused(background=True)
    assert (status, error["code"], error["param"]) == (400, "unsupported_parameter", "background")


async def test_t48_nor_on_a_websocket(proxy: Proxy) -> None:
    async with talking(proxy.url) as talk:
        await talk.ask(background=True)
        (error,) = await talk.heard()
    assert (error["status"], error["error"]["param"]) == (400, "background")


@pytest.mark.parametrize("after", ["response.created", "response.output_text.delta"])
async def test_t49_it_goes_on_when_its_client_leaves(
    backend: ScriptedBackend, proxy: Proxy, after: str
) -> None:
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until(after))
    await talker.says(text("lo"))
    await talker.ends()
    done = await ended(proxy, id)
    assert (done["status"], done["output"][0]["content"][0]["text"]) == ("completed", "Hello")


async def test_t49_nor_does_it_matter_that_nobody_took_the_first_event(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Its client has left before it had any answer."""
    talker = Talker()
    backend.plays(talker)
    async with asyncio.timeout(5):
        while not talker.asked.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(0.02):
                    await begun(proxy)
    await talker.ends()
    line = await proxy.log.wait_for("request")
    assert line["background"] is True


async def test_t54_there_are_only_so_many_places(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """U37."""
    proxy = await start_proxy(background={"limit": 1})
    talker = Talker()
    backend.plays(talker)
    run = await begun(proxy)
    await asyncio.wait_for(talker.asked.wait(), PROMPTLY)
    backend.answers(reply(text("Fine")))
    async with proxy.post({"model": "m", "input": "Hi", "background": True}) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "5")
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        assert response.status == 200, "who waits for an answer takes no place"
    await talker.ends()
    await ended(proxy, run["id"])
    assert (await ended(proxy, (await begun(proxy))["id"]))["status"] == "completed"


async def test_u36_it_waits_for_a_place_at_the_backend(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"max_concurrent": 1, "wait_seconds": 0.3}, retries={"attempts": 1})
    talker = Talker()
    backend.plays(talker)
    first = await begun(proxy)
    await until(proxy, first["id"], "in_progress")
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        second = id_of(await watching.until("response.queued"))
        assert (await got(proxy, second))[1]["status"] == "queued"
        found = await watching.all()
    done = await ended(proxy, second)
    assert (done["status"], done["error"]["code"]) == ("failed", "server_is_overloaded")
    assert found[-2].data["response"] == done
    assert len(backend.received) == 1


async def test_u36_it_gets_the_place_that_becomes_free(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"max_concurrent": 1, "wait_seconds": 30})
    first, second = Talker(), Talker()
    backend.plays(first)
    runs = [await begun(proxy)]
    await until(proxy, runs[0]["id"], "in_progress")
    runs.append(await begun(proxy))
    assert (await got(proxy, runs[1]["id"]))[1]["status"] == "queued"
    backend.plays(second)
    await first.says(text("One"))
    await first.ends()
    await until(proxy, runs[1]["id"], "in_progress")
    await second.says(text("Two"))
    await second.ends()
    assert {(await ended(proxy, run["id"]))["status"] for run in runs} == {"completed"}


async def test_t89_what_is_too_large_is_not_begun(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """T89: and what becomes too large fails, for nobody has its answer."""
    proxy = await start_proxy(store={"max_response_mib": 1})
    status, error = await proxy.refused(background=True, input="x" * 1_048_000)
    assert (status, error["param"]) == (413, "input")
    backend.answers(reply(text("x" * 2_000_000)))
    done = await ended(proxy, (await begun(proxy))["id"])
    assert (done["status"], done["error"]["code"]) == ("failed", "storage_error")
    assert done["output"] == []


async def test_runs_are_counted_by_their_state(backend: ScriptedBackend, proxy: Proxy) -> None:
    talker = Talker()
    backend.plays(talker)
    run = await begun(proxy)
    await until(proxy, run["id"], "in_progress")
    assert await counted(proxy) == {"queued": 0, "in_progress": 1}
    await talker.ends()
    await proxy.log.wait_for("request")
    await asyncio.sleep(0)
    assert await counted(proxy) == {"queued": 0, "in_progress": 0}


async def counted(proxy: Proxy) -> dict[str, float]:
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        lines = (await response.text()).splitlines()
    found = [line.split(" ") for line in lines if line.startswith("responses_proxy_runs{")]
    return {name.split('"')[1]: float(count) for name, count in found}
