"""A stream of work in the background, followed again from any place (T58-T68, T94), over real sockets."""

import asyncio
from typing import Any

import orjson
import pytest
from openai import AsyncOpenAI

from proxy.core.tenants import ANYBODY
from proxy.shell.http import connection
from proxy.shell.runs.followers import Follower, Followers
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.protocol import Cursor, Key
from tests.support.background import (
    FollowingClient,
    FollowingClients,
    Talker,
    begun,
    cancelled,
    deleted,
    ended,
    got,
    id_of,
    numbers,
)
from tests.support.proxies import Event, Proxy, StartProxy, names
from tests.support.sockets import (
    END,
    HEAD,
    PROMPTLY,
    ScriptedBackend,
    answer,
    delta,
    finish,
    reply,
    text,
    usage,
)
from tests.support.store_failing import Failing
from tests.support.weather import CALL, WEATHER

STANDARD = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
    "done",
]


async def whole(proxy: Proxy, **body: Any) -> list[Event]:
    async with FollowingClients(proxy) as watchers:
        return await (await watchers.begin(**body)).all()


async def resumed(proxy: Proxy, id: str, **query: Any) -> list[Event]:
    async with FollowingClients(proxy) as watchers:
        return await (await watchers.resume(id, **query)).all()


async def test_t58_any_place_joins_to_the_whole_after_the_end(proxy: Proxy) -> None:
    """T58, T59, T67."""
    found = await whole(proxy)
    assert names(found) == STANDARD
    assert numbers(found) == list(range(len(found) - 1))
    assert [event.data["response"]["status"] for event in found[:3]] == ["queued", "queued", "in_progress"]
    id = id_of(found)
    assert found[-2].data["response"] == (await got(proxy, id))[1]
    assert await resumed(proxy, id) == found
    for after in range(len(found)):
        assert await resumed(proxy, id, starting_after=after) == found[after + 1 :] or after >= len(found) - 2
    for after in (len(found) - 2, len(found), 10**30):
        assert names(await resumed(proxy, id, starting_after=after)) == ["done"]


async def test_t58_any_place_joins_to_the_whole_while_it_runs(backend: ScriptedBackend, proxy: Proxy) -> None:
    """T59: a place that is not reached yet gets what comes behind it."""
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        first = await watchers.begin()
        await talker.says(text("a"))
        id = id_of(await first.until("response.output_text.delta"))
        early = await watchers.resume(id)
        later = await watchers.resume(id, starting_after=3)
        beyond = await watchers.resume(id, starting_after=6)
        await early.until("response.output_text.delta")
        await talker.says(text("b"))
        await talker.says(text("c"))
        await talker.ends()
        found = await first.all()
        assert await early.all() == found
        assert await later.all() == found[4:]
        assert await beyond.all() == found[7:]


@pytest.mark.parametrize("place", ["-1", "x", "1e99", ""])
async def test_t60_what_is_no_place_is_refused(proxy: Proxy, place: str) -> None:
    id = id_of(await whole(proxy))
    status, refusal = await got(proxy, id, stream="true", starting_after=place)
    assert (status, refusal["error"]["code"], refusal["error"]["param"]) == (
        400,
        "invalid_value",
        "starting_after",
    )


async def test_t61_only_a_stream_in_the_background_can_be_resumed(proxy: Proxy) -> None:
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        waited = (await response.json())["id"]
    polled = (await ended(proxy, (await begun(proxy))["id"]))["id"]
    for id, word in ((waited, "background=true"), (polled, "stream=true")):
        status, refusal = await got(proxy, id, stream="true")
        assert (status, refusal["error"]["param"]) == (400, "stream")
        assert f"not created with {word}" in refusal["error"]["message"]
    assert (await got(proxy, "resp_" + "0" * 48, stream="true"))[0] == 404


async def test_t62_openais_client_resumes(proxy: Proxy) -> None:
    id = id_of(await whole(proxy))
    async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="k") as client:
        async with client.responses.stream(response_id=id, starting_after=4) as stream:
            helped = [event async for event in stream]
            final = await stream.get_final_response()
        raw = [event async for event in await client.responses.retrieve(id, stream=True, starting_after=4)]
        again = await client.responses.retrieve(id)
        begun = await client.responses.create(model="m", input="Hi", background=True, stream=True)
        live = [event.type async for event in begun]
    assert all(event.sequence_number > 4 for event in helped if hasattr(event, "sequence_number"))
    assert [event.sequence_number for event in raw] == [5, 6, 7, 8, 9]
    assert final.output_text == again.output_text == "Hello"
    assert final.status == "completed"
    assert live == STANDARD[:-1]


async def test_t63_who_does_not_read_holds_up_nobody(backend: ScriptedBackend, proxy: Proxy) -> None:
    """U44."""
    backend.answers(reply(*[text("x" * 4000) for _ in range(400)]))
    async with FollowingClients(proxy) as watchers:
        idle = await watchers.begin()
        id = id_of(await idle.until("response.created"))
        others = await asyncio.gather(*(watchers.resume(id) for _ in range(9)))
        found = await asyncio.gather(*(each.all() for each in others))
        assert all(each == found[0] for each in found)
        assert len(found[0]) > 400
        assert await idle.all() == found[0]  # it was late, not lost


