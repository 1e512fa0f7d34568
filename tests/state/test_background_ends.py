"""How work in the background ends before its model does (T50-T53, T64, T77, T79, T92, T93), over real sockets."""

import asyncio
from typing import Any

import pytest
from openai import AsyncOpenAI, NotFoundError

from tests.support.background import (
    FollowingClients,
    Talker,
    begun,
    cancelled,
    deleted,
    ended,
    got,
    id_of,
    numbers,
    until,
)
from tests.support.proxies import Proxy, StartProxy, names
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

IN_FLIGHT = "Cannot delete an in-flight response."


async def left(talker: Talker) -> None:
    async with asyncio.timeout(1):
        await talker.left.wait()


@pytest.mark.parametrize("stream", [True, False])
async def test_t50_cancelling_leaves_the_backend(
    backend: ScriptedBackend, proxy: Proxy, stream: bool
) -> None:
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        if stream:
            watching = await watchers.begin()
            await talker.says(text("Hel"))
            id = id_of(await watching.until("response.output_text.delta"))
        else:
            id = (await begun(proxy))["id"]
            await until(proxy, id, "in_progress")
            await asyncio.wait_for(talker.asked.wait(), PROMPTLY)
        status, found = await cancelled(proxy, id)
        assert (status, found["status"], found["error"], found["completed_at"]) == (
            200,
            "cancelled",
            None,
            None,
        )
        await left(talker)
        if stream:
            (message,) = found["output"]
            assert (message["status"], message["content"][0]["text"]) == ("incomplete", "Hel")
            seen = await watching.all()
            assert names(seen)[-3:] == ["response.output_text.delta", "response.failed", "done"]
            assert "error" not in names(seen)
            assert seen[-2].data["response"] == found
            assert numbers(seen) == list(range(len(seen) - 1))
    assert await got(proxy, id) == (200, found)
    line = await proxy.log.wait_for("request")
    assert line["status"] == 499
    assert proxy.log.named("run_result_dropped") == []


async def test_t50_queued_work_is_cancelled_before_the_backend_is_asked(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"max_concurrent": 1})
    talker = Talker()
    backend.plays(talker)
    first = await begun(proxy)
    await until(proxy, first["id"], "in_progress")
    second = await begun(proxy)
    assert (await cancelled(proxy, second["id"]))[1]["status"] == "cancelled"
    await proxy.log.wait_for("request")
    await talker.ends()
    await ended(proxy, first["id"])
    assert len(backend.received) == 1


async def test_t51_cancelling_twice_is_cancelling_once(backend: ScriptedBackend, proxy: Proxy) -> None:
    """T51, also at once; U31."""
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        answers = await asyncio.gather(*(cancelled(proxy, id) for _ in range(5)))
        assert answers == [(200, answers[0][1])] * 5
        seen = await watching.all()
    assert names(seen).count("response.failed") == 1
    assert await cancelled(proxy, id) == answers[0]
    assert (await got(proxy, id)) == answers[0]


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (reply(text("Hello")), "Cannot cancel a completed response."),
        (answer(400, {}), "Cannot cancel a failed response."),
        (
            HEAD + text("Hel") + finish("length") + usage() + END,
            "Cannot cancel a response in terminal state.",
        ),
    ],
)
async def test_t52_what_has_ended_cannot_be_cancelled(
    backend: ScriptedBackend, start_proxy: StartProxy, says: bytes, words: str
) -> None:
    proxy = await start_proxy(retries={"attempts": 1})
    backend.answers(says)
    done = await ended(proxy, (await begun(proxy))["id"])
    status, refusal = await cancelled(proxy, done["id"])
    assert (status, refusal["error"]["message"]) == (400, words)
    assert (refusal["error"]["param"], refusal["error"]["code"]) == (None, None)


async def test_t52_nor_what_a_client_waited_for(proxy: Proxy) -> None:
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        done = await response.json()
    status, refusal = await cancelled(proxy, done["id"])
    assert (status, refusal["error"]["message"]) == (400, "Cannot cancel a synchronous response.")
    assert (await cancelled(proxy, "resp_" + "0" * 48))[0] == 404


async def test_t53_a_run_is_not_deleted_until_it_is_cancelled(backend: ScriptedBackend, proxy: Proxy) -> None:
    """U33: and what its backend says later brings nothing back."""
    talker = Talker()
    backend.plays(talker)
    run = await begun(proxy)
    await until(proxy, run["id"], "in_progress")
    status, refusal = await deleted(proxy, run["id"])
    assert (status, refusal["error"]["message"]) == (400, IN_FLIGHT)
    await cancelled(proxy, run["id"])
    assert (await deleted(proxy, run["id"]))[0] == 200
    await left(talker)
    await proxy.log.wait_for("request")
    assert (await got(proxy, run["id"]))[0] == 404


async def test_t10_what_was_finished_before_the_cancel_can_be_continued(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(delta(reasoning_content="Hm."), text("Hel"))
        id = id_of(await watching.until("response.output_text.delta"))
        running = (await got(proxy, id))[1]
        assert [item["type"] for item in running["output"]] == ["reasoning"]
        done = (await cancelled(proxy, id))[1]
    assert [item["type"] for item in done["output"]] == ["reasoning", "message"]
    backend.answers(reply(text("Fine")))
    async with proxy.post({"model": "m", "input": "On", "previous_response_id": id}) as response:
        again = await response.json()
    assert "cancelled" in again["_proxy"]["warnings"][0]
    said = [message["content"] for message in backend.received[-1].json["messages"]]
    assert said == ["Hi\n\nOn"], (
        "the thought is not for this backend, and what was said of the answer was not finished"
    )


# ── races ──


async def cancelled_after(proxy: Proxy, id: str, seconds: float) -> tuple[int, Any]:
    await asyncio.sleep(seconds)
    return await cancelled(proxy, id)


async def ends_after(talker: Talker, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await talker.ends()


async def test_t92_one_end_wins_whoever_comes_first(backend: ScriptedBackend, proxy: Proxy) -> None:
    """T92, U31: the answer to the cancel, the stream, and all that is read later agree."""
    ends = set()
    certain = 0.5
    for later in (-certain, *(n * 0.0004 for n in range(22)), certain):
        talker = Talker()
        backend.plays(talker)
        async with FollowingClients(proxy) as watchers:
            watching = await watchers.begin()
            await talker.says(text("Hello"))
            id = id_of(await watching.until("response.output_text.delta"))
            ending = ends_after(talker, later)
            (status, found), _ = await asyncio.gather(cancelled_after(proxy, id, -later), ending)
            seen = await watching.all()
        done = (await got(proxy, id))[1]
        ends.add(done["status"])
        assert (status, found) == (200, done) if done["status"] == "cancelled" else (status == 400)
        assert [name for name in names(seen) if name in ("response.failed", "response.completed")] == [
            "response.failed" if done["status"] == "cancelled" else "response.completed"
        ]
        assert seen[-2].data["response"] == done
        assert "error" not in names(seen)
        assert numbers(seen) == list(range(len(seen) - 1))
    assert ends == {"completed", "cancelled"}


async def test_t93_deleting_races_the_end(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(reply(text("Hello")))
    for n in range(30):
        run = await begun(proxy)
        await asyncio.sleep(n * 0.0005)
        status, found = await deleted(proxy, run["id"])
        if status == 400:
            assert found["error"]["message"] == IN_FLIGHT
            await ended(proxy, run["id"])
        else:
            assert (await got(proxy, run["id"]))[0] == 404


# ── conversations ──


async def conversation(proxy: Proxy, path: str = "", **body: Any) -> Any:
    async with proxy.session.request(
        "GET" if path else "POST", f"{proxy.url}/v1/conversations{path}", json=body or None
    ) as response:
        assert response.status == 200, await response.text()
        return await response.json()


async def test_t77_a_conversation_is_locked_until_the_run_ends(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """And has its items then."""
    talker = Talker()
    backend.plays(talker)
    talk = (await conversation(proxy))["id"]
    run = await begun(proxy, conversation=talk)
    assert run["conversation"] == {"id": talk}
    await until(proxy, run["id"], "in_progress")
    for background in (True, False):
        status, error = await proxy.refused(conversation=talk, background=background)
        assert (status, error["code"]) == (400, "conversation_locked")
    await talker.says(text("Hello"))
    await talker.ends()
    await ended(proxy, run["id"])
    listed = await conversation(proxy, f"/{talk}/items?order=asc")
    assert [item["content"][0]["text"] for item in listed["data"]] == ["Hi", "Hello"]
    backend.answers(reply(text("Fine")))
    assert (await ended(proxy, (await begun(proxy, conversation=talk))["id"]))["status"] == "completed"


async def test_t79_a_cancelled_run_adds_nothing_and_frees_it_at_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    talker = Talker()
    backend.plays(talker)
    talk = (await conversation(proxy))["id"]
    run = await begun(proxy, conversation=talk)
    await cancelled(proxy, run["id"])
    assert (await conversation(proxy, f"/{talk}/items"))["data"] == []
    backend.answers(reply(text("Fine")))
    assert (await ended(proxy, (await begun(proxy, conversation=talk))["id"]))["status"] == "completed"


async def test_t81_what_is_not_stored_does_not_hold_a_conversation_up(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    talker = Talker()
    backend.plays(talker)
    talk = (await conversation(proxy))["id"]
    run = await begun(proxy, conversation=talk, store=False)
    backend.plays(talker, talker)
    other = await begun(proxy, conversation=talk, store=False)
    for each in (run, other):
        assert (await cancelled(proxy, each["id"]))[1]["status"] == "cancelled"
    assert (await conversation(proxy, f"/{talk}/items"))["data"] == []


async def test_openais_client_begins_polls_cancels_and_deletes(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """T36, T44: with the bodies that it sends, or leaves out."""
    talker = Talker()
    backend.plays(talker)
    async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="k") as client:
        run = await client.responses.create(model="m", input="Hi", background=True)
        assert run.status == "queued"
        await talker.says(text("Hel"))
        assert (await client.responses.retrieve(run.id)).status == "in_progress"
        assert (await client.responses.cancel(run.id)).status == "cancelled"
        assert (await client.responses.retrieve(run.id)).error is None
        await client.responses.delete(run.id)
        with pytest.raises(NotFoundError):
            await client.responses.retrieve(run.id)