async def test_t63_who_reads_nothing_for_long_is_cut_off_and_may_come_back(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has missed anything: neither who was there, nor who comes back to the place that it knows."""
    monkeypatch.setattr(connection, "STALLED_SECONDS", 0.2)
    left, detach = asyncio.Semaphore(0), Followers.detach

    def noted(followers: Followers, follower: Follower) -> None:
        detach(followers, follower)
        left.release()

    monkeypatch.setattr(Followers, "detach", noted)
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        first = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await first.until("response.output_text.delta"))
        host, _, port = proxy.url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=4096)
        writer.write(f"GET /v1/responses/{id}?stream=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readuntil(b"response.queued")
        await talker.says(*(text("x" * 100_000) for _ in range(40)))
        await talker.ends()
        found = await first.all()
        async with asyncio.timeout(PROMPTLY):
            for _ in range(2):
                await left.acquire()
        writer.close()
        assert await (await watchers.resume(id, starting_after=0)).all() == found[1:]


@pytest.mark.parametrize(
    ("says", "last"),
    [
        (reply(text("Hello")), "response.completed"),
        (HEAD + text("Hel") + finish("length") + usage() + END, "response.incomplete"),
        (HEAD + text("Hel") + END, "response.failed"),
        (answer(400, {}), "response.failed"),
    ],
)
async def test_t65_the_last_event_is_the_same_for_ever(
    backend: ScriptedBackend, start_proxy: StartProxy, says: bytes, last: str
) -> None:
    proxy = await start_proxy(retries={"attempts": 1})
    backend.answers(says)
    found = await whole(proxy)
    assert names(found)[-2:] == [last, "done"]
    assert ("error" in names(found)) == (last == "response.failed")
    assert numbers(found) == list(range(len(found) - 1))
    assert await resumed(proxy, id_of(found)) == found


async def test_t65_and_so_it_is_for_what_was_cancelled(backend: ScriptedBackend, proxy: Proxy) -> None:
    """T64."""
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        await cancelled(proxy, id)
        found = await watching.all()
    assert found[-2].data["response"]["status"] == "cancelled"
    assert await resumed(proxy, id) == found


async def test_t66_events_may_vanish_the_response_does_not(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """U42: expired, or lost."""

    async def nothing(self: MemoryLive, wanted: Any, most_bytes: int) -> dict[Any, None]:
        return dict.fromkeys(wanted)

    id = id_of(await whole(proxy))
    monkeypatch.setattr(MemoryLive, "read", nothing)
    status, refusal = await got(proxy, id, stream="true")
    assert (status, refusal["error"]["param"]) == (400, "stream")
    assert "can no longer be streamed" in refusal["error"]["message"]
    assert (await got(proxy, id))[1]["status"] == "completed"


async def test_t66_a_log_over_its_limit_ends_for_those_who_come_later(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who follow go on, and the run is unharmed."""
    monkeypatch.setattr(MemoryLive.__init__, "__defaults__", (20_000, 1 << 20))
    proxy = await start_proxy()
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        await talker.says(text("lo" * 20_000))
        await talker.says(text("!"))
        await watching.until_text("!")
        assert (await got(proxy, id, stream="true"))[0] == 400
        await talker.ends()
        found = await watching.all()
    done = await ended(proxy, id)
    assert found[-2].data["response"] == done
    assert done["output"][0]["content"][0]["text"] == "Hel" + "lo" * 20_000 + "!"
    assert numbers(found) == list(range(len(found) - 1))


async def test_t67_standard_events_only(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Even for who gets more elsewhere."""
    backend.answers(reply(CALL))
    body = {"model": "m", "input": "Hi", "background": True, "stream": True, "tools": [WEATHER]}
    async with proxy.post(body, **{"x-proxy-events": "extended"}) as response:
        data = (await response.read()).decode()
    assert "output_tool_call" not in data
    assert "response.done" not in data
    assert "response.function_call_arguments.done" in data


async def told_by(client: FollowingClient) -> list[Event]:
    return [event for event in await client.all() if event.name != "comment"]


async def test_t67_silence_is_filled_with_comments(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """U40: also for who is ahead of the newest event, and gets exactly what follows."""
    proxy = await start_proxy(server={"heartbeat_seconds": 0.1, "patience_seconds": 0.1})
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        seen = await watching.until("response.output_text.delta")
        await watching.until("comment")
        newest = numbers(seen)[-1]
        ahead = await watchers.resume(id_of(seen), starting_after=newest + 1)
        assert {event.name for event in await ahead.until("comment")} == {"comment"}
        await talker.says(text("l"))
        await watching.until_text("l")
        await talker.says(text("o"))
        await talker.ends()
        found, late = await told_by(watching), await told_by(ahead)
    assert numbers(found) == list(range(len(found) - 1))
    assert late == found[newest + 2 :]


async def test_t94_who_comes_at_the_moment_of_the_end_gets_it_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    for n in range(10):
        talker = Talker()
        backend.plays(talker)
        async with FollowingClients(proxy) as watchers:
            first = await watchers.begin()
            await talker.says(text("Hello"))
            id = id_of(await first.until("response.output_text.delta"))
            await talker.ends()
            await asyncio.sleep(n * 0.001)
            second = await watchers.resume(id, starting_after=4)
            found = await first.all()
            assert await second.all() == found[5:]


async def test_t35_deleted_with_its_events(failing_live: Failing, start_proxy: StartProxy) -> None:
    """None of them is kept any more."""
    proxy = await start_proxy()
    id = id_of(await whole(proxy))
    cursor = Cursor(Key(ANYBODY.name, id), 0)
    found = await failing_live.engine.read([cursor], 1 << 20)
    assert len(found[cursor].events) == len(STANDARD) - 1
    assert (await deleted(proxy, id))[0] == 200
    assert (await got(proxy, id, stream="true"))[0] == 404
    assert await failing_live.engine.read([cursor], 1 << 20) == {cursor: None}


async def test_what_a_run_has_said_so_far_is_there_for_who_polls(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(delta(reasoning_content="Hm."), text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        (thought,) = (await got(proxy, id))[1]["output"]
        assert orjson.dumps(thought["summary"]) == b'[{"type":"summary_text","text":"Hm."}]'
        await talker.ends()
        await watching.all()
